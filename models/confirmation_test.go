package models_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
)

// confirming is a store that measures again who comes first.
func confirming(t *testing.T, fn func(t *testing.T, s *models.Store, w world)) {
	modelstest.EachConfig(t, models.Config{Confirm: true, Limits: models.Limits{Waiting: 1}}, func(t *testing.T, s *models.Store) {
		fn(t, s, newWorld(t, s))
	})
}

// leg is the one unit of work that waits, as a run.
func leg(t *testing.T, s *models.Store) models.Run {
	t.Helper()
	work := got[[]models.QueuedWork](t)(s.Queue(t.Context()))
	if len(work) != 1 || work[0].Priority != models.PriorityFollowUp {
		t.Fatalf("in the queue is %+v, want one leg that gives way to people's work", work)
	}
	return got[models.Run](t)(s.Run(t.Context(), work[0].RunID))
}

// measureLeg ends the leg that waits on a unit, and returns the run that it measured again.
func measureLeg(t *testing.T, s *models.Store, ns float64, unit string) int64 {
	t.Helper()
	run := leg(t, s)
	attempt := got[models.Attempt](t)(s.StartAttempt(t.Context(), run.Ref()))
	result := modelstest.Result(attempt, ns)
	result.Machine.UUIDHash = unit
	low, high := ns*0.999, ns*1.001
	score := models.Score{NS: ns, Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}}
	check(t, second(s.RecordResult(t.Context(), result, models.Findings{Score: &score})))
	return *run.ProfileOf
}

func TestWhoComesFirstIsMeasuredAgainInTurnsWithTheNext(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		anns := w.score(t, s, w.ann, 1000)
		if work := got[[]models.QueuedWork](t)(s.Queue(ctx)); len(work) != 0 {
			t.Fatalf("nobody is behind the first, and %+v waits", work)
		}
		bens := w.score(t, s, w.ben, 900) // lucky
		board := got[models.BoardPage](t)(s.Board(ctx, w.task.VersionID, "CPU", 0, 10))
		if board.Confirming != bens.ID || board.Standings[0].UserName != "Ben" {
			t.Errorf("the board says that %d waits for its confirmation: %+v", board.Confirming, board.Standings)
		}
		if runs := got[[]models.Run](t)(s.Runs(ctx, bens.SubmissionID)); len(runs) != 1 {
			t.Errorf("the submission lists %d runs", len(runs))
		}
		for _, user := range []models.User{w.ann, w.ben} { // whoever was lucky would rather not be measured again
			wantKind(t, third(s.CancelRun(ctx, user, leg(t, s).ID)), models.Forbidden)
		}
		w.submit(t, s, w.ann) // though a leg of hers waits, and one waiting run is the most
		check(t, third(s.CancelRun(ctx, w.ann, got[[]models.SubmissionSummary](t)(s.Submissions(ctx, w.ann, models.SubmissionFilter{UserID: w.ann.ID}))[0].Runs[0].ID)))
		var turns []int64
		for _, ns := range []float64{1002, 1001, 1004, 1003} {
			turns = append(turns, measureLeg(t, s, ns, "gpu0"))
		}
		if diff := cmp.Diff([]int64{anns.ID, bens.ID, anns.ID, bens.ID}, turns); diff != "" {
			t.Errorf("measured in turns:\n%s", diff)
		}
		c := got[models.Confirmation](t)(s.ConfirmationOf(ctx, anns.ID))
		if c.ChallengerID != bens.ID || c.ChallengerWas != 900 || c.HolderWas != 1000 || !c.OneUnit || c.EndedAt == nil ||
			fmt.Sprintf("%.1f %.1f", *c.ChallengerNS, *c.HolderNS) != "1002.0 1003.0" {
			t.Errorf("the confirmation keeps %+v", c)
		}
		board = got[models.BoardPage](t)(s.Board(ctx, w.task.VersionID, "CPU", 0, 10))
		first := board.Standings[0]
		if board.Confirming != 0 || !first.Tied || first.RunID != bens.ID || first.Processes != 10 || *first.LowNS >= 1001 || *first.HighNS <= 1003 {
			t.Errorf("afterwards the board says %d, %+v", board.Confirming, first)
		}
		if work := got[[]models.QueuedWork](t)(s.Queue(ctx)); len(work) != 0 {
			t.Errorf("afterwards %+v waits", work)
		}
		sameAfterRebuild(t, s, w)
	})
}

func TestLegsThatRanOnOtherUnitsAreRepeated(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.score(t, s, w.ann, 1000)
		bens := w.score(t, s, w.ben, 900)
		for i, unit := range []string{"gpu0", "gpu1", "gpu0", "gpu0", "gpu1", "gpu0"} {
			measureLeg(t, s, []float64{1000, 950}[i%2]+float64(i), unit)
		}
		c := got[models.Confirmation](t)(s.ConfirmationOf(t.Context(), bens.ID))
		if !c.OneUnit || c.EndedAt == nil || fmt.Sprintf("%.1f %.1f", *c.ChallengerNS, *c.HolderNS) != "954.0 1001.0" {
			t.Errorf("of six legs on two units count %+v", c)
		}
	})
}

func TestALegThatFailsEndsTheConfirmationAndAccusesNobody(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		w.score(t, s, w.ann, 1000)
		bens := w.score(t, s, w.ben, 900)
		measureLeg(t, s, 1000, "gpu0")
		attempt := got[models.Attempt](t)(s.StartAttempt(ctx, leg(t, s).Ref()))
		check(t, second(s.RecordResult(ctx, job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, Secret: attempt.Secret,
			Outcome: job.OutcomeFailed, Failure: &job.Failure{Reason: "case 0 gave a wrong answer"}}, models.Findings{})))
		board := got[models.BoardPage](t)(s.Board(ctx, w.task.VersionID, "CPU", 0, 10))
		if board.Confirming != 0 || board.Standings[0].ScoreNS != 900 {
			t.Errorf("the board says %d, %+v", board.Confirming, board.Standings)
		}
		flags := got[[]models.FlagOf](t)(s.Flags(ctx, w.admin, bens, w.task))
		if len(flags) != 1 || flags[0].Kind != models.FlagUnconfirmed {
			t.Errorf("flags: %+v", flags)
		}
		if work := got[[]models.QueuedWork](t)(s.Queue(ctx)); len(work) != 0 {
			t.Errorf("it begins again: %+v", work)
		}
	})
}

func TestADeletedSideEndsItsConfirmation(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		anns := w.score(t, s, w.ann, 1000)
		w.score(t, s, w.ben, 900)
		leg(t, s)
		check(t, second(s.DeleteSubmission(ctx, w.ann, anns.SubmissionID, "")))
		board := got[models.BoardPage](t)(s.Board(ctx, w.task.VersionID, "CPU", 0, 10))
		if work := got[[]models.QueuedWork](t)(s.Queue(ctx)); board.Confirming != 0 || len(work) != 0 {
			t.Errorf("%d waits for its confirmation, and in the queue is %+v", board.Confirming, work)
		}
	})
}
