package scores

import (
	"encoding/json"
	"fmt"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/models/work"
)

// evaluationFindings reads the report of an evaluation. It changes a result without a report to a lost attempt, because
// even a failing kernel has a report.
func evaluationFindings(r *job.Result) (found work.ResultFindings) {
	var report kernelrun.Result
	switch {
	case r.Outcome == job.OutcomeHandedBack:
		return found
	// A kernel's failure is in its report, so every other outcome is a loss, including "cancelled", after which the
	// evaluation has already ended.
	case r.Outcome != job.OutcomePassed || json.Unmarshal(r.Evaluation, &report) != nil:
		r.Outcome = job.OutcomeLost
		return found
	}
	found.Evaluation, found.CounterSamples = work.EvaluationCompleted, evaluationCounterSamples(report)
	found.WaitTime = time.Duration(report.WaitSeconds * float64(time.Second))
	if report.TimedOut {
		found.Evaluation = work.EvaluationTimeout
	}
	return found
}

// evaluationCounterSamples returns the values that a result adds to the counters.
func evaluationCounterSamples(r kernelrun.Result) []work.CounterSample {
	device := fmt.Sprintf("%s:%d", r.Device, r.SlotIndex)
	out := []work.CounterSample{{Name: work.CounterDeviceSeconds + device, Value: r.SlotSeconds}}
	add := func(ok bool, good, bad string, seconds float64) {
		if !ok {
			good = bad
		}
		out = append(out, work.CounterSample{Name: good, Value: seconds})
	}
	for label, seconds := range r.CompileSeconds {
		ok := r.CompilationError == ""
		if label == "ref" {
			ok = r.RefCompilationError == ""
		}
		add(ok, work.CounterCompilationsPassed, work.CounterCompilationsFailed, seconds)
	}
	if seconds, reached := r.StageSeconds[kernelrun.StageValidating]; reached {
		add(r.Correctness, work.CounterValidationsPassed, work.CounterValidationsFailed, seconds)
	}
	if seconds, reached := r.StageSeconds[kernelrun.StageProfiling]; reached {
		add(r.RuntimeStats != nil, work.CounterProfilingsPassed, work.CounterProfilingsFailed, seconds)
		out = append(out, work.CounterSample{Name: work.CounterDeviceTimingSeconds + device, Value: seconds})
	}
	if r.KernelsCached != nil {
		add(*r.KernelsCached, work.CounterCacheHits, work.CounterCacheMisses, 0)
	}
	return out
}
