package models_test

import (
	"testing"

	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestARecordIsUnconfirmedUntilAConfirmationGaveItsScore checks that a record is marked as unconfirmed while its
// confirmation waits, and after a noisy run if no confirmation comes. The board and the records keep the score from
// before the confirmation.
func TestARecordIsUnconfirmedUntilAConfirmationGaveItsScore(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		low, high := 800.0, 1200.0
		w.Measured(t, s, w.Ann, 1000, boards.Interval{LowNS: &low, HighNS: &high, Processes: 9, Noisy: true})
		records := func() []boards.RecordWithHolder {
			return modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx, w.Task.VersionID, "CPU"))
		}
		if r := records()[0]; !r.IsUnconfirmed || r.BeforeConfirmationNS != nil {
			t.Errorf("a noisy record is %+v", r)
		}
		bens := w.Score(t, s, w.Ben, 900)
		if r := records()[1]; !r.IsUnconfirmed {
			t.Errorf("a record that waits is %+v", r)
		}
		for _, r := range modelstest.Got[[]boards.TaskRecord](t)(s.Boards.Records(ctx, boards.RecordFilter{Limit: 5})) {
			if !r.IsUnconfirmed {
				t.Errorf("among the latest it is %+v", r)
			}
		}
		for _, ns := range []float64{1002, 951, 1004, 951} {
			measureTurn(t, s, ns, "gpu0")
		}
		if r := records()[1]; r.IsUnconfirmed || r.BeforeConfirmationNS == nil || *r.BeforeConfirmationNS != 900 ||
			!boards.ChangedByConfirmation(r.BeforeConfirmationNS, r.ScoreNS) {
			t.Errorf("afterwards it is %+v", r)
		}
		if r := records()[0]; r.IsUnconfirmed || boards.ChangedByConfirmation(r.BeforeConfirmationNS, r.ScoreNS) {
			t.Errorf("the record before it is %+v", r)
		}
		run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, bens.ID))
		outcomes, _, err := s.Boards.Outcomes(ctx, run.BoardEntry())
		o := outcomes[run.ID]
		modelstest.Check(t, err)
		board := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		if first := board.Standings[0]; o.Unconfirmed || !o.IsRecord || first.BeforeConfirmationNS == nil || *first.BeforeConfirmationNS != 900 {
			t.Errorf("afterwards the outcome is %+v, the entry %+v", o, first)
		}
	})
}
