package work_test

import (
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestOnlyLossesThatARunMayHaveCausedCountAgainstIt checks that losses by power cuts, broken workers, and a stopped
// site do not count toward the three losses after which a run fails.
func TestOnlyLossesThatARunMayHaveCausedCountAgainstIt(t *testing.T) {
	tests := map[string]struct {
		loss    work.LossKind
		workers int  // number of workers that lose the run, alternately
		after   int  // number of losses
		givenUp bool // true if the run has failed after these losses
		counted int
		pauses  bool
	}{
		"handed back":                {work.LossHandedBack, 1, 2 * work.MaxRetries, false, 0, false},
		"lost with the site":         {work.LossRetriedAfterPause, 1, work.MaxRetries - 1, false, 0, true},
		"lost with the site, always": {work.LossRetriedAfterPause, 1, work.MaxRetries, true, 0, true},
		"ends two workers": {work.LossCountedAgainstWork, 2, work.MaxLosses - 1, false, work.MaxLosses - 1,
			true},
		"ends each of its workers": {work.LossCountedAgainstWork, 3, work.MaxLosses, true, work.MaxLosses, true},
		"one worker restarts":      {work.LossCountedAgainstWork, 1, 2 * work.MaxLosses, false, 1, true},
	}
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		for name, test := range tests {
			run := w.Submit(t, s, w.Ann)
			var pause time.Duration
			for i := range test.after {
				attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
				modelstest.Check(t, err)
				modelstest.Check(t, modelstest.Second(s.Work.RecordAttemptsReceived(ctx, fmt.Sprint("w", i%test.workers),
					attempt.ID)))
				modelstest.Check(t, modelstest.Second(s.Work.FailAttempt(ctx, attempt.ID, name, test.loss)))
				run = modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID))
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
		want   work.LossKind
	}{
		"handed back":       {job.Result{Outcome: job.OutcomeHandedBack}, work.LossHandedBack},
		"disk full":         {job.Result{Outcome: job.OutcomeLost}, work.LossRetriedAfterPause},
		"worker's panic":    {job.Result{Outcome: job.OutcomeLost, CausedByJob: true}, work.LossCountedAgainstWork},
		"cancelled by none": {job.Result{Outcome: job.OutcomeCancelled}, work.LossRetriedAfterPause},
	}
	for name, test := range tests {
		if got := work.ClassifyLoss(test.result); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestAnAttemptStaysWithOneWorker checks that another worker that reports the attempt, or uses its secret, changes
// nothing.
func TestAnAttemptStaysWithOneWorker(t *testing.T) {
	eachKind(t, func(t *testing.T, s *models.Store, l life) {
		a := l.start()
		l.taken(a, "w1")
		out, err := s.Work.RecordAttemptsReceived(t.Context(), "w2", a.ID)
		modelstest.Check(t, err)
		_, _, stale, err := s.Work.ClassifyAttempts(t.Context(), "w2", []string{a.ID})
		if err != nil || len(out.Events)+len(out.Evaluations) > 0 || len(stale) != 1 || stale[0] != a.ID {
			t.Errorf("w2 is told %+v, to drop %v, %v", out, stale, err)
		}
		_, _, err = s.Work.AppendEvents(t.Context(),
			[]job.Event{{RunID: a.RunID, EvaluationID: a.EvaluationID, AttemptID: a.ID, AttemptSecret: a.Secret,
				Worker: "w2", Number: 1, Type: job.EventAttemptStarted, Time: time.Now()}})
		modelstest.Check(t, err)
		if live := modelstest.Got[[]work.LiveAttempt](t)(s.Work.LiveAttempts(t.Context())); len(live) != 1 ||
			live[0].Worker != "w1" {
			t.Errorf("live: %+v", live)
		}
	})
}
