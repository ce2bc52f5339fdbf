package evaluator_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
)

func compileJob(t *testing.T) job.Job {
	t.Helper()
	j := evaluationJob(t, kernelrun.Request{
		Kind:         kernelrun.KindCompile,
		CustomKernel: kernelrun.KernelCode{Source: "int x;", KernelType: "cuda"},
		Timeout:      60,
	})
	j.Device, j.AttemptID, j.Mode = "H200", "compile", job.ModeCompile
	return j
}

// TestAGPUsWorkerCompilesBesideABusySlot checks that a request to compile is served while one run holds the slot and
// the next is built, and that no time on the slot is charged.
func TestAGPUsWorkerCompilesBesideABusySlot(t *testing.T) {
	s, began, end := newSite(t), make(chan struct{}, 2), make(chan struct{})
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)}, ConcurrentBuilds: 2,
		Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			began <- struct{}{}
			return passOnSignal(ctx, st, end)
		}},
	})
	s.publish(onGPU(aJob("a1", job.ModeTest)))
	soon(t, "the run", began)
	s.publish(onGPU(aJob("a2", job.ModeTest)))
	got := s.run(compileJob(t))
	var result kernelrun.Result
	if err := json.Unmarshal(got.Evaluation, &result); err != nil || got.Outcome != job.OutcomePassed || !result.Compiled ||
		result.Compilation == nil || got.SlotNS != 0 {
		t.Errorf("%+v, %s, %v", got, got.Evaluation, err)
	}
	if len(s.resultsOf("a1")) != 0 {
		t.Error("it waited for the run")
	}
	close(end)
	s.result("a1")
	s.result("a2")
}

func TestAWorkerThatStopsHandsACompilationBack(t *testing.T) {
	s, began := newSite(t), make(chan struct{}, 1)
	w := s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)}, StopTimeout: time.Millisecond,
		Builder: fakeBuilder{inspect: func(ctx context.Context) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}},
	})
	s.publish(compileJob(t))
	soon(t, "the compilation", began)
	w.stop()
	if got := s.result("compile"); got.Outcome != job.OutcomeHandedBack {
		t.Errorf("%+v", got)
	}
	soon(t, "the worker's end", w.ended)
}
