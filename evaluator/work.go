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

// Work is one attempt: a run of a task or an evaluation of a kernel. Conclude classifies the errors of Build and Run: an
// attempt.Rejection is the submission's failure, a context's cause counts as it is, and every other error is an
// infrastructure error.
type Work interface {
	// Build does what needs no unit. Not ready, without an error, says that the result is known already.
	Build(ctx context.Context) (ready bool, err error)
	// Units is how many units of its device Run needs; it is asked after Build.
	Units() int
	// Run does the rest on the units held.
	Run(ctx context.Context, held *slots.Held) error
	// Conclude makes the result from how Build or Run ended.
	Conclude(err error) job.Result
}

// attempt makes one attempt of a job, whose events are for the one who hears; a panic there costs only this job, not the worker.
// The error is the one behind the result.
func (w *Worker) attempt(ctx context.Context, hears attempt.Publisher, s *slots.Slot, t *slots.Ticket, j job.Job) (result job.Result, err error) {
	a := attempt.New(attempt.Config{
		Job: j, Worker: w.cfg.Name, Publisher: hears, Pool: w.pool, Slot: s, Ticket: t, Log: w.log,
	})
	work := w.workOf(a)
	// releaseCPU is called up to twice: when a GPU job's building has ended, and at the end of all. The second time does nothing.
	releaseCPU := w.gate.Busy(precompileKey(j.TaskKey, j.Device))
	defer releaseCPU()
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("panic while evaluating", "attempt", j.AttemptID, "panic", r, "stack", string(debug.Stack()))
			// The panic may be the submission's doing (an answer that our parser cannot read), so that it counts against
			// it.
			err = attempt.Suspected(fmt.Errorf("the worker's own program failed: %v", r))
			result = work.Conclude(err)
		}
	}()
	err = w.do(ctx, a, work, releaseCPU)
	return work.Conclude(err), err
}

func (w *Worker) workOf(a *attempt.Attempt) Work {
	if a.Job.EvaluationID == "" {
		profiler := w.profiler()
		if strings.HasPrefix(a.Job.AttemptID, job.GaugeAttempt) {
			profiler = w.cfg.Profiler // our own kernel decides whether it works
		}
		return taskrun.New(a, w.cfg.Builder, taskrun.Tools{Profiler: profiler, Sanitizer: w.cfg.Sanitizer}, w.cfg.Measuring)
	}
	python := w.cfg.Tools.Python
	return evaluation.New(a, w.cfg.Builder, w.cfg.Nsight, python != nil && python.Packages["torch"] != "")
}

// do builds and runs the work. What runs on GPUs leaves the processors to others.
func (w *Worker) do(ctx context.Context, a *attempt.Attempt, work Work, releaseCPU func()) error {
	if a.Job.Version != job.Version {
		return fmt.Errorf("the job has version %d and this worker reads version %d: update the older one", a.Job.Version, job.Version)
	}
	ready, err := work.Build(ctx)
	if err != nil || !ready {
		return err
	}
	if a.Slot.IsGPU() {
		releaseCPU()
	}
	// Units are taken after building, and all at once in one order (slots.Pool.Hold): two jobs of several units cannot
	// wait for each other.
	held, err := a.Hold(ctx, work.Units())
	if err != nil {
		return err
	}
	w.inFlight.onSlot(a.Job.AttemptID)
	began := time.Now()
	defer func() {
		// Also after a panic or a cancellation: the holder of a unit pays for it. The site bounds the number
		// (work.charge).
		a.Result.UnitNS = int64(held.Count()) * time.Since(began).Nanoseconds()
		held.Release()
	}()
	if err := w.gaugeFirst(ctx, a, held); err != nil {
		return err
	}
	began = time.Now() // the gauge is the site's
	return work.Run(ctx, held)
}
