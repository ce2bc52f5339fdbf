package evaluator

import (
	"context"
	"slices"

	"warpboard/evaluator/selftest"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/taskrun"
)

// profiler returns the profiler for runs, or nil if there is none or it does not work.
func (w *Worker) profiler() taskrun.Profiler {
	if w.profilerFailed.Load() {
		return nil
	}
	return w.cfg.Profiler
}

// recordSanitizerSupport stores, for the page of devices, whether the machine's GPUs support mode sanitize.
func (w *Worker) recordSanitizerSupport() {
	if !slices.ContainsFunc(w.slots.AllSlots(), func(s *slots.Slot) bool { return s.IsGPU() }) {
		return
	}
	detail := "Not found: mode sanitize is not offered here"
	if w.cfg.Sanitizer != nil {
		detail = w.cfg.Sanitizer.Executable.Version
	}
	w.testResults.recordMachine("compute-sanitizer", nil, detail)
}

// checkProfiler profiles a test kernel on an idle GPU until that succeeds once, to show that Nsight Compute works on
// the machine. Runs are profiled before that, too. If the profiler stops working later, profiles fail.
func (w *Worker) checkProfiler(ctx context.Context) {
	check := w.cfg.SelfTest
	if check.FirstRetryPause == 0 || w.cfg.Profiler == nil || w.cfg.Nsight == nil {
		return
	}
	pause := backoff{check.FirstRetryPause, check.MaxRetryPause, check.FirstRetryPause}
	for pause.wait(ctx) {
		gpus := slices.DeleteFunc(slices.Clone(w.slots.AllSlots()), func(s *slots.Slot) bool { return !s.IsGPU() || s.ServiceContext().Err() != nil })
		if len(gpus) == 0 {
			continue
		}
		err := w.idleScheduler.RunWhenIdle(ctx, precompileKey(selftest.TaskKey, gpus[0].Device), func(ctx context.Context) error { return w.testProfiler(ctx, gpus[0]) })
		if ctx.Err() != nil {
			return
		}
		w.testResults.recordMachine("Nsight Compute", err, "Version "+w.cfg.Nsight.Tool.Version+" counts what a small known kernel does")
		w.profilerFailed.Store(err != nil)
		if err == nil {
			return
		}
		w.log.Error("nothing is profiled", "err", err)
	}
}

// testProfiler profiles the slot's first test program, unless the same profiler passed before.
func (w *Worker) testProfiler(ctx context.Context, s *slots.Slot) error {
	tool := w.cfg.Nsight.Tool
	key := selftest.Key("ncu "+tool.ProgramPath+" "+tool.Version, w.slots.DescribeAll(s))
	if !w.cfg.SelfTest.PassRecord.PassedAt(key).IsZero() {
		return nil
	}
	programs, err := selftest.Programs(s.Slot, w.cfg.Toolchain)
	if err != nil || len(programs) == 0 {
		return err
	}
	p := programs[0].Profiled()
	result, err := w.runAttempt(ctx, NopConn{}, s, nil, p.Job)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = p.ProfileError(tool, result, err)
	if noted := w.cfg.SelfTest.PassRecord.Record(key, err == nil); noted != nil {
		w.log.Warn("the next start tests again", "err", noted)
	}
	return err
}
