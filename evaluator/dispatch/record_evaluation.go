package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models"
)

// evaluationEvent stores where an evaluation is. There are few such events: each is stored at once.
func (r *Recorder) evaluationEvent(ctx context.Context, e job.Event) {
	changed, stale, err := r.store.NoteEvaluation(ctx, e)
	switch {
	case err != nil:
		r.log.Error("storing an event", "evaluation", e.EvaluationID, "err", err)
	case stale:
		r.cancel(ctx, []string{e.AttemptID})
	case changed != nil:
		r.notify.EvaluationChanged(*changed)
	}
}

// evaluationResult stores how an attempt at an evaluation ended; see result.
func (r *Recorder) evaluationResult(ctx context.Context, result job.Result) error {
	e, accepted, err := r.store.EndEvaluation(ctx, endOf(result))
	switch {
	case models.KindOf(err) == models.Forbidden:
		r.log.Warn("result refused", "evaluation", result.EvaluationID, "worker", result.Machine.Worker, "err", err)
		return nil
	case err != nil:
		return err
	case accepted:
		r.notify.EvaluationChanged(e)
	}
	r.wake()
	return nil
}

// evaluationsTaken notes which evaluations a worker has in hand, and returns its other attempts.
func (r *Recorder) evaluationsTaken(ctx context.Context, h job.Heartbeat) []string {
	changed, rest, err := r.store.EvaluationsTaken(ctx, h.Worker, h.Attempts)
	if err != nil {
		r.log.Error("comparing a heartbeat with the evaluations", "worker", h.Worker, "err", err)
		return nil
	}
	for _, e := range changed {
		r.notify.EvaluationChanged(e)
	}
	return rest
}

// endOf judges a worker's result. One that holds no report is lost, and is tried again.
func endOf(r job.Result) models.EvaluationEnd {
	end := models.EvaluationEnd{AttemptID: r.AttemptID, Secret: r.Secret, Worker: r.Machine.Worker}
	var result kernelrun.Result
	if r.Outcome != job.OutcomeDone || json.Unmarshal(r.Evaluation, &result) != nil {
		end.Failure, end.Loss = "The worker gave the evaluation up without saying why.", models.LossOf(r)
		if r.Failure != nil {
			end.Failure = cmp.Or(r.Failure.Reason, end.Failure)
		}
		return end
	}
	end.State, end.Result, end.Samples = models.EvaluationCompleted, r.Evaluation, samples(result)
	end.Waited = time.Duration(result.Waited * float64(time.Second))
	if result.TimedOut {
		end.State = models.EvaluationTimeout
	}
	return end
}

// Names of what evaluations count; /stats reads them.
const (
	CountCompiled     = "compilations.ok"
	CountNotCompiled  = "compilations.failed"
	CountProfiled     = "profilings.ok"
	CountNotProfiled  = "profilings.failed"
	CountCorrect      = "validations.passed"
	CountWrong        = "validations.failed"
	CountCacheHit     = "cache.hits"
	CountCacheMiss    = "cache.misses"
	CountDevice       = "devices."   // by "H200:0"; seconds held
	CountDeviceTiming = "profilers." // by "H200:0"; seconds of timing
)

// samples is what the counters gain from a result.
func samples(r kernelrun.Result) []models.Sample {
	unit := fmt.Sprintf("%s:%d", r.Device, r.Slot)
	out := []models.Sample{{Name: CountDevice + unit, Value: r.Seconds}}
	add := func(ok bool, good, bad string, seconds float64) {
		if !ok {
			good = bad
		}
		out = append(out, models.Sample{Name: good, Value: seconds})
	}
	for label, seconds := range r.CompileSeconds {
		ok := r.CompilationError == ""
		if label == "ref" {
			ok = r.RefCompilationError == ""
		}
		add(ok, CountCompiled, CountNotCompiled, seconds)
	}
	if seconds, reached := r.StageSeconds[kernelrun.StageValidating]; reached {
		add(r.Correctness, CountCorrect, CountWrong, seconds)
	}
	if seconds, reached := r.StageSeconds[kernelrun.StageProfiling]; reached {
		add(r.RuntimeStats != nil, CountProfiled, CountNotProfiled, seconds)
		out = append(out, models.Sample{Name: CountDeviceTiming + unit, Value: seconds})
	}
	if r.Cached != nil {
		add(*r.Cached, CountCacheHit, CountCacheMiss, 0)
	}
	return out
}
