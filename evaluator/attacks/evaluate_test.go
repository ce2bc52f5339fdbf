package attacks_test

import (
	"encoding/json"
	"testing"

	"warpboard/evaluator/attacks"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/tasks"
)

// evaluate evaluates one kernel, alone or against the corpus's reference, as the evaluation API's worker does. All
// evaluations have the same caller, so that each runs in processes that an earlier one may have changed.
func (a *arena) evaluate(t *testing.T, attack attacks.Attack, kernel []byte) result {
	t.Helper()
	request := kernelrun.Request{
		Kind: kernelrun.KindEvaluate, CustomKernel: kernelrun.KernelCode{Source: string(kernel), KernelType: "torch"},
		NumTrials: 9, Timeout: 60, ATol: 0.01, RTol: 0.01,
	}
	if attack.Task == "/compare" {
		request.Kind, request.RefKernel = kernelrun.KindCompare, &kernelrun.KernelCode{
			Source:     attacks.ReferenceKernel,
			KernelType: "torch",
		}
	}
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := a.worker.Evaluate(t.Context(), job.Job{
		MessageVersion: job.MessageVersion, AttemptID: attack.Name, Device: "CPU", EvaluationID: attack.Name, Caller: "everyone",
		Evaluation: data,
		Task:       tasks.Definition{Lang: tasks.LangPython, HasOwnHarness: true},
	})
	if err != nil || ended.Outcome != job.OutcomePassed {
		t.Fatalf("%s: %+v, %v", ended.Outcome, ended.Failure, err)
	}
	var r kernelrun.Result
	if err := json.Unmarshal(ended.Evaluation, &r); err != nil {
		t.Fatal(err)
	}
	return resultOf(r)
}

// resultOf converts an evaluation's times to nanoseconds, if it has any.
func resultOf(r kernelrun.Result) result {
	message := r.CompilationError + r.ValidationError + r.ProfilingError
	out := result{status: job.StatusFail, failure: job.Failure{Reason: message}, stderr: r.Stderr}
	switch {
	case r.TimedOut || r.ExceededLimit != "":
		out.status = job.StatusLimitExceeded
	case r.Correctness && r.RuntimeStats != nil:
		clocks := r.ClockTimes["custom"]
		out.status, out.clock = job.StatusPass, clocks.CountedClock
		out.shown, out.best = r.RuntimeStats.Median*1e6, r.RuntimeStats.Min*1e6
		if r.RefRuntime != nil {
			out.beside = r.RefRuntime.Median * 1e6
		}
		out.claimed, out.snapshot = clocks.EventTime*1e6, clocks.SnapshotTime*1e6
	}
	return out
}
