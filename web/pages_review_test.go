package web

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
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
