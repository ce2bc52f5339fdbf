package models_test

import (
	"math"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/work"
)

// held ends a run with a score that reaches the share roof of its slot's roofline, and is therefore held for a review.
func (w world) held(t *testing.T, s *models.Store, who accounts.User, ns, roof float64) work.Run {
	t.Helper()
	run := w.Submit(t, s, who)
	attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
	modelstest.Check(t, err)
	_, err = s.Work.RecordResult(t.Context(), modelstest.Result(attempt, ns),
		work.ResultFindings{Score: &work.Score{NS: ns, RooflineShare: &roof,
			HeldReason: "It reaches 140 % of what this unit can do at best."}})
	modelstest.Check(t, err)
	run, err = s.Work.Run(t.Context(), run.ID)
	modelstest.Check(t, err)
	return run
}

func (w world) scores(t *testing.T, s *models.Store) (list []float64, roofs []*float64) {
	t.Helper()
	board, err := s.Boards.Board(t.Context(), w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10})
	modelstest.Check(t, err)
	for _, st := range board.Standings {
		list, roofs = append(list, st.ScoreNS), append(roofs, st.RooflineShare)
	}
	return list, roofs
}

func TestAHeldRunCountsAfterAReview(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		w.Measured(t, s, w.Ann, 100, boards.Interval{})
		run := w.held(t, s, w.Ann, 50, 1.4)
		if list, _ := w.scores(t, s); len(list) != 1 || list[0] != 100 {
			t.Errorf("the board has %v", list)
		}
		list, err := s.ReviewQueue(t.Context(), w.Admin, models.ReviewFilter{Limit: 10})
		modelstest.Check(t, err)
		if len(list) != 1 || list[0].RunID != run.ID || list[0].Flags[0].Kind != review.KindHeld {
			t.Fatalf("to review: %+v", list)
		}
		changes, err := s.DismissFlags(t.Context(), w.Admin, run.ID, "The task asks for less.")
		modelstest.Check(t, err)
		if scores, roofs := w.scores(t, s); len(changes) != 1 || len(scores) != 1 || scores[0] != 50 ||
			roofs[0] == nil || *roofs[0] != 1.4 {
			t.Errorf("after it was dismissed: %v, %v, %+v", scores, roofs, changes)
		}
		modelstest.Check(t, s.Boards.RebuildEntries(t.Context()))
		if scores, roofs := w.scores(t, s); len(scores) != 1 || scores[0] != 50 || *roofs[0] != 1.4 {
			t.Errorf("rebuilt: %v, %v", scores, roofs)
		}
	})
}

func TestAHeldRunCanBeDisqualifiedAndReinstated(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		run := w.held(t, s, w.Ann, 50, 1.4)
		_, err := s.Disqualify(t.Context(), w.Admin, run.ID, "It reads no input.")
		modelstest.Check(t, err)
		if list := queue(t, s, w.Admin); len(list) != 0 {
			t.Errorf("still to review: %+v", list)
		}
		_, err = s.Reinstate(t.Context(), w.Admin, run.ID, "It does.")
		modelstest.Check(t, err)
		if list, _ := w.scores(t, s); len(list) != 1 {
			t.Errorf("the board has %v", list)
		}
	})
}

// TestTheDatabaseTakesNoNumberThatIsNoTime checks that times which are zero, negative, infinite, or too small are not
// stored, no matter who sent them, so that readers of boards need not handle them.
func TestTheDatabaseTakesNoNumberThatIsNoTime(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		for _, v := range []float64{0, 1.1e-308, math.SmallestNonzeroFloat64, -1, math.Inf(1)} {
			run := w.Submit(t, s, w.Ann)
			attempt, err := s.Work.StartAttempt(t.Context(), run.WorkRef())
			modelstest.Check(t, err)
			for name, score := range map[string]work.Score{
				"score":    {NS: v},
				"interval": {NS: 5, Interval: boards.Interval{LowNS: &v, HighNS: &v, Processes: 5}},
				"half":     {NS: 5, Interval: boards.Interval{LowNS: new(1.5), Processes: 5}},
			} {
				if _, err := s.Work.RecordResult(t.Context(), modelstest.Result(attempt, 5),
					work.ResultFindings{Score: &score}); err == nil {
					t.Fatalf("%s of %v was stored", name, v)
				}
			}
			_, err = s.Work.CancelRun(t.Context(), w.Ann, run.ID)
			modelstest.Check(t, err)
		}
		if list, _ := w.scores(t, s); len(list) != 0 {
			t.Errorf("the board has %v", list)
		}
	})
}
