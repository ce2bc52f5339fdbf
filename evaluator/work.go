package evaluator

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun/evaluation"
	"warpboard/evaluator/slots"
	"warpboard/evaluator/taskrun"
)

// Work is one attempt at a run of a task or an evaluation of a kernel. Conclude classifies the errors of Build and Run:
// an attempt.Rejection is a failure of the submission, the cause of a context stays as it is, and every other error is
// an infrastructure error.
type Work interface {
	// Build does the part that needs no slot. If it returns false without an error, the result is complete, and Run is
	// skipped.
	Build(ctx context.Context) (ready bool, err error)
	// SlotCount returns the number of slots that Run needs. Call it after Build.
	SlotCount() int
	// Run does the rest on the acquired slots.
	Run(ctx context.Context, held *slots.Lease) error
	// Conclude returns the result after Build or Run ended with err.
	Conclude(err error) job.Result
}

// runAttempt runs one attempt of a job and publishes its events to publisher. A panic ends only this job, not the
// worker. The error is the cause of the result.
func (w *Worker) runAttempt(
	ctx context.Context, publisher attempt.Publisher, s *slots.Slot, t *slots.InFlightPermit, j job.Job,
) (result job.Result, err error) {
	a := attempt.New(attempt.Config{
		Job: j, WorkerName: w.cfg.Name, Publisher: publisher, Slots: w.slots, Slot: s, Permit: t, Log: w.log,
	})
	work := w.workOfAttempt(a)
	// releaseCPU is called twice for a GPU job: after building, and at the end. The second call does nothing.
	releaseCPU := w.idleScheduler.MarkBusy(precompileKey(j.TaskHash, j.Device))
	defer releaseCPU()
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("panic while evaluating", "attempt", j.AttemptID, "panic", r, "stack", string(debug.Stack()))
			// The submission may have caused the panic, for example by output that the worker's parser cannot handle,
			// so the loss counts against it.
			err = attempt.MarkCausedByJob(fmt.Errorf("the worker's own program failed: %v", r))
			result = work.Conclude(err)
		}
	}()
	err = w.buildAndRun(ctx, a, work, releaseCPU)
	return work.Conclude(err), err
}

func (w *Worker) workOfAttempt(a *attempt.Attempt) Work {
	if a.Job.EvaluationID == "" {
		profiler := w.profiler()
		if strings.HasPrefix(a.Job.AttemptID, job.SlotBenchmarkIDPrefix) {
			profiler = w.cfg.Profiler // also after a failed test: this kernel tests the profiler
		}
		return taskrun.New(a, w.cfg.Builder, taskrun.NVIDIATools{Profiler: profiler, Sanitizer: w.cfg.Sanitizer}, w.cfg.MeasureConfig)
	}
	if a.Job.Mode == job.ModeCompile {
		return evaluation.NewCompilation(a, w.cfg.Builder)
	}
	python := w.cfg.Toolchain.Python
	return evaluation.New(a, w.cfg.Builder, w.cfg.Nsight, python != nil && python.Packages["torch"] != "")
}

// buildAndRun builds and runs the work. A job on a GPU releases the processors after building.
func (w *Worker) buildAndRun(ctx context.Context, a *attempt.Attempt, work Work, releaseCPU func()) error {
	if a.Job.MessageVersion != job.MessageVersion {
		return fmt.Errorf("the job has version %d and this worker reads version %d: update the older one", a.Job.MessageVersion, job.MessageVersion)
	}
	ready, err := work.Build(ctx)
	if err != nil || !ready {
		return err
	}
	if a.Slot.IsGPU() {
		releaseCPU()
	}
	// Slots are acquired after building, all at once and in a fixed order (slots.Set.Acquire), so that two jobs with
	// several slots cannot deadlock.
	held, err := a.AcquireSlots(ctx, work.SlotCount())
	if err != nil {
		return err
	}
	w.liveAttempts.markOnSlot(a.Job.AttemptID)
	a.SlotTimeBegan = time.Now()
	defer func() {
		// The time on slots is also recorded after a panic or a cancellation, because the submitter is charged for it.
		// The site limits the number of slots (models/work/charge.go).
		a.Result.SlotNS = int64(held.SlotCount()) * time.Since(a.SlotTimeBegan).Nanoseconds()
		held.Release()
	}()
	if err := w.benchmarkBeforeRun(ctx, a, held); err != nil {
		return err
	}
	a.SlotTimeBegan = time.Now()
	return work.Run(ctx, held)
}
