package web

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
)

// flag raises a flag of the site's for an entry of a board, the n-th from the top.
func (s *scene) flag(n int, kind, disturbed string) {
	s.t.Helper()
	entry := s.browserOf(s.admin).page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK).Find("[data-entry]").Eq(n).AttrOr("data-entry", "")
	for _, statement := range []string{
		fmt.Sprintf("insert into flags (run_id, kind, user_id, detail, created_at) values (%s, '%s', 0, 'for a test', current_timestamp)", entry, kind),
		fmt.Sprintf("update runs set disturbed = '%s' where id = %s", disturbed, entry),
	} {
		if _, err := s.site.Store.SQL().ExecContext(s.t.Context(), statement); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestRunsFlaggedForOneReasonAreDecidedTogether: one sentence that flags many runs is read and answered once.
func TestRunsFlaggedForOneReasonAreDecidedTogether(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.admin)
	before := b.page("/review", http.StatusOK).Find("[data-run]").Length()
	for n, kind := range []string{"clocks", "clocks", "unconfirmed", "source", "source"} {
		s.flag(n, kind, "")
	}
	doc := b.page("/review", http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-group=clocks] h2", "Clocks disagree: 2 runs")
	wantText(t, doc, "[data-group=unconfirmed] h2", "Not confirmed: 1 run")
	if n := doc.Find("[data-group=clocks] input[name=run][checked]").Length(); n != 2 {
		t.Errorf("%d runs of one reason are ticked", n)
	}
	if n := doc.Find("[data-group=unconfirmed] input[name=run][checked]").Length(); n != 0 {
		t.Error("a single run is ticked in advance")
	}
	form := fields(doc.Find("[data-group=clocks] form"))
	if len(form["run"]) != 2 {
		t.Fatalf("the form decides about %v", form["run"])
	}
	form.Set("reason", "")
	wantStatus(t, b.post("/review/dismiss", form), http.StatusUnprocessableEntity)
	form.Set("reason", "The machine was loaded.")
	for _, path := range []string{"/review/dismiss", "/review/disqualify"} {
		wantStatus(t, s.browserOf(s.ada).post(path, form), http.StatusForbidden)
	}
	left := document(t, b.post("/review/dismiss", form), http.StatusOK)
	if n := left.Find("[data-run]").Length(); n != before+3 {
		t.Errorf("%d runs wait, want %d", n, before+3)
	}
	cheats := fields(left.Find("[data-group=source] form"))
	nothing := url.Values{"reason": {"It returns a constant."}}
	wantStatus(t, b.post("/review/disqualify", nothing), http.StatusUnprocessableEntity)
	cheats.Set("reason", "It returns a constant.")
	left = document(t, b.post("/review/disqualify", cheats), http.StatusOK)
	if n := left.Find("[data-run]").Length(); n != before+1 {
		t.Errorf("%d runs wait after two were disqualified, want %d", n, before+1)
	}
	for _, run := range cheats["run"] {
		wantText(t, s.browser().page("/runs/"+run+"/moderation", http.StatusOK), "[data-decision=disqualify]", "It returns a constant.")
	}
}

// TestALoadedMachineDoesNotFloodTheReview: runs that were disturbed, and whose clocks alone differ, are listed on request.
func TestALoadedMachineDoesNotFloodTheReview(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.admin)
	before := b.page("/review", http.StatusOK).Find("[data-run]").Length()
	for n := range 3 {
		s.flag(n, "clocks", "a CPU load of 9")
	}
	s.flag(3, "clocks", "")
	doc := b.page("/review", http.StatusOK)
	if n := doc.Find("[data-run]").Length(); n != before+1 {
		t.Errorf("%d runs are listed, want %d", n, before+1)
	}
	wantText(t, doc, "[data-low]", "3 runs of low priority not listed")
	doc = b.page(doc.Find("[data-low] a").AttrOr("href", ""), http.StatusOK)
	checkSound(t, doc)
	if n := doc.Find("[data-run]").Length(); n != 3 {
		t.Errorf("%d runs are of low priority, want 3", n)
	}
	wantText(t, doc, "[data-run]", "Disturbed: a CPU load of 9")
	for address, want := range map[string]int{"/review?priority=all": before + 4, "/review?kind=source": 0, "/review?kind=clocks&priority=all": 4,
		"/review?task=" + s.task.Slug + "&priority=low": 3, "/review?task=another": 0} {
		if n := b.page(address, http.StatusOK).Find("[data-run]").Length(); n != want {
			t.Errorf("%s lists %d runs, want %d", address, n, want)
		}
	}
	form := fields(doc.Find("[data-group=clocks] form"))
	form.Set("reason", "The machine was loaded.")
	left := document(t, b.post("/review/dismiss", form), http.StatusOK)
	if left.Find("select[name=priority] option[selected]").AttrOr("value", "") != "low" || left.Find("[data-run]").Length() != 0 {
		t.Error("the filter is lost after a decision, or a run still waits")
	}
}

func TestTheReviewLooksRight(t *testing.T) {
	s := newScene(t)
	for n, kind := range []string{"clocks", "clocks", "clocks", "unconfirmed", "source", "source"} {
		s.flag(n, kind, map[bool]string{true: "another program used the GPU"}[n == 2 || n == 4])
	}
	w := s.window().as(s.browserOf(s.admin))
	w.open("/review?priority=all")
	w.looksRight("review")
	w.Eval(`document.querySelector("[data-group=clocks] [name=reason]").value = "The machine was loaded."`)
	w.Eval(`document.querySelector("[data-group=clocks] button").click()`)
	w.Shows("[role=status]", "The flags are closed")
	w.Until(`!document.querySelector("[data-group=clocks]")`)
	w.refusedNothing()
}

// TestADeadlineInThePastIsSaid: it closes the task and opens its sources at once.
func TestADeadlineInThePastIsSaid(t *testing.T) {
	s := newScene(t)
	creator := s.signedIn("Carla", accounts.RoleCreator)
	preview := document(t, creator.upload("/tasks/new", "zip", "set.zip", setZip(t, "2020-05-02", asItIs), nil), http.StatusOK)
	wantText(t, preview, "[data-draft=add] .callout-warn", "has passed")

	edit := "/tasks/" + s.task.Slug + "/edit"
	admin := s.browserOf(s.admin)
	form := fields(admin.page(edit, http.StatusOK).Find("form[action='" + edit + "']"))
	form.Set("deadline", "2020-05-02T00:00:00")
	wantText(t, document(t, admin.post(edit, form), http.StatusOK), "[role=status]", "The deadline has passed")
}

// TestAClosedBoardLeadsToItsSources, which everyone may read then, and an open one does not.
func TestAClosedBoardLeadsToItsSources(t *testing.T) {
	s := newScene(t)
	board, link := "/tasks/"+s.task.Slug+"/boards/H200", fmt.Sprintf("#entry-%d a[href='/submissions/%d?tab=source']", s.ada.ID, s.done.SubmissionID)
	if s.browser().page(board, http.StatusOK).Find(link).Length() != 0 {
		t.Error("an open board leads to a source")
	}
	over := s.site.Now().Add(-time.Minute)
	if _, err := s.site.Store.Catalog.UpdateTask(t.Context(), s.admin, s.task.ID, catalog.TaskSettings{Title: s.task.Title, Devices: s.task.Devices, Deadline: &over}); err != nil {
		t.Fatal(err)
	}
	to := s.browser().page(board, http.StatusOK).Find(link)
	if to.Length() != 1 {
		t.Fatal("a closed board has no link to the source")
	}
	wantStatus(t, s.browser().get(to.AttrOr("href", "")), http.StatusOK)
}
