package models_test

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestOnlyWhatARunCanHaveCausedCountsAgainstIt: power cuts, broken workers and frozen sites do not use
// up the three losses of a run.
func TestOnlyWhatARunCanHaveCausedCountsAgainstIt(t *testing.T) {
	tests := map[string]struct {
		loss    work.Loss
		after   int  // so many losses …
		givenUp bool // … it has failed
		counted int
		pauses  bool
	}{
		"handed back":                {work.LossFree, 2 * work.MaxRetries, false, 0, false},
		"lost with the site":         {work.LossWaits, work.MaxRetries - 1, false, 0, true},
		"lost with the site, always": {work.LossWaits, work.MaxRetries, true, 0, true},
		"ends its worker":            {work.LossCounts, work.MaxLosses - 1, false, work.MaxLosses - 1, true},
		"ends each of its workers":   {work.LossCounts, work.MaxLosses, true, work.MaxLosses, true},
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		for name, test := range tests {
			run := w.submit(t, s, w.ann)
			var pause time.Duration
			for i := range test.after {
				attempt, err := s.Work.StartAttempt(ctx, run.Ref())
				check(t, err)
				check(t, third(s.Work.NoteTaken(ctx, "w1", []string{attempt.ID})))
				check(t, second(s.Work.FailAttempt(ctx, attempt.ID, name, test.loss)))
				run = got[work.Run](t)(s.Work.Run(ctx, run.ID))
				if !test.pauses {
					if run.NotBefore != nil {
						t.Errorf("%s: it waits until %v", name, run.NotBefore)
					}
					continue
				}
				next := time.Until(*run.NotBefore)
				if next < pause-time.Minute || i < 3 && next < 2*pause || next > 11*time.Minute {
					t.Errorf("%s: pause %d is %v, after one of %v", name, i+1, next, pause)
				}
				pause = next
			}
			if failed := run.State == work.StateFailed; failed != test.givenUp || run.Losses != test.counted {
				t.Errorf("%s: %s with %d losses of %d", name, run.State, run.Losses, run.Retries)
			}
		}
	})
}

func TestWorkersSayHowTheirLossesCount(t *testing.T) {
	tests := map[string]struct {
		result job.Result
		want   work.Loss
	}{
		"handed back":       {job.Result{Outcome: job.OutcomeReturned}, work.LossFree},
		"disk full":         {job.Result{Outcome: job.OutcomeLost}, work.LossWaits},
		"worker's panic":    {job.Result{Outcome: job.OutcomeLost, Suspect: true}, work.LossCounts},
		"cancelled by none": {job.Result{Outcome: job.OutcomeCancelled}, work.LossWaits},
	}
	for name, test := range tests {
		if got := work.LossOf(test.result); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestSecondWorkerOfAnAttemptGetsTheCreditOnceTheFirstHasItNoMore: the queue delivers a job again whose
// worker fell silent, or stopped while the site was away.
func TestSecondWorkerOfAnAttemptGetsTheCreditOnceTheFirstHasItNoMore(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		run := w.submit(t, s, w.ann)
		attempt, err := s.Work.StartAttempt(ctx, run.Ref())
		check(t, err)
		beat := func(worker string, attempts ...string) {
			check(t, s.Fleet.SaveHeartbeat(ctx, job.Heartbeat{Worker: worker, Started: time.Now(), Attempts: attempts, Slots: []job.Slot{{Device: "CPU"}}}))
			_, stale, err := s.Work.NoteTaken(ctx, worker, attempts)
			if err != nil || len(stale) > 0 {
				t.Errorf("worker %s is to drop %v, %v", worker, stale, err)
			}
		}
		credited := func(want string) {
			t.Helper()
			live := got[[]work.LiveAttempt](t)(s.Work.LiveAttempts(ctx))
			if got := got[work.Run](t)(s.Work.Run(ctx, run.ID)); got.Worker != want || live[0].Worker != want {
				t.Errorf("credited to %s and %s, want %s", got.Worker, live[0].Worker, want)
			}
		}
		beat("w1", attempt.ID)
		beat("w1", attempt.ID)
		beat("w2", attempt.ID)
		credited("w1") // which has it still
		beat("w1")
		beat("w2", attempt.ID)
		credited("w2")

		// An event tells it sooner.
		events := func(worker string, seq int, kind job.EventType) {
			_, stale, err := s.Work.AppendEvents(ctx, []job.Event{{
				RunID: run.ID, AttemptID: attempt.ID, Secret: attempt.Secret, Worker: worker, Seq: seq, Type: kind, Time: time.Now(),
			}})
			if err != nil || len(stale) > 0 {
				t.Errorf("event of %s: stale %v, %v", worker, stale, err)
			}
		}
		events("w2", 1, job.EventTaken)
		events("w2", 2, job.EventLog)
		events("w3", 1, job.EventTaken)
		credited("w3")
		events("w3", 2, job.EventLog)
		if out, err := s.Work.RecordResult(ctx, modelstest.Result(attempt, 5), work.Findings{Score: &work.Score{NS: 5}}); err != nil || !out.Accepted {
			t.Errorf("its result: %+v, %v", out, err)
		}
	})
}

func TestSecondWorkerOfAnEvaluationGetsTheCredit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		e := submitted(t, s, "token:1")
		a := begun(t, s, e)
		check(t, third(s.Work.NoteTaken(t.Context(), "another", []string{a.ID})))
		third := func(seq int, kind job.EventType) job.Event {
			return job.Event{EvaluationID: e.ID, AttemptID: a.ID, Secret: a.Secret, Worker: "a third", Seq: seq, Type: kind, Stage: "compiling"}
		}
		_, stale, err := s.Work.AppendEvents(t.Context(), []job.Event{third(1, job.EventTaken), third(2, job.EventStage)})
		if err != nil || len(stale) > 0 {
			t.Errorf("stale %v, %v", stale, err)
		}
		if e := got[work.Evaluation](t)(s.Work.Evaluation(t.Context(), e.ID)); e.Worker != "a third" || e.State != work.EvaluationCompiling {
			t.Errorf("%s on %q", e.State, e.Worker)
		}
	})
}
