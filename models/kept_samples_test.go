package models_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// ranks submits a source and starts an attempt at its run. It returns the run and the result that a worker will send.
func (w world) ranks(t *testing.T, s *models.Store, user accounts.User, source string, measured ...float64) (work.Run,
	job.Result) {
	t.Helper()
	run := modelstest.SubmitSource(t, s, user, w.Task, source)[0]
	attempt := modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(t.Context(), run.WorkRef()))
	tell := modelstest.EventMaker{Attempt: attempt}
	if _, _, err := s.Work.AppendEvents(t.Context(),
		[]job.Event{tell.Event(job.Event{Type: job.EventAttemptStarted}),
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageRanked})}); err != nil {
		t.Fatal(err)
	}
	result := modelstest.Result(attempt, 1)
	result.Machine.HarnessDigest, result.ScoreNS = "h1", nil
	result.Stages[3] = job.StageResult{Stage: job.StageRanked, Status: job.StatusCancelled}
	result.UnfinishedRanking = &job.UnfinishedRanking{CaseMedians: [][]float64{}}
	if len(measured) > 0 {
		result.UnfinishedRanking.CaseMedians = [][]float64{measured}
	}
	return run, result
}

// TestPeopleCannotChooseWhichRunsCount checks that slow runs still count for their source after their author cancelled
// or deleted them.
func TestPeopleCannotChooseWhichRunsCount(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		expect := func(when string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, w.board(t, s)); diff != "" {
				t.Errorf("%s:\n%s", when, diff)
			}
			w.SameAfterRebuild(t, s)
		}
		cancelled, result := w.ranks(t, s, w.Ann, "a;", about(1100)...)
		_, err := s.Work.CancelRun(ctx, w.Ann, cancelled.ID)
		modelstest.Check(t, err)
		// The worker has not sent the measurements of the cancelled run yet.
		modelstest.WantKind(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, cancelled.SubmissionID, "")),
			db.Conflict)
		result.Outcome = job.OutcomeCancelled
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, cancelled.SubmissionID, "")))
		expect("nothing is valid")

		lucky := w.measures(t, s, w.Ann, "a;", about(900)...)
		expect("five processes, five of the cancelled run and the one that it was in",
			"Ann 1098.9 from 2, run 2 of 11 processes")
		if lucky.PooledRunCount != 2 {
			t.Errorf("the run says %+v", lucky)
		}

		failed, result := w.ranks(t, s, w.Ann, "a;", about(1100)...)
		result.Outcome, result.Failure = job.OutcomeFailed,
			&job.Failure{Reason: "It ended with exit code 3.", ExitCode: 3}
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		expect("and of one that failed", "Ann 1099.5 from 3, run 2 of 17 processes")
		if _, err := s.DeleteSubmission(ctx, w.Ann, failed.SubmissionID, ""); err != nil {
			t.Error(err)
		}

		for _, infrastructure := range []func(*job.Result){
			func(r *job.Result) {
				r.Outcome, r.Failure = job.OutcomeFailed,
					&job.Failure{Reason: "No job could be made.", IsInfrastructureError: true}
			},
			func(r *job.Result) { // the source does not compile on that worker
				r.Outcome, r.UnfinishedRanking, r.Stages = job.OutcomeFailed, nil,
					[]job.StageResult{{Stage: job.StageBuild, Status: job.StatusError}}
			},
		} {
			_, result = w.ranks(t, s, w.Ann, "a;", 1, 1, 1)
			infrastructure(&result)
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		}
		expect("infrastructure errors, and what does not compile, count against no one",
			"Ann 1099.5 from 3, run 2 of 17 processes")

		other, result := w.ranks(t, s, w.Ann, "b;", about(2000)...)
		_, err = s.Work.CancelRun(ctx, w.Ann, other.ID)
		modelstest.Check(t, err)
		result.Outcome = job.OutcomeCancelled
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		w.measures(t, s, w.Ben, "b;", about(950)...)
		expect("another source, and another person", "Ben 950 from 0, run 7 of 5 processes",
			"Ann 1099.5 from 3, run 2 of 17 processes")

		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(ctx, w.Ann, lucky.SubmissionID, "")))
		expect("the lucky run is deleted", "Ben 950 from 0, run 7 of 5 processes")
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		expect("and the source sent again", "Ben 950 from 0, run 7 of 5 processes",
			"Ann 1098.9 from 4, run 8 of 22 processes")
	})
}

// TestARunThatEndsBeforeItIsRankedCountsAsASlowProcess checks runs that their author or their kernel ended before the
// ranked stage. The author or the kernel may have seen that the GPU was slow.
func TestARunThatEndsBeforeItIsRankedCountsAsASlowProcess(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		waits := w.Submit(t, s, w.Ann) // no worker has started it
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, waits.ID)))
		w.measures(t, s, w.Ann, "a;", 1000, 1000, 1000, 1000, 1000)
		for i, end := range []func(run work.Run, r *job.Result){
			func(run work.Run, r *job.Result) { // cancelled during the benchmark stage
				modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, run.ID)))
				r.Outcome, r.Stages = job.OutcomeCancelled, r.Stages[:2]
			},
			func(_ work.Run, r *job.Result) { // its kernel exits during the test stage
				r.Outcome, r.Stages, r.Failure = job.OutcomeFailed, r.Stages[:2],
					&job.Failure{Reason: "It ended with exit code 3.", ExitCode: 3}
				r.Stages[1].Status = job.StatusError
			},
		} {
			run, result := w.ranks(t, s, w.Ann, "a;")
			result.UnfinishedRanking = nil
			end(run, &result)
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
			if got := modelstest.Got[work.Run](t)(s.Work.Run(ctx, 2)); *got.ScoreNS != 1000 ||
				got.PooledRunCount != 2+i ||
				got.Processes != 6+i || got.HighNS == nil || *got.HighNS < 1200 {
				t.Errorf("after %d such runs it is %v, high %v, of %d processes in %d runs", 1+i, *got.ScoreNS,
					got.HighNS, got.Processes, got.PooledRunCount)
			}
		}
		stopped, result := w.ranks(t, s, w.Ann, "a;")
		modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Admin, stopped.ID)))
		result.Outcome = job.OutcomeCancelled
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		if got := modelstest.Got[work.Run](t)(s.Work.Run(ctx, 2)); got.PooledRunCount != 3 || got.Processes != 7 {
			t.Errorf("after one that an admin cancelled it has %d processes in %d runs", got.Processes,
				got.PooledRunCount)
		}
		for range 4 {
			run, result := w.ranks(t, s, w.Ann, "a;")
			modelstest.Check(t, modelstest.Second(s.Work.CancelRun(ctx, w.Ann, run.ID)))
			result.Outcome, result.UnfinishedRanking, result.Stages = job.OutcomeCancelled, nil, nil
			modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, result, work.ResultFindings{})))
		}
		if diff := cmp.Diff([]string{"Ann 2000 from 7, run 2 of 11 processes"}, w.board(t, s)); diff != "" {
			t.Errorf("most of its processes did not come to their end:\n%s", diff)
		}
		w.SameAfterRebuild(t, s)
	})
}

// TestWhatAnAdminDeletesIsNotKept checks that the samples of a run that an admin deletes no longer count, because its
// author did not choose the deletion.
func TestWhatAnAdminDeletesIsNotKept(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		forged := w.measures(t, s, w.Ann, "a;", about(10)...)
		w.measures(t, s, w.Ann, "a;", about(1000)...)
		modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), w.Admin, forged.SubmissionID,
			"It lies.")))
		if diff := cmp.Diff([]string{"Ann 1000 from 0, run 2 of 5 processes"}, w.board(t, s)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestARivalsRecordStays checks that a score which a later run of the same source improved counts as achieved by that
// run, so that a rival's record in between stays.
func TestARivalsRecordStays(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := newWorld(t, s)
		anns := w.measures(t, s, w.Ann, "a;", about(1000)...)
		bens := w.measures(t, s, w.Ben, "b;", about(970)...)
		later := w.measures(t, s, w.Ann, "a;", about(900)...) // the score of both runs together is 950
		history := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(t.Context(), w.Task.VersionID,
			"CPU"))
		if len(history) != 2 || history[0].RunID != bens.ID || history[1].RunID != anns.ID ||
			!history[1].AchievedAt.Equal(*later.EndedAt) {
			t.Errorf("the records are %+v", history)
		}
		board := modelstest.Got[boards.BoardPart](t)(s.Boards.Board(t.Context(), w.Task.VersionID, "CPU",
			boards.BoardPartQuery{Limit: 10}))
		if first := board.Standings[0]; first.RunID != anns.ID || !first.AchievedAt.Equal(*later.EndedAt) {
			t.Errorf("the board says %+v", first)
		}
		w.SameAfterRebuild(t, s)
	})
}

// TestSendingASourceAgainMovesNoDate checks that submitting a source again without improving its score keeps the time
// at which the score was achieved. Otherwise a rival's slower run in between would become a record.
func TestSendingASourceAgainMovesNoDate(t *testing.T) {
	for name, confirm := range map[string]bool{"pooled": false, "confirmed": true} {
		t.Run(name, func(t *testing.T) {
			modelstest.EachConfig(t, models.Config{ConfirmFirstPlaces: confirm}, func(t *testing.T, s *models.Store) {
				w := newWorld(t, s)
				anns := w.measures(t, s, w.Ann, "a;", about(950)...)
				if confirm {
					w.measures(t, s, w.Ann, "a;", about(952)...)
				}
				w.measures(t, s, w.Ben, "b;", about(970)...)
				if confirm {
					w.measureTurns(t, s, about(970), about(950), about(970), about(950))
				}
				w.measures(t, s, w.Ann, "a;", about(955)...)
				modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), w.Ann,
					w.measures(t, s, w.Ann, "a;", about(1000)...).SubmissionID, "")))
				run := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), anns.ID))
				history := modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(t.Context(),
					w.Task.VersionID,
					"CPU"))
				if !run.ScoredAt.Equal(*anns.EndedAt) || len(history) != 1 || history[0].RunID != anns.ID {
					t.Errorf("the score is from %v, and the run ended at %v; the records are %+v", run.ScoredAt,
						anns.EndedAt, history)
				}
				w.SameAfterRebuild(t, s)
			})
		})
	}
}

func TestTimesOfARankedStageAreHiddenUntilItEnds(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		tell := modelstest.EventMaker{Attempt: modelstest.Got[work.Attempt](t)(s.Work.StartAttempt(ctx, run.WorkRef()))}
		timed := job.CaseResult{Index: 1, SpecLine: "size: 8", Status: job.StatusPass, Runs: 3, Mean: 1234,
			Median:         1234,
			ProcessMedians: []float64{1234}, Message: "1234"}
		out, _, err := s.Work.AppendEvents(ctx, []job.Event{
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageBenchmark}),
			tell.Event(job.Event{Type: job.EventCaseEnded, Stage: job.StageBenchmark, Case: &timed}),
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageRanked, CaseCount: 2}),
			tell.Event(job.Event{Type: job.EventCaseEnded, Stage: job.StageRanked, Case: &timed, CaseCount: 2}),
			tell.Event(job.Event{Type: job.EventLog, Stage: job.StageRanked, Stream: "stdout",
				Text: "the kernel says 1234"}),
		})
		modelstest.Check(t, err)
		stored := modelstest.Got[[]work.RunEvent](t)(s.Work.EventsSince(ctx, run.SubmissionID, 0, 100))[1:]
		for name, events := range map[string][]work.RunEvent{"told": out.Events, "stored": stored} {
			if len(events) != 4 || events[1].Event.Case.Mean != 1234 {
				t.Fatalf("%s: %+v", name, events)
			}
			if diff := cmp.Diff(&job.CaseResult{Index: 1, SpecLine: "size: 8", Status: job.StatusPass},
				events[3].Event.Case); diff != "" || events[3].Event.CaseCount != 2 {
				t.Errorf("%s of a case of the ranked stage:\n%s", name, diff)
			}
		}
		_, _, err = s.Work.AppendEvents(ctx,
			[]job.Event{tell.Event(job.Event{Type: job.EventStageEnded, Stage: job.StageRanked,
				EndedStage: &job.StageResult{Stage: job.StageRanked, Status: job.StatusPass,
					Cases: []job.CaseResult{timed}}})})
		modelstest.Check(t, err)
		if stages := modelstest.Got[[]work.Stage](t)(s.Work.Stages(ctx, run.ID)); len(stages) != 1 ||
			stages[0].Result.Cases[0].Mean != 1234 {
			t.Errorf("the stage has ended, and says %+v", stages)
		}
	})
}
