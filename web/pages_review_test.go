package web

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/catalog"
)

// TestRunsFlaggedForOneReasonAreDismissedTogether: one sentence that flags many runs is read and answered once.
func TestRunsFlaggedForOneReasonAreDismissedTogether(t *testing.T) {
	s := newScene(t)
	b := s.browserOf(s.admin)
	before := b.page("/review", http.StatusOK).Find("[data-run]").Length()
	entries := b.page("/tasks/"+s.task.Slug+"/boards/H200", http.StatusOK).Find("[data-entry]")
	for i := range 3 {
		kind := []string{"clocks", "clocks", "unconfirmed"}[i]
		_, err := s.site.Store.SQL().ExecContext(t.Context(), fmt.Sprintf("insert into flags (run_id, kind, user_id, detail, created_at) values (%s, '%s', 0, 'for a test', current_timestamp)",
			entries.Eq(i).AttrOr("data-entry", ""), kind))
		if err != nil {
			t.Fatal(err)
		}
	}
	doc := b.page("/review", http.StatusOK)
	checkSound(t, doc)
	wantText(t, doc, "[data-group] h2", "2 runs flagged for the same reason")
	form := fields(doc.Find("form[action='/review/dismiss']"))
	if len(form["run"]) != 2 {
		t.Fatalf("the form dismisses %v", form["run"])
	}
	form.Set("reason", "")
	wantStatus(t, b.post("/review/dismiss", form), http.StatusUnprocessableEntity)
	form.Set("reason", "The machine was loaded.")
	wantStatus(t, s.browserOf(s.ada).post("/review/dismiss", form), http.StatusForbidden)
	left := document(t, b.post("/review/dismiss", form), http.StatusOK)
	if n := left.Find("[data-run]").Length(); n != before+1 {
		t.Errorf("%d runs wait, want %d", n, before+1)
	}
	wantText(t, left, "[role=status]", "")
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
