package dispatch

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/work"
)

func (s *site) evaluate(caller string) work.Evaluation {
	s.Helper()
	e, err := s.store.Work.SubmitEvaluation(s.Context(), work.NewEvaluation{
		Caller: caller, Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{"num_trials":7}`),
	})
	if err != nil {
		s.Fatal(err)
	}
	return e
}

func (s *site) wantEvaluation(id string, state work.EvaluationState) work.Evaluation {
	s.Helper()
	e, err := s.store.Work.Evaluation(s.Context(), id)
	if err != nil {
		s.Fatal(err)
	}
	if e.State != state {
		s.Errorf("the evaluation is %s (%s), want %s", e.State, e.FailureReason, state)
	}
	return e
}

// evaluated returns the result that a worker publishes at the end of an evaluation.
func evaluated(t *testing.T, j job.Job, report kernelrun.Result) job.Result {
	t.Helper()
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return job.Result{EvaluationID: j.EvaluationID, AttemptID: j.AttemptID, AttemptSecret: j.AttemptSecret,
		Outcome:    job.OutcomePassed,
		Evaluation: data, Machine: job.Machine{Worker: "w1"}}
}

func evaluationEvent(j job.Job, seq int, stage string) job.Event {
	e := event(j, seq, job.EventStageStarted, job.Stage(stage))
	e.EvaluationID = j.EvaluationID
	return e
}

func TestAnEvaluationGoesBeforeRunsAndShowsItsStages(t *testing.T) {
	eachSite(t, func(s *site) {
		run, e := s.submit(), s.evaluate("token:1")
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		if j.EvaluationID != e.ID || j.RunID != 0 || string(j.Evaluation) != `{"num_trials":7}` || j.Device != "CPU" {
			s.Fatalf("the first job is %+v", j)
		}
		if second := s.take(); second.RunID != run.ID {
			s.Errorf("the second job is %+v", second)
		}
		if drop := s.beat(d, j.AttemptID); len(drop) > 0 {
			s.Error("a heartbeat that names the evaluation made it stop")
		}
		s.tell(d, evaluationEvent(j, 1, kernelrun.StageCompiling))
		s.tell(d, evaluationEvent(j, 2, kernelrun.StageValidating))
		s.wantEvaluation(e.ID, work.EvaluationValidating)
		report := kernelrun.Result{SlotSeconds: 2, Device: "CPU",
			StageSeconds: map[string]float64{kernelrun.StageValidating: 1}}
		report.Compiled, report.Correctness, report.CompileSeconds = true, true, map[string]float64{"custom": 0.5}
		if err := d.StoreResult(s.Context(), evaluated(s.T, j, report)); err != nil {
			s.Fatal(err)
		}
		s.wantEvaluation(e.ID, work.EvaluationCompleted)
		if !slices.Contains(s.seen.states, work.EvaluationValidating) ||
			!slices.Contains(s.seen.states, work.EvaluationCompleted) {
			s.Errorf("watchers were told %v", s.seen.states)
		}
		all, err := s.store.Counters.AllByName(s.Context())
		if err != nil {
			s.Fatal(err)
		}
		if diff := cmp.Diff(work.Counter{Name: work.CounterCompilationsPassed, Count: 1, Total: 0.5, Min: 0.5, Max: 0.5},
			all[work.CounterCompilationsPassed]); diff != "" {
			s.Error(diff)
		}
		if all[work.CounterValidationsPassed].Count != 1 || all[work.CounterDeviceSeconds+"CPU:0"].Total != 2 ||
			all[work.CounterProfilingsPassed].Count != 0 {
			s.Errorf("counters: %+v", all)
		}
	})
}

func TestATimeLimitIsAResult(t *testing.T) {
	eachSite(t, func(s *site) {
		e := s.evaluate("token:1")
		d := s.boot()
		s.pass(d, 0)
		if err := d.StoreResult(s.Context(), evaluated(s.T, s.take(), kernelrun.Result{TimedOut: true})); err != nil {
			s.Fatal(err)
		}
		s.wantEvaluation(e.ID, work.EvaluationTimeout)
	})
}

func TestAnEvaluationWhoseWorkerIsGoneIsSentAgain(t *testing.T) {
	eachSite(t, func(s *site) {
		e := s.evaluate("token:1")
		d := s.boot()
		s.pass(d, 0)
		first := s.take()
		s.beat(d, first.AttemptID)
		if err := d.runPass(s.Context(), time.Now().Add(fleet.WorkerTimeout)); err != nil {
			s.Fatal(err)
		}
		s.wantEvaluation(e.ID, work.EvaluationSubmitted)
		d = s.boot()             // a restarted site with a new worker
		s.pass(d, 2*time.Second) // after the pause before a retry
		second := s.take()
		if second.AttemptID == first.AttemptID || second.EvaluationID != e.ID {
			s.Errorf("sent again: %+v", second)
		}
		if err := d.StoreResult(s.Context(), evaluated(s.T, first, kernelrun.Result{})); err != nil {
			s.Fatal(err)
		}
		s.wantEvaluation(e.ID, work.EvaluationSubmitted)
		lost := job.Result{EvaluationID: e.ID, AttemptID: second.AttemptID, AttemptSecret: second.AttemptSecret,
			Outcome: job.OutcomeLost,
			Failure: &job.Failure{IsInfrastructureError: true, Reason: "the disk is full"}}
		if err := d.StoreResult(s.Context(), lost); err != nil {
			s.Fatal(err)
		}
		if e := s.wantEvaluation(e.ID, work.EvaluationSubmitted); e.Losses != 1 || e.Retries != 2 ||
			e.FailureReason != "the disk is full" {
			s.Errorf("evaluation: %+v", e)
		}
	})
}

func TestACancelledEvaluationIsStoppedAndItsResultDropped(t *testing.T) {
	eachSite(t, func(s *site) {
		e := s.evaluate("token:1")
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		if err := d.CancelEvaluation(s.Context(), e.ID, "no one waits"); err != nil || !s.queue.stopped(j.AttemptID) {
			s.Fatal(err)
		}
		if err := d.StoreResult(s.Context(), evaluated(s.T, j, kernelrun.Result{})); err != nil {
			s.Fatal(err)
		}
		s.wantEvaluation(e.ID, work.EvaluationCancelled)
		if db.KindOf(d.CancelEvaluation(s.Context(), e.ID, "")) != db.Conflict {
			s.Error("it was cancelled twice")
		}
	})
}

func TestWorkersIdentifyCallersByNameNotAddress(t *testing.T) {
	eachSite(t, func(s *site) {
		for _, owner := range []string{"key:1", "key:2"} {
			_, err := s.store.Work.SubmitEvaluation(s.Context(),
				work.NewEvaluation{Owner: owner, Caller: "address:10.0.0.9",
					Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{}`)})
			if err != nil {
				s.Fatal(err)
			}
		}
		d := s.boot()
		s.pass(d, 0)
		if got := []string{s.take().Caller, s.take().Caller}; !slices.Equal(got, []string{"key:1", "key:2"}) {
			s.Errorf("the jobs' callers are %q", got)
		}
	})
}
