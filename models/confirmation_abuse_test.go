package models_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestAFirstIsConfirmedAfterAChallengerFailed checks that a lucky 1st place is still confirmed after a challenger took
// it and failed its turns: the challenger may be an accomplice.
func TestAFirstIsConfirmedAfterAChallengerFailed(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		w.measures(t, s, w.Ann, "a;", about(900)...)
		w.measures(t, s, w.Ben, "bomb;", about(800)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "bomb"})
		w.measures(t, s, cleo, "c;", about(950)...)
		if waiting := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(waiting) == 0 {
			t.Errorf("nothing waits: %v", w.board(t, s))
		}
	})
}

// turnIn ends the next turn with a score from a slot of a machine with a certain driver.
func turnIn(t *testing.T, s *models.Store, ns float64, slot, driver string) {
	t.Helper()
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), turn(t, s).WorkRef()))
	result := modelstest.Result(attempt, ns)
	result.Machine.UUIDHash, result.Machine.Driver = slot, driver
	low, high := ns*0.999, ns*1.001
	modelstest.Check(t, modelstest.Second(s.Work.RecordResult(t.Context(), result,
		work.ResultFindings{Score: &work.Score{NS: ns,
			Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5}}})))
}

func TestOlderSoftwareTakesNoEntryOffTheBoard(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		cleo := modelstest.Person(t, s, "Cleo", accounts.RoleUser)
		w.ScoreIn(t, s, cleo, 5000, "570")
		w.ScoreIn(t, s, cleo, 2000, "580")
		w.ScoreIn(t, s, w.Ann, 1000, "580")
		for range 4 {
			turnIn(t, s, 1000, "g", "580")
		}
		w.ScoreIn(t, s, w.Ben, 900, "580")
		for i := range 8 {
			turnIn(t, s, []float64{1000, 900}[i%2], "old", "570")
		}
		if first := w.ByEpoch(t, s)[0]; !strings.HasPrefix(first, "1 Ben") {
			t.Errorf("first is %s", first)
		}
	})
}

func TestPagesLearnThatAFailedTurnChangedTheBoard(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), turn(t, s).WorkRef()))
		out, err := s.Work.RecordResult(t.Context(),
			job.Result{RunID: attempt.RunID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
				Outcome: job.OutcomeFailed, Failure: &job.Failure{Reason: "x"}}, work.ResultFindings{})
		modelstest.Check(t, err)
		if out.ChangedBoard == nil {
			t.Error("the board changed and no one is told")
		}
	})
}

func TestAFailingTaskHoldsNoRunBack(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{CausedByTask: true,
			Reason: "The task failed in case 0, not the submission: generate_input ran out of memory."})
		if first := w.board(t, s)[0]; !strings.HasPrefix(first, "Ben") {
			t.Errorf("first is %s", first)
		}
	})
}

// TestAHoldOutlivesItsEpoch checks that a source on hold stays on hold with newer software, until a reviewer releases
// it.
func TestAHoldOutlivesItsEpoch(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "case 0 gave a wrong answer"})
		_, err := s.SQL().ExecContext(t.Context(), "update epochs set harness = 'h0'")
		modelstest.Check(t, err)
		if run := w.measures(t, s, w.Ben, "b;", about(890)...); run.HeldReason == "" || run.EpochID == bens.EpochID {
			t.Errorf("with new software the run is %+v", run)
		}
		modelstest.Check(t, modelstest.Second(s.DismissFlags(t.Context(), w.Admin, bens.ID, "The worker's fault.")))
		if run := w.measures(t, s, w.Ben, "b;", about(890)...); run.HeldReason != "" {
			t.Errorf("after someone has looked it is held: %q", run.HeldReason)
		}
	})
}

// TestNoHolderKeepsAConfirmationFromItsEnd checks that the challenger is measured even if the holder's turns fail.
// Otherwise an accomplice could block confirmations by being the holder.
func TestNoHolderKeepsAConfirmationFromItsEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(t *testing.T, s *models.Store, w world)
		held bool
	}{
		"a wrong answer": {func(t *testing.T, s *models.Store, _ world) { failTurn(t, s, job.Failure{Reason: "bomb"}) },
			true},
		"an infrastructure error": {func(t *testing.T, s *models.Store, _ world) {
			failTurn(t, s, job.Failure{Reason: "bomb", IsInfrastructureError: true})
		}, false},
		"an error of the task": {func(t *testing.T, s *models.Store,
			_ world) {
			failTurn(t, s, job.Failure{Reason: "bomb", CausedByTask: true})
		}, false},
		"an admin who cancels it": {func(t *testing.T, s *models.Store, w world) {
			modelstest.Check(t, modelstest.Second(s.Work.CancelRun(t.Context(), w.Admin, turn(t, s).ID)))
		}, false},
		"a disqualification of it": {func(t *testing.T, s *models.Store, w world) {
			modelstest.Check(t, modelstest.Second(s.Disqualify(t.Context(), w.Admin, *turn(t, s).ProfileOf, "It knew.")))
			failTurn(t, s, job.Failure{Reason: "bomb"})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			confirming(t, func(t *testing.T, s *models.Store, w world) {
				anns := w.measures(t, s, w.Ann, "a;", about(1000)...)
				bens := w.measures(t, s, w.Ben, "b;", about(900)...)
				tt.end(t, s, w)
				for _, ns := range []float64{950, 951} {
					if run := turn(t, s); *run.ProfileOf != bens.ID {
						t.Fatalf("run %d is measured again", *run.ProfileOf)
					}
					w.measureTurns(t, s, about(ns))
				}
				c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), bens.ID))[bens.ID]
				if c.EndedAt == nil || c.ChallengerNS == nil || int(*c.ChallengerNS) != 950 || c.HolderNS != nil ||
					!strings.HasSuffix(c.Reason, "was measured alone.") {
					t.Errorf("the confirmation keeps %+v", c)
				}
				if first := w.board(t, s)[0]; !strings.HasPrefix(first, "Ben 950.5") {
					t.Errorf("first is %s", first)
				}
				if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(),
					anns.ID)); (run.HeldReason != "") != tt.held {
					t.Errorf("the holder is held back: %q", run.HeldReason)
				}
				w.SameAfterRebuild(t, s)
			})
		})
	}
}

// TestAllRunsOfASourceAreReleasedTogether checks that a review of one run of a held source releases all its runs,
// except those that are held for another reason.
func TestAllRunsOfASourceAreReleasedTogether(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ben, "b;", about(900)...)
		later := w.measures(t, s, w.Ben, "b;", about(910)...)
		other := w.measures(t, s, w.Ben, "c;", about(1500)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "case 0 gave a wrong answer"})
		w.measures(t, s, w.Ben, "b;", about(920)...)
		floor := modelstest.SubmitSource(t, s, w.Ben, w.Task, "b;")[0]
		w.end(t, s, floor, work.ResultFindings{Score: &work.Score{HeldReason: "It is below the floor."}}, about(1)...)
		if list := modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(ctx, w.Admin,
			models.ReviewFilter{Limit: 10})); len(list) != 4 {
			t.Errorf("to review: %+v", list)
		}
		modelstest.Check(t, modelstest.Second(s.DismissFlags(ctx, w.Admin, later.ID, "The worker's fault.")))
		if diff := cmp.Diff([]string{"Ben 910 from 3, run 2 of 15 processes", "Ann 1000 from 0, run 1 of 5 processes"},
			w.board(t, s)); diff != "" {
			t.Errorf("the board:\n%s", diff)
		}
		if list := modelstest.Got[[]models.FlaggedRun](t)(s.ReviewQueue(ctx, w.Admin,
			models.ReviewFilter{Limit: 10})); len(list) != 1 || list[0].RunID != floor.ID || other.HeldReason != "" {
			t.Errorf("to review is still: %+v", list)
		}
		turn(t, s) // the queue has a turn that measures the source again
		w.SameAfterRebuild(t, s)
	})
}

// TestALookAtARunIsNoneAtItsSource checks that dismissing a run's own hold does not release its source, which is held
// too.
func TestALookAtARunIsNoneAtItsSource(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "case 0 gave a wrong answer"})
		fast := modelstest.SubmitSource(t, s, w.Ben, w.Task, "b;")[0]
		w.end(t, s, fast, work.ResultFindings{Score: &work.Score{HeldReason: "It is below the floor."}}, about(1)...)
		modelstest.Check(t, modelstest.Second(s.DismissFlags(t.Context(), w.Admin, fast.ID, "It is not.")))
		if run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(),
			fast.ID)); run.HeldReason != "Another run of this source did not pass when it was measured again." ||
			len(w.board(t, s)) != 1 {
			t.Errorf("it counts: %+v, %v", run.HeldReason, w.board(t, s))
		}
	})
}

// TestReinstatingARunReleasesNoSource checks that a disqualified run of a held source is held again after it was
// reinstated, and is in the review queue.
func TestReinstatingARunReleasesNoSource(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		ctx := t.Context()
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(900)...)
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "case 0 gave a wrong answer"})
		modelstest.Check(t, modelstest.Second(s.Disqualify(ctx, w.Admin, bens.ID, "It knew.")))
		if list := queue(t, s, w.Admin); len(list) != 0 {
			t.Errorf("while it is disqualified, to review are %v", list)
		}
		modelstest.Check(t, modelstest.Second(s.Reinstate(ctx, w.Admin, bens.ID, "It did not.")))
		if run := modelstest.Got[work.Run](t)(s.Work.Run(ctx, bens.ID)); run.HeldReason == "" ||
			len(w.board(t, s)) != 1 {
			t.Errorf("it counts: %q, %v", run.HeldReason, w.board(t, s))
		}
		if list := queue(t, s, w.Admin); len(list) != 1 {
			t.Errorf("to review are %v", list)
		}
		modelstest.Check(t, modelstest.Second(s.DismissFlags(ctx, w.Admin, bens.ID, "The worker's fault.")))
		if board := w.board(t, s); len(board) != 2 {
			t.Errorf("after someone has looked the board is %v", board)
		}
		w.SameAfterRebuild(t, s)
	})
}
