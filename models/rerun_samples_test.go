package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// rerunAll requests a rerun of the board, ends each rerun with the process times in measured, and applies the order.
// nil means that the run fails; runs that are missing in measured are cancelled.
func (w world) rerunAll(t *testing.T, s *models.Store, measured map[int64][]float64) {
	t.Helper()
	modelstest.Check(t, modelstest.Second(s.BeginRerun(t.Context(), w.Admin, w.Task.ID, "Test 2 was wrong.")))
	for _, run := range reruns(t, s) {
		switch processes, known := measured[*run.ProfileOf]; {
		case !known:
			modelstest.Check(t, modelstest.Second(s.Work.CancelRun(t.Context(), w.Admin, run.ID)))
		case processes == nil:
			measureAgain(t, s, run, 0, "", "Wrong answer in test 2.")
		default:
			w.end(t, s, run, work.ResultFindings{}, processes...)
		}
	}
	modelstest.Check(t, modelstest.Second(s.ApplyRerun(t.Context(), w.Admin, w.Task.ID)))
}

func TestARerunReplacesAllNumbersOfASource(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		expect := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, w.board(t, s)); diff != "" {
				t.Errorf("%s:\n%s", when, diff)
			}
			w.SameAfterRebuild(t, s)
		}
		first := w.measures(t, s, w.Ann, "a;", about(1000)...)
		again := w.measures(t, s, w.Ann, "a;", about(1100)...)
		run, result := w.ranks(t, s, w.Ann, "a;", about(5000)...)
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, run.ID)))
		result.Outcome = job.OutcomeCancelled
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		bens := w.measures(t, s, w.Ben, "b;", about(2000)...)
		also := w.measures(t, s, w.Ben, "b;", about(2000)...)
		w.rerunAll(t, s, map[int64][]float64{first.ID: about(1300), bens.ID: nil})
		expect("two runs and a cancelled one were replaced; what did not pass stands for another",
			"Ann 1300 from 0, run 1 of 5 processes")
		if got := modelstest.Got[work.Run](t)(s.Work.Run(ctx,
			also.ID)); got.DisqualifiedReason != "Rejudged: Wrong answer in test 2." {
			t.Errorf("the other run of the same source: %+v", got)
		}
		w.measures(t, s, w.Ann, "a;", about(1200)...)
		expect("a later run is pooled", "Ann 1249.9 from 2, run 1 of 10 processes")
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, first.SubmissionID, "")))
		expect("one of two with the same numbers is deleted", "Ann 1249.9 from 2, run 2 of 10 processes")
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, again.SubmissionID, "")))
		expect("and the other", "Ann 1249.9 from 2, run 8 of 10 processes")
	})
}

// TestARerunForgetsConfirmationsForAll checks that applying a rerun sets the confirmations of a source aside for all
// people who submitted it, and that the new 1st place is confirmed again.
func TestARerunForgetsConfirmationsForAll(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(900)...)
		w.measureTurns(t, s, about(1000), about(950), about(1000), about(950))
		cleos := w.measures(t, s, modelstest.Person(t, s, "Cleo", accounts.RoleUser), "b;", about(980)...)
		w.rerunAll(t, s, map[int64][]float64{bens.ID: about(940)})
		want := []string{"Ben 940 from 0, run 2 of 5 processes", "Cleo 980 from 0, run 7 of 5 processes",
			"Ann 1000 from 0, run 1 of 10 processes"}
		if diff := cmp.Diff(want, w.board(t, s)); diff != "" || cleos.ID != 7 {
			t.Errorf("the board:\n%s", diff)
		}
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]; c.EndedAt != nil ||
			c.ChallengerID != bens.ID {
			t.Errorf("the last confirmation is %+v", c)
		}
		w.SameAfterRebuild(t, s)
	})
}
