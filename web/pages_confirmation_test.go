package web

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models"
	"warpboard/models/modelstest"
)

// TestAConfirmationIsShownOnBoardAndCards: who comes first waits for it, and afterwards both cards have both numbers.
func TestAConfirmationIsShownOnBoardAndCards(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), Confirm: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := startSiteAt(t, "127.0.0.1:0", store)
	boss := modelstest.Person(t, store, "Root", models.RoleAdmin)
	task := modelstest.Task(t, store, boss, "first", "CPU")
	finish := func(name string, ns float64) models.Run {
		run := modelstest.Submit(t, store, modelstest.Person(t, store, name, models.RoleUser), task)[0]
		modelstest.Finish(t, store, run, ns)
		return run
	}
	anns, bens := finish("Ann", 50_000), finish("Ben", 40_000)
	b, board := s.browser(), "/tasks/first/boards/CPU"
	card := func(run models.Run) string { return fmt.Sprintf("/submissions/%d", run.SubmissionID) }
	wantText(t, b.page(board, http.StatusOK), "#board tbody tr:first-child", "Ben waits for confirmation")
	wantText(t, b.page(card(bens), http.StatusOK), "[data-confirmation]", "This run came first")
	wantText(t, b.page(card(anns), http.StatusOK), "[data-confirmation]", "came first; the two are measured again")
	answer, err := s.api(models.User{}).Board(t.Context(), "first", "CPU", 1)
	if err != nil || !answer.Entries[0].Confirming || answer.Entries[1].Confirming {
		t.Errorf("the API says %+v, %v", answer.Entries, err)
	}
	for _, ns := range []float64{50_000, 45_000, 50_000, 45_000} {
		work, err := store.Queue(t.Context())
		if err != nil || len(work) != 1 {
			t.Fatalf("%+v waits: %v", work, err)
		}
		leg, err := store.Run(t.Context(), work[0].RunID)
		if err != nil {
			t.Fatal(err)
		}
		modelstest.Finish(t, store, leg, ns)
	}
	doc := b.page(board, http.StatusOK)
	wantText(t, doc, "#board tbody tr:first-child", "Ben 45.00 µs")
	if doc.Find("#board a.tag").Length() != 0 {
		t.Error("somebody still waits for confirmation")
	}
	wantText(t, b.page(card(bens), http.StatusOK), "[data-confirmation]", "confirmed The score comes from measuring this source again on one unit, in turns with another, and from its earlier confirmations if there were any; it was 40.00 µs before.")
	wantText(t, b.page(card(anns), http.StatusOK), "[data-confirmation]", "went from 40.00 µs to 45.00 µs.")
}
