package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
)

// TestARunIsReportedDisqualifiedAndReinstated goes the whole way on pages: a report, the queue, the decision with its
// reason for everyone, the next best run in its place, and back.
func TestARunIsReportedDisqualifiedAndReinstated(t *testing.T) {
	s := newScene(t)
	next := s.submit(s.ada, "H200", goodKernel)
	s.finish(next, 12.5e3)
	ben, admin, visitor := s.browserOf(modelstest.Person(t, s.site.Store, "Ben", accounts.RoleUser)), s.browserOf(s.admin), s.browser()
	run := fmt.Sprintf("/runs/%d", s.done.ID)
	submission := fmt.Sprintf("/submissions/%d", s.done.SubmissionID)
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	act := func(b *browser, act, why string) {
		t.Helper()
		doc := document(t, b.post(run+"/"+act, url.Values{"reason": {why}}), http.StatusOK)
		wantText(t, doc, "[role=status]", "")
	}
	follow := func(b *browser, path, text string) string {
		t.Helper()
		link := b.page(path, http.StatusOK).Find(fmt.Sprintf("a:contains(%q)", text))
		if link.Length() == 0 {
			t.Fatalf("%s has no link %q", path, text)
		}
		return link.First().AttrOr("href", "")
	}
	if to := follow(ben, submission, "Report or review"); to != run+"/moderation" {
		t.Errorf("the run's card leads to %s", to)
	}
	act(ben, "report", "Faster than the memory allows.\nSee <b>line 3</b>.")
	if to := follow(admin, "/", "Admin"); to != "/operate/health" {
		t.Errorf("the head leads admins to %s", to)
	}
	row := fmt.Sprintf("li[data-run='%d']", s.done.ID)
	wantText(t, admin.page("/review", http.StatusOK), row, "Reported by Ben")
	wantText(t, admin.page("/review", http.StatusOK), row, "See <b>line 3</b>.")
	entry := fmt.Sprintf("#entry-%d", s.ada.ID)
	wantText(t, visitor.page(board, http.StatusOK), entry, "11.91 µs")

	act(admin, "disqualify", "Line 3 knows the answers.")
	wantText(t, visitor.page(board, http.StatusOK), entry, "12.50 µs")
	wantText(t, visitor.page(submission, http.StatusOK), "[data-disqualified]", "Line 3 knows the answers.")
	list := visitor.page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK)
	wantText(t, list, fmt.Sprintf("[data-submission='%d']", s.done.SubmissionID), "Disqualified † 11.91 µs Line 3 knows the answers.")
	wantText(t, visitor.page(run+"/moderation", http.StatusOK), "[data-decision=disqualify]", "Disqualified by Grace Hopper")
	if n := admin.page("/review", http.StatusOK).Find(row).Length(); n != 0 {
		t.Error("the queue still holds the run")
	}
	wantText(t, ben.page(run+"/moderation", http.StatusOK), "[data-flag=report]", "Reviewed: disqualified")
	if n := visitor.page(run+"/moderation", http.StatusOK).Find("[data-flag]").Length(); n != 0 {
		t.Error("everyone reads who reported the run")
	}
	wantText(t, admin.page("/audit?q="+url.QueryEscape(fmt.Sprintf("run %d", s.done.ID)), http.StatusOK), "[data-act=disqualify]", "Grace Hopper disqualify")

	act(admin, "reinstate", "Line 3 is a comment.")
	wantText(t, visitor.page(board, http.StatusOK), entry, "11.91 µs")
	wantText(t, visitor.page(submission, http.StatusOK), "[data-reinstated]", "Line 3 is a comment.")
}

// TestEachRoleIsOfferedWhatItMayDo compares the forms of a run's page, before and after a decision, with what the
// addresses behind all four forms answer.
func TestEachRoleIsOfferedWhatItMayDo(t *testing.T) {
	s := newScene(t)
	cora := modelstest.Person(t, s.site.Store, "Cora", accounts.RoleCreator)
	task := modelstest.Task(t, s.site.Store, cora, "coras", "CPU")
	dora := modelstest.Person(t, s.site.Store, "Dora", accounts.RoleCreator)
	acts := []string{"report", "dismiss", "disqualify", "reinstate"}
	for name, c := range map[string]struct {
		who                    *browser
		mayReport              bool // though who may decide is not offered to
		standing, disqualified []string
	}{
		"visitor":        {s.browser(), false, nil, nil},
		"submitter":      {s.browserOf(s.ada), false, nil, nil},
		"someone else":   {s.signedIn("Ben", accounts.RoleUser), true, []string{"report"}, nil},
		"another author": {s.browserOf(dora), true, []string{"report"}, nil},
		"author":         {s.browserOf(cora), true, []string{"dismiss", "disqualify"}, nil},
		"admin":          {s.browserOf(s.admin), true, []string{"dismiss", "disqualify"}, []string{"reinstate"}},
	} {
		t.Run(name, func(t *testing.T) {
			run := modelstest.Submit(t, s.site.Store, s.ada, task)[0]
			modelstest.Finish(t, s.site.Store, run, 50e3)
			other := modelstest.Person(t, s.site.Store, "other"+name, accounts.RoleUser)
			for range 2 { // one to be dismissed, one for after that
				if err := s.site.Store.Report(t.Context(), other, run.ID, "look"); err != nil && db.KindOf(err) != db.Conflict {
					t.Fatal(err)
				}
			}
			path := fmt.Sprintf("/runs/%d/", run.ID)
			offered := func() (list []string) {
				for _, form := range c.who.page(path+"moderation", http.StatusOK).Find("main form[method=post]").EachIter() {
					// A board's first run has its author's note, too.
					if act := strings.TrimPrefix(form.AttrOr("action", ""), path); act != "note" {
						list = append(list, act)
					}
				}
				slices.SortFunc(list, func(a, b string) int { return slices.Index(acts, a) - slices.Index(acts, b) })
				return list
			}
			if diff := cmp.Diff(c.standing, offered()); diff != "" {
				t.Errorf("of a run that stands:\n%s", diff)
			}
			for _, act := range []string{"report", "dismiss"} {
				may := slices.Contains(c.standing, act) || act == "report" && c.mayReport
				if resp := c.who.post(path+act, url.Values{"reason": {"a reason"}}); (resp.StatusCode == http.StatusOK) != may {
					t.Errorf("%s answered %s", act, resp.Status)
				}
			}
			if _, err := s.site.Store.Disqualify(t.Context(), s.admin, run.ID, "An admin says so."); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.disqualified, offered()); diff != "" {
				t.Errorf("of a disqualified run:\n%s", diff)
			}
			if resp := c.who.post(path+"reinstate", url.Values{"reason": {"a reason"}}); (resp.StatusCode == http.StatusOK) != (c.disqualified != nil) {
				t.Errorf("reinstate answered %s", resp.Status)
			}
		})
	}
}

func TestARefusedReasonComesBackWithWhatWasTyped(t *testing.T) {
	s := newScene(t)
	ben := s.signedIn("Ben", accounts.RoleUser)
	long := strings.Repeat("x", 1001)
	doc := document(t, ben.post(fmt.Sprintf("/runs/%d/report", s.done.ID), url.Values{"reason": {long}}), http.StatusUnprocessableEntity)
	wantText(t, doc, "section[aria-labelledby=report] [role=alert]", "at most 1000")
	if got := doc.Find("#report-reason").Text(); got != long {
		t.Errorf("the form holds %d characters", len(got))
	}
}

func TestPagesOfModerationAreForAdmins(t *testing.T) {
	s := newScene(t)
	for _, path := range []string{"/review", "/people", "/audit", "/clocks"} {
		wantStatus(t, s.browserOf(s.ada).get(path), http.StatusForbidden)
		if resp := s.browser().get(path); resp.Request.URL.Path != "/sign-in" {
			t.Errorf("a visitor of %s ends at %s", path, resp.Request.URL)
		}
		doc := s.browserOf(s.admin).page(path, http.StatusOK)
		for _, tab := range []string{"/review", "/people", "/audit", "/clocks"} {
			if doc.Find(fmt.Sprintf("nav[aria-label=Administration] a[href=%q]", tab)).Length() != 1 {
				t.Errorf("%s does not lead to %s", path, tab)
			}
		}
	}
	people := s.browserOf(s.admin).page("/people?q=lovelace", http.StatusOK)
	if rows := people.Find("[data-person]"); rows.Length() != 1 || !strings.HasPrefix(words(rows), "Ada Lovelace user") {
		t.Errorf("the search finds %q", words(rows))
	}
	first := s.browserOf(s.admin).page("/people", http.StatusOK)
	if next := first.Find("a[rel=next]").AttrOr("href", ""); first.Find("[data-person]").Length() != 50 ||
		s.browserOf(s.admin).page(next, http.StatusOK).Find("[data-person]").Length() == 0 {
		t.Errorf("the first page of people leads to %q", next)
	}
}

func TestPeopleRenameThemselvesAndAdminsAnybody(t *testing.T) {
	s := newScene(t)
	ada, admin := s.browserOf(s.ada), s.browserOf(s.admin)
	name := func(b *browser, name string) *http.Response {
		return b.post(fmt.Sprintf("/users/%d/name", s.ada.ID), url.Values{"name": {name}})
	}
	wantText(t, ada.page("/me", http.StatusOK), "form[action$='/name'] label", "Name on boards")
	wantText(t, document(t, name(ada, "Ada King"), http.StatusOK), "h1", "Ada King")
	board := "/tasks/" + s.task.Slug + "/boards/H200"
	wantText(t, s.browser().page(board, http.StatusOK), fmt.Sprintf("#entry-%d", s.ada.ID), "Ada King")
	wantStatus(t, name(ada, "Ken Thompson"), http.StatusConflict)
	wantStatus(t, name(s.signedIn("Ben", accounts.RoleUser), "Fool"), http.StatusForbidden)
	wantText(t, admin.page(fmt.Sprintf("/users/%d", s.ada.ID), http.StatusOK), "#manage", "For admins")
	wantText(t, document(t, name(admin, "Countess"), http.StatusOK), "h1", "Countess")
}

func TestASubmissionIsDeletedFromItsPage(t *testing.T) {
	s := newScene(t)
	path := fmt.Sprintf("/submissions/%d", s.done.SubmissionID)
	for _, b := range []*browser{s.browser(), s.signedIn("Ben", accounts.RoleUser)} {
		if n := b.page(path, http.StatusOK).Find("#delete").Length(); n != 0 {
			t.Error("a stranger is offered to delete it")
		}
		if resp := b.post(path+"/delete", nil); resp.StatusCode == http.StatusOK {
			t.Errorf("a stranger's delete answered %s", resp.Status)
		}
	}
	wantStatus(t, s.browserOf(s.admin).post(path+"/delete", nil), http.StatusUnprocessableEntity) // without a reason
	ada := s.browserOf(s.ada)
	wantText(t, ada.page(path, http.StatusOK), "#delete button", "Delete submission")
	wantText(t, document(t, ada.post(path+"/delete", nil), http.StatusOK), "[role=status]", "Deleted, with the submission's runs.")
	wantStatus(t, ada.get(path), http.StatusNotFound)
	wantText(t, s.browserOf(s.admin).page("/audit", http.StatusOK), "[data-act='delete submission']", "Ada Lovelace")
}

func TestFormsOfModerationNeedTheirToken(t *testing.T) {
	s := newScene(t)
	admin := s.browserOf(s.admin)
	for _, path := range []string{fmt.Sprintf("/runs/%d/report", s.done.ID), fmt.Sprintf("/runs/%d/dismiss", s.done.ID), fmt.Sprintf("/runs/%d/disqualify", s.done.ID),
		fmt.Sprintf("/runs/%d/reinstate", s.done.ID), fmt.Sprintf("/submissions/%d/delete", s.done.SubmissionID), fmt.Sprintf("/users/%d/name", s.ada.ID)} {
		wantStatus(t, admin.post(path, url.Values{"_csrf": {"forged"}, "reason": {"x"}, "name": {"x"}}), http.StatusForbidden)
	}
}

// How a record was made is told to others after the deadline: until then its person alone reads the note.
func TestANoteOnARecordIsReadAfterTheDeadline(t *testing.T) {
	s := newScene(t)
	s.finish(s.queued, 9.87e3)
	ada, visitor := s.browserOf(s.ada), s.browser()
	board, review := "/tasks/"+s.task.Slug+"/boards/H200", fmt.Sprintf("/runs/%d/moderation", s.queued.ID)
	act, note := fmt.Sprintf("/runs/%d/note", s.queued.ID), `<b>Tiles</b> & "registers".`
	if to := ada.page(board, http.StatusOK).Find(`#history-live a[href$="#note"]`).AttrOr("href", ""); to != review+"#note" {
		t.Errorf("the board leads ada to her note at %q", to)
	}
	wantStatus(t, visitor.post(act, url.Values{"reason": {note}}), http.StatusUnauthorized)
	refused := document(t, ada.post(act, url.Values{"reason": {strings.Repeat("a", 281)}}), http.StatusUnprocessableEntity)
	wantText(t, refused, "[aria-labelledby=note] [role=alert]", "at most 280")
	checkSound(t, document(t, ada.post(act, url.Values{"reason": {note}}), http.StatusOK))
	wantText(t, ada.page(review, http.StatusOK), "blockquote[data-note]", note)
	for _, page := range []string{board, review} {
		if visitor.page(page, http.StatusOK).Find("[data-note]").Length() > 0 {
			t.Errorf("%s shows the note before the deadline", page)
		}
	}
	past := time.Now().Add(-time.Second)
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Deadline: &past}); err != nil {
		t.Fatal(err)
	}
	doc := visitor.page(board, http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "#history-live [data-note]", note)
	admin := s.browserOf(s.admin)
	if admin.page(review, http.StatusOK).Find("[aria-labelledby=note] textarea").Length() > 0 {
		t.Error("an admin may write in ada's name")
	}
	checkSound(t, document(t, admin.post(act, url.Values{"reason": {""}}), http.StatusOK))
	if visitor.page(board, http.StatusOK).Find("[data-note]").Length() > 0 {
		t.Error("a note that an admin removed is still there")
	}
}
