package models_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/review"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// confirming runs a test on a store that confirms 1st places, with each database.
func confirming(t *testing.T, fn func(t *testing.T, s *models.Store, w world)) {
	modelstest.EachConfig(t, models.Config{ConfirmFirstPlaces: true,
		SubmissionLimits: submissions.SubmissionLimits{MaxUnfinishedRuns: 1}},
		func(t *testing.T, s *models.Store) {
			fn(t, s, newWorld(t, s))
		})
}

// turn returns the only waiting run, which must be a turn of a confirmation.
func turn(t *testing.T, s *models.Store) work.Run {
	t.Helper()
	waits := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context()))
	if len(waits) != 1 || waits[0].Priority != work.PriorityFollowUp {
		t.Fatalf("in the queue is %+v, want one turn that gives way to people's work", waits)
	}
	return modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), waits[0].RunID))
}

// measureTurn ends the waiting turn on a slot with a score, and returns the ID of the run that it measured again.
func measureTurn(t *testing.T, s *models.Store, ns float64, slot string) int64 {
	t.Helper()
	run := turn(t, s)
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	result := modelstest.Result(attempt, ns)
	result.Machine.UUIDHash = slot
	low, high := ns*0.999, ns*1.001
	score := work.Score{NS: ns, Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}}
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result, work.ResultFindings{Score: &score})))
	return *run.ProfileOf
}

func TestWhoComesFirstIsMeasuredAgainInTurnsWithTheNext(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		anns := w.Score(t, s, w.Ann, 1000)
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)); len(work) != 0 {
			t.Fatalf("no one is behind the first, and %+v waits", work)
		}
		bens := w.Score(t, s, w.Ben, 900) // a lucky measurement
		board := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		if board.RunBeingConfirmed != bens.ID || board.Standings[0].UserName != "Ben" {
			t.Errorf("the board says that %d waits for its confirmation: %+v", board.RunBeingConfirmed, board.Standings)
		}
		if runs := modelstest.Got[[]work.Run](t)(s.Work.Runs(ctx, bens.SubmissionID)); len(runs) != 1 {
			t.Errorf("the submission lists %d runs", len(runs))
		}
		for _, user := range []accounts.User{w.Ann, w.Ben} { // people cannot cancel turns of their own runs
			modelstest.WantKind(t, modelstest.Second(s.Work.CancelRun(ctx, user, turn(t, s).ID)), db.Forbidden)
		}
		w.Submit(t, s, w.Ann) // a waiting turn of Ann's run does not count toward her limit of one unfinished run
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann,
			modelstest.Got[[]submissions.SubmissionSummary](t)(s.Submissions.Submissions(ctx, w.Ann,
				submissions.SubmissionFilter{UserID: w.Ann.ID}))[0].Runs[0].ID)))
		var turns []int64
		for _, ns := range []float64{1002, 1001, 1004, 1003} {
			turns = append(turns, measureTurn(t, s, ns, "gpu0"))
		}
		if diff := cmp.Diff([]int64{anns.ID, bens.ID, anns.ID, bens.ID}, turns); diff != "" {
			t.Errorf("measured in turns:\n%s", diff)
		}
		c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(ctx, anns.ID))[anns.ID]
		if c.ChallengerID != bens.ID || c.ChallengerScoreBefore != 900 || c.HolderScoreBefore != 1000 ||
			!c.CountedOnOneSlot ||
			c.EndedAt == nil ||
			len(c.CountedTurns) != 2 || c.CountedTurns[0].ScoreNS != 1002 || c.CountedTurns[1].ScoreNS != 1004 || c.CountedTurns[1].Processes != 5 ||
			len(c.CountedTurns[1].CaseTimes) == 0 ||
			fmt.Sprintf("%.1f %.1f", *c.ChallengerNS, *c.HolderNS) != "1002.0 1003.0" {
			t.Errorf("the confirmation keeps %+v", c)
		}
		board = modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		first := board.Standings[0]
		if board.RunBeingConfirmed != 0 || !first.Tied || first.RunID != bens.ID || first.Processes != 10 ||
			*first.LowNS >= 1001 || *first.HighNS <= 1003 {
			t.Errorf("afterwards the board says %d, %+v", board.RunBeingConfirmed, first)
		}
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)); len(work) != 0 {
			t.Errorf("afterwards %+v waits", work)
		}
		w.SameAfterRebuild(t, s)
	})
}

func TestTurnsThatRanOnOtherSlotsAreRepeated(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.Score(t, s, w.Ann, 1000)
		bens := w.Score(t, s, w.Ben, 900)
		for i, slot := range []string{"gpu0", "gpu1", "gpu0", "gpu0", "gpu1", "gpu0"} {
			measureTurn(t, s, []float64{1000, 950}[i%2]+float64(i), slot)
		}
		c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]
		if !c.CountedOnOneSlot || c.EndedAt == nil || fmt.Sprintf("%.1f %.1f", *c.ChallengerNS,
			*c.HolderNS) != "954.0 1001.0" {
			t.Errorf("of six turns on two units count %+v", c)
		}
	})
}

// failTurn ends the waiting turn with a failure and without a score.
func failTurn(t *testing.T, s *models.Store, why job.Failure) {
	t.Helper()
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), turn(t, s).WorkRef()))
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(),
		job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
			Outcome: job.OutcomeFailed, Failure: &why}, work.ResultFindings{})))
}

func TestAFailedTurnHoldsItsSourceBack(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "case 0 gave a wrong answer"})
		anns := "Ann 1000 from 0, run 1 of 5 processes"
		if diff := cmp.Diff([]string{anns}, w.board(t, s)); diff != "" {
			t.Errorf("the board:\n%s", diff)
		}
		again := w.measures(t, s, w.Ben, "b;", about(890)...)
		if !strings.Contains(again.HeldReason, "did not pass when it was measured again") {
			t.Errorf("the same source, sent again, is held: %q", again.HeldReason)
		}
		if diff := cmp.Diff([]string{anns}, w.board(t, s)); diff != "" {
			t.Errorf("the board:\n%s", diff)
		}
		raised := modelstest.Got[[]models.FlagWithReporter](t)(s.Flags(ctx, w.Admin, bens, w.Task))
		if len(raised) != 1 || raised[0].Kind != review.KindUnconfirmed {
			t.Errorf("flags: %+v", raised)
		}
		if list := modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(ctx, w.Admin,
			models.ReviewFilter{Limit: 10})); len(list) != 2 {
			t.Errorf("to review: %+v", list)
		}
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)); len(work) != 0 {
			t.Errorf("it begins again: %+v", work)
		}
		modelstest.Check(t, modelstest.Second(s.DismissFlags(ctx, w.Admin, bens.ID, "The worker's fault.")))
		if diff := cmp.Diff([]string{"Ben 895 from 2, run 2 of 10 processes", anns}, w.board(t, s)); diff != "" {
			t.Errorf("after someone has looked:\n%s", diff)
		}
		w.measures(t, s, w.Ben, "b;", about(880)...)
		turn(t, s) // a confirmation queues a turn
		w.SameAfterRebuild(t, s)
	})
}

// TestAConfirmationRepeatsAfterAnInfrastructureError checks that a challenger is confirmed again, at the next change of
// the board, if infrastructure errors ended its confirmation.
func TestAConfirmationRepeatsAfterAnInfrastructureError(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.Score(t, s, w.Ann, 1000)
		bens := w.Score(t, s, w.Ben, 900)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "The worker is gone.", IsInfrastructureError: true})
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(work) != 0 {
			t.Fatalf("it begins again at once: %+v", work)
		}
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]; !c.MayRepeatConfirmation ||
			!strings.Contains(c.Reason, "infrastructure") {
			t.Errorf("it keeps %+v", c)
		}
		w.Score(t, s, w.Ann, 950) // the board changes, so the confirmation is repeated
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]; c.EndedAt != nil ||
			c.ChallengerID != bens.ID || turn(t, s).ProfileOf == nil {
			t.Errorf("after that: %+v", c)
		}
	})
}

// TestTurnsOfASourceCountTogether checks that a source confirmed several times has the mean of all its turns as score,
// and that equal sources of two people have the same score.
func TestTurnsOfASourceCountTogether(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		cleo, dora := modelstest.Person(t, s, "Cleo", accounts.RoleUser),
			modelstest.Person(t, s, "Dora", accounts.RoleUser)
		scores := func() (list []string) {
			for _, st := range modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
				boards.BoardPartQuery{Limit: 10})).Standings {
				list = append(list, fmt.Sprintf("%s %.1f", st.UserName, st.ScoreNS))
			}
			return list
		}
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ben, "b;", about(900)...)
		for _, ns := range []float64{1000, 1100, 1000, 1100} {
			w.end(t, s, turn(t, s), work.ResultFindings{}, about(ns)...)
		}
		if diff := cmp.Diff([]string{"Ann 1000.0", "Ben 1100.0"}, scores()); diff != "" {
			t.Fatalf("the first confirmation:\n%s", diff)
		}
		w.measures(t, s, cleo, "b;", about(800)...) // Ben's source, which already has turns
		// A source with another line number is another source, because a preprocessor can see the difference.
		w.measures(t, s, dora, "\nb;", about(5000)...)
		if diff := cmp.Diff([]string{"Ann 1000.0", "Ben 1100.0", "Cleo 1100.0", "Dora 5000.0"}, scores()); diff != "" {
			t.Errorf("another person's run of a confirmed source:\n%s", diff)
		}
		w.measures(t, s, cleo, "c;", about(700)...)
		for _, ns := range []float64{1200, 2000, 1200, 2000} {
			w.end(t, s, turn(t, s), work.ResultFindings{}, about(ns)...)
		}
		if diff := cmp.Diff([]string{"Ann 1095.4", "Ben 1100.0", "Cleo 1100.0", "Dora 5000.0"}, scores()); diff != "" {
			t.Errorf("Ann was challenged again:\n%s", diff)
		}
		runs := modelstest.Got[[]submissions.SubmissionSummary](t)(s.Submissions.Submissions(t.Context(), w.Ann,
			submissions.SubmissionFilter{UserID: w.Ann.ID}))
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), w.Ann, runs[0].ID, "")))
		w.measures(t, s, w.Ann, "a;", about(500)...)
		if diff := cmp.Diff([]string{"Ann 1095.4", "Ben 1100.0", "Cleo 1100.0", "Dora 5000.0"}, scores()); diff != "" {
			t.Errorf("deleted and sent again:\n%s", diff)
		}
		w.SameAfterRebuild(t, s)
	})
}

func TestWhatIsMeasuredAgainCannotBeDeletedByItsPerson(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		anns := w.Score(t, s, w.Ann, 1000)
		w.Score(t, s, w.Ben, 900)
		measureTurn(t, s, 1000, "gpu0") // the next turn measures Ben's run
		modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, anns.SubmissionID, "")), db.Conflict)
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Admin, anns.SubmissionID,
			"It is another person's.")))
		board := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(ctx, w.Task.VersionID, "CPU", boards.BoardPartQuery{Limit: 10}))
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(ctx)); board.RunBeingConfirmed != 0 ||
			len(work) != 0 {
			t.Errorf("%d waits for its confirmation, and in the queue is %+v", board.RunBeingConfirmed, work)
		}
	})
}
