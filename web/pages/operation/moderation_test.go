package operation_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestARunIsReportedDisqualifiedAndReinstated checks on the pages that a reported run is in the review queue, that
// everyone sees the reason of its disqualification, that the person's next best run takes its place, and that
// reinstating reverses this.
func TestARunIsReportedDisqualifiedAndReinstated(t *testing.T) {
	s := webtest.NewScene(t)
	next := s.Submit(s.Ada, "H200", webtest.GoodKernel)
	s.Finish(next, 12.5e3)
	ben, admin, visitor := s.BrowserOf(modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser)),
		s.BrowserOf(s.Admin), s.Browser()
	run := fmt.Sprintf("/runs/%d", s.Done.ID)
	submission := fmt.Sprintf("/submissions/%d", s.Done.SubmissionID)
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	act := func(b *webtest.Browser, act, why string) {
		t.Helper()
		doc := webtest.Document(t, b.Post(run+"/"+act, url.Values{"reason": {why}}), http.StatusOK)
		webtest.WantText(t, doc, "[role=status]", "")
	}
	follow := func(b *webtest.Browser, path, text string) string {
		t.Helper()
		link := b.Page(path, http.StatusOK).Find(fmt.Sprintf("a:contains(%q)", text))
		if link.Length() == 0 {
			t.Fatalf("%s has no link %q", path, text)
		}
		return link.First().AttrOr("href", "")
	}
	if to := follow(ben, submission, "Report or review"); to != run+"/moderation" {
		t.Errorf("the run's card leads to %s", to)
	}
	own := func() *goquery.Selection {
		return s.BrowserOf(s.Ada).Page(submission,
			http.StatusOK).Find(fmt.Sprintf("#run-%d .card-head a[href='%s/moderation']", s.Done.ID, run))
	}
	if link := own(); link.Length() > 0 {
		t.Errorf("the run's owner, who can do nothing there, is led to %q", webtest.Words(link))
	}
	act(ben, "report", "Faster than the memory allows.\nSee <b>line 3</b>.")
	if to := follow(admin, "/", "Admin"); to != "/operate/health" {
		t.Errorf("the head leads admins to %s", to)
	}
	row := fmt.Sprintf("li[data-run='%d']", s.Done.ID)
	webtest.WantText(t, admin.Page("/review", http.StatusOK), row, "Reported by Ben")
	webtest.WantText(t, admin.Page("/review", http.StatusOK), row, "See <b>line 3</b>.")
	entry := fmt.Sprintf("#entry-%d", s.Ada.ID)
	webtest.WantText(t, visitor.Page(board, http.StatusOK), entry, "11.91 µs")

	act(admin, "disqualify", "Line 3 knows the answers.")
	if name := webtest.Words(own()); name != "Decisions" {
		t.Errorf("the owner of a disqualified run is led to %q", name)
	}
	webtest.WantText(t, visitor.Page(board, http.StatusOK), entry, "12.50 µs")
	webtest.WantText(t, visitor.Page(submission, http.StatusOK), "[data-disqualified]", "Line 3 knows the answers.")
	list := visitor.Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK)
	webtest.WantText(t, list, fmt.Sprintf("[data-submission='%d']", s.Done.SubmissionID),
		"Disqualified † 11.91 µs Line 3 knows the answers.")
	webtest.WantText(t, visitor.Page(run+"/moderation", http.StatusOK), "[data-decision=disqualify]",
		"Disqualified by Grace Hopper")
	if n := admin.Page("/review", http.StatusOK).Find(row).Length(); n != 0 {
		t.Error("the queue still holds the run")
	}
	webtest.WantText(t, ben.Page(run+"/moderation", http.StatusOK), "[data-flag=report]", "Reviewed: disqualified")
	if n := visitor.Page(run+"/moderation", http.StatusOK).Find("[data-flag]").Length(); n != 0 {
		t.Error("everyone reads who reported the run")
	}
	webtest.WantText(t, admin.Page("/audit?q="+url.QueryEscape(fmt.Sprintf("#%d", s.Done.SubmissionID)), http.StatusOK),
		"[data-act=disqualify]", fmt.Sprintf("Grace Hopper disqualify: #%d on ", s.Done.SubmissionID))

	act(admin, "reinstate", "Line 3 is a comment.")
	webtest.WantText(t, visitor.Page(board, http.StatusOK), entry, "11.91 µs")
	webtest.WantText(t, visitor.Page(submission, http.StatusOK), "[data-reinstated]", "Line 3 is a comment.")
}

// TestEachRoleIsOfferedWhatItMayDo compares the forms that a run's page offers to each role, before and after a
// disqualification, with the requests that the site accepts from that role.
func TestEachRoleIsOfferedWhatItMayDo(t *testing.T) {
	s := webtest.NewScene(t)
	cora := modelstest.Person(t, s.Cfg.Store, "Cora", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, cora, "coras", "CPU")
	dora := modelstest.Person(t, s.Cfg.Store, "Dora", accounts.RoleCreator)
	acts := []string{"report", "dismiss", "disqualify", "reinstate"}
	for name, c := range map[string]struct {
		who                    *webtest.Browser
		mayReport              bool // reviewers may report, too, but the page does not offer it
		standing, disqualified []string
	}{
		"visitor":        {s.Browser(), false, nil, nil},
		"submitter":      {s.BrowserOf(s.Ada), false, nil, nil},
		"someone else":   {s.SignedIn("Ben", accounts.RoleUser), true, []string{"report"}, nil},
		"another author": {s.BrowserOf(dora), true, []string{"report"}, nil},
		"author":         {s.BrowserOf(cora), true, []string{"dismiss", "disqualify"}, nil},
		"admin":          {s.BrowserOf(s.Admin), true, []string{"dismiss", "disqualify"}, []string{"reinstate"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := modelstest.Submit(t, s.Cfg.Store, s.Ada, task)[0]
			modelstest.Finish(t, s.Cfg.Store, run, 50e3)
			other := modelstest.Person(t, s.Cfg.Store, "other"+name, accounts.RoleUser)
			for range 2 { // one report to dismiss, and one for the decisions after that
				if err := s.Cfg.Store.ReportRun(t.Context(), other, run.ID, "look"); err != nil &&
					db.KindOf(err) != db.Conflict {
					t.Fatal(err)
				}
			}
			path := fmt.Sprintf("/runs/%d/", run.ID)
			offered := func() (list []string) {
				// formaction omits the form for the owner's note, which the page of a record also has.
				for _, button := range c.who.Page(path+"moderation",
					http.StatusOK).Find("main form[method=post] button[formaction]").EachIter() {
					list = append(list, strings.TrimPrefix(button.AttrOr("formaction", ""), path))
				}
				slices.SortFunc(list, func(a, b string) int { return slices.Index(acts, a) - slices.Index(acts, b) })
				return list
			}
			if diff := cmp.Diff(c.standing, offered()); diff != "" {
				t.Errorf("of a run that stands:\n%s", diff)
			}
			for _, act := range []string{"report", "dismiss"} {
				may := slices.Contains(c.standing, act) || act == "report" && c.mayReport
				if resp := c.who.Post(path+act,
					url.Values{"reason": {"a reason"}}); (resp.StatusCode == http.StatusOK) != may {
					t.Errorf("%s answered %s", act, resp.Status)
				}
			}
			if _, err := s.Cfg.Store.Disqualify(t.Context(), s.Admin, run.ID, "An admin says so."); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.disqualified, offered()); diff != "" {
				t.Errorf("of a disqualified run:\n%s", diff)
			}
			if resp := c.who.Post(path+"reinstate",
				url.Values{"reason": {"a reason"}}); (resp.StatusCode == http.StatusOK) != (c.disqualified != nil) {
				t.Errorf("reinstate answered %s", resp.Status)
			}
		})
	}
}

func TestARefusedReasonComesBackWithWhatWasTyped(t *testing.T) {
	s := webtest.NewScene(t)
	ben := s.SignedIn("Ben", accounts.RoleUser)
	long := strings.Repeat("x", 1001)
	doc := webtest.Document(t, ben.Post(fmt.Sprintf("/runs/%d/report", s.Done.ID), url.Values{"reason": {long}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, doc, "section[aria-labelledby=report] [role=alert]", "at most 1000")
	if got := doc.Find("#report-reason").Text(); got != long {
		t.Errorf("the form holds %d characters", len(got))
	}
}

func TestPagesOfModerationAreForAdmins(t *testing.T) {
	s := webtest.NewScene(t)
	for _, path := range []string{"/review", "/people", "/audit"} {
		webtest.WantStatus(t, s.BrowserOf(s.Ada).Get(path), http.StatusForbidden)
		if resp := s.Browser().Get(path); resp.Request.URL.Path != "/sign-in" {
			t.Errorf("a visitor of %s ends at %s", path, resp.Request.URL)
		}
		doc := s.BrowserOf(s.Admin).Page(path, http.StatusOK)
		for _, tab := range []string{"/review", "/people", "/audit"} {
			if doc.Find(fmt.Sprintf("nav[aria-label=Admin] a[href=%q]", tab)).Length() != 1 {
				t.Errorf("%s does not lead to %s", path, tab)
			}
		}
	}
	people := s.BrowserOf(s.Admin).Page("/people?q=lovelace", http.StatusOK)
	if rows := people.Find("[data-person]"); rows.Length() != 1 ||
		!strings.HasPrefix(webtest.Words(rows), "Ada Lovelace user") {
		t.Errorf("the search finds %q", webtest.Words(rows))
	}
	first := s.BrowserOf(s.Admin).Page("/people", http.StatusOK)
	if next := first.Find("a[rel=next]").AttrOr("href", ""); first.Find("[data-person]").Length() != 50 ||
		s.BrowserOf(s.Admin).Page(next, http.StatusOK).Find("[data-person]").Length() == 0 {
		t.Errorf("the first page of people leads to %q", next)
	}
}

func TestPeopleRenameThemselvesAndAdminsAnyone(t *testing.T) {
	s := webtest.NewScene(t)
	ada, admin := s.BrowserOf(s.Ada), s.BrowserOf(s.Admin)
	name := func(b *webtest.Browser, name string) *http.Response {
		return b.Post(fmt.Sprintf("/users/%d/name", s.Ada.ID), url.Values{"name": {name}})
	}
	webtest.WantText(t, ada.Page("/me", http.StatusOK), "form[action$='/name'] label", "Name on boards")
	webtest.WantText(t, webtest.Document(t, name(ada, "Ada King"), http.StatusOK), "header summary", "Ada King")
	board := "/tasks/" + s.Task.Slug + "/boards/H200"
	webtest.WantText(t, s.Browser().Page(board, http.StatusOK), fmt.Sprintf("#entry-%d", s.Ada.ID), "Ada King")
	webtest.WantStatus(t, name(ada, "Ken Thompson"), http.StatusConflict)
	webtest.WantStatus(t, name(s.SignedIn("Ben", accounts.RoleUser), "Fool"), http.StatusForbidden)
	webtest.WantText(t, admin.Page(fmt.Sprintf("/users/%d", s.Ada.ID), http.StatusOK), "#manage", "For admins")
	webtest.WantText(t, webtest.Document(t, name(admin, "Countess"), http.StatusOK), "h1", "Countess")
}

func TestASubmissionIsDeletedFromItsPage(t *testing.T) {
	s := webtest.NewScene(t)
	path := fmt.Sprintf("/submissions/%d", s.Done.SubmissionID)
	for _, b := range []*webtest.Browser{s.Browser(), s.SignedIn("Ben", accounts.RoleUser)} {
		if n := b.Page(path, http.StatusOK).Find("#delete").Length(); n != 0 {
			t.Error("a stranger is offered to delete it")
		}
		if resp := b.Post(path+"/delete", nil); resp.StatusCode == http.StatusOK {
			t.Errorf("a stranger's delete answered %s", resp.Status)
		}
	}
	// Without a reason, an admin's deletion is refused.
	webtest.WantStatus(t, s.BrowserOf(s.Admin).Post(path+"/delete", nil), http.StatusUnprocessableEntity)
	ada := s.BrowserOf(s.Ada)
	webtest.WantText(t, ada.Page(path, http.StatusOK), "#delete button", "Delete submission")
	webtest.WantText(t, webtest.Document(t, ada.Post(path+"/delete", nil), http.StatusOK), "[role=status]",
		"Deleted, with the submission's runs.")
	webtest.WantStatus(t, ada.Get(path), http.StatusNotFound)
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/audit", http.StatusOK), "[data-act='delete submission']",
		"Ada Lovelace")
}

func TestFormsOfModerationNeedTheirToken(t *testing.T) {
	s := webtest.NewScene(t)
	admin := s.BrowserOf(s.Admin)
	for _, path := range []string{fmt.Sprintf("/runs/%d/report", s.Done.ID), fmt.Sprintf("/runs/%d/dismiss", s.Done.ID),
		fmt.Sprintf("/runs/%d/disqualify", s.Done.ID),
		fmt.Sprintf("/runs/%d/reinstate", s.Done.ID), fmt.Sprintf("/submissions/%d/delete", s.Done.SubmissionID),
		fmt.Sprintf("/users/%d/name", s.Ada.ID)} {
		webtest.WantStatus(t, admin.Post(path, url.Values{"_csrf": {"forged"}, "reason": {"x"}, "name": {"x"}}),
			http.StatusForbidden)
	}
}

// TestANoteOnARecordIsReadAfterTheDeadline checks that a person's note about their record is visible only to them until
// the deadline, and to everyone after it.
func TestANoteOnARecordIsReadAfterTheDeadline(t *testing.T) {
	s := webtest.NewScene(t)
	s.Finish(s.Queued, 9.87e3)
	ada, visitor := s.BrowserOf(s.Ada), s.Browser()
	board, review := "/tasks/"+s.Task.Slug+"/boards/H200", fmt.Sprintf("/runs/%d/moderation", s.Queued.ID)
	act, note := fmt.Sprintf("/runs/%d/note", s.Queued.ID), `<b>Tiles</b> & "registers".`
	if to := ada.Page(board, http.StatusOK).Find(`#history-live a[href$="#note"]`).AttrOr("href", ""); to != review+
		"#note" {
		t.Errorf("the board leads ada to her note at %q", to)
	}
	webtest.WantStatus(t, visitor.Post(act, url.Values{"reason": {note}}), http.StatusUnauthorized)
	refused := webtest.Document(t, ada.Post(act, url.Values{"reason": {strings.Repeat("a", 281)}}),
		http.StatusUnprocessableEntity)
	webtest.WantText(t, refused, "[aria-labelledby=note] [role=alert]", "at most 280")
	webtest.CheckSound(t, webtest.Document(t, ada.Post(act, url.Values{"reason": {note}}), http.StatusOK))
	webtest.WantText(t, ada.Page(review, http.StatusOK), "blockquote[data-note]", note)
	for _, page := range []string{board, review} {
		if visitor.Page(page, http.StatusOK).Find("[data-note]").Length() > 0 {
			t.Errorf("%s shows the note before the deadline", page)
		}
	}
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	doc := visitor.Page(board, http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "#history-live [data-note]", note)
	admin := s.BrowserOf(s.Admin)
	if admin.Page(review, http.StatusOK).Find("[aria-labelledby=note] textarea").Length() > 0 {
		t.Error("an admin may write in ada's name")
	}
	webtest.CheckSound(t, webtest.Document(t, admin.Post(act, url.Values{"reason": {""}}), http.StatusOK))
	if visitor.Page(board, http.StatusOK).Find("[data-note]").Length() > 0 {
		t.Error("a note that an admin removed is still there")
	}
}

// TestReviewsLeadToSourcesThatTheReaderMayRead checks that the author of a task, who reviews its runs, has links to
// their sources only after the deadline.
func TestReviewsLeadToSourcesThatTheReaderMayRead(t *testing.T) {
	s := webtest.NewScene(t)
	author := modelstest.Person(t, s.Cfg.Store, "Carla", accounts.RoleCreator)
	s.SQL("update tasks set owner_id = $1 where id = $2", author.ID, s.Task.ID)
	s.Flag(0, "report", "")
	board := s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug+"/boards/H200", http.StatusOK)
	run := "/runs/" + board.Find("[data-entry]").First().AttrOr("data-entry", "") + "/moderation"
	want := func(who accounts.User, links int) {
		t.Helper()
		for _, path := range []string{"/review", run} {
			if n := s.BrowserOf(who).Page(path,
				http.StatusOK).Find("main a[href$='?tab=source']").Length(); n != links {
				t.Errorf("%s leads %s to %d sources, want %d", path, who.Name, n, links)
			}
		}
	}
	want(s.Admin, 1)
	want(author, 0)
	modelstest.Close(t, s.Cfg.Store, s.Admin, s.Task)
	want(author, 1)
}
