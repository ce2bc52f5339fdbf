package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/slots"
)

// Publisher sends events to the site. The implementation is *queue.Conn.
type Publisher interface {
	PublishEvent(job.Event) error
}

// Config configures an Attempt.
type Config struct {
	Job        job.Job
	WorkerName string // the worker's name
	Publisher  Publisher
	Slots      *slots.Set
	Slot       *slots.Slot           // slot that received the job
	Permit     *slots.InFlightPermit // permission to use Slot for the job; nil for a check
	Log        *slog.Logger
}

// Attempt is one attempt at a job in progress: its result so far, and the events that report it. Only AnnounceCase and
// the streams of NewStageLog are safe for concurrent use.
type Attempt struct {
	Job  job.Job
	Slot *slots.Slot // slot that received the job; after AcquireSlots, the first held slot
	// SlotTimeBegan is the start of the slot time that is charged. Benchmarks of the slot come before it, and some
	// seconds in which an evaluation waits for its processes.
	SlotTimeBegan time.Time
	Result        job.Result
	Slots         *slots.Set
	Log           *slog.Logger

	workerName     string
	permit         *slots.InFlightPermit
	eventPublisher *eventPublisher
	startedAt      time.Time
	currentStage   job.Stage // stage in progress, or the last one
}

// New returns an attempt that has not started.
func New(cfg Config) *Attempt {
	j := cfg.Job
	return &Attempt{
		Job: j, Slot: cfg.Slot, Slots: cfg.Slots, Log: cfg.Log, workerName: cfg.WorkerName, permit: cfg.Permit, startedAt: time.Now(),
		eventPublisher: &eventPublisher{publisher: cfg.Publisher, worker: cfg.WorkerName, job: j, log: cfg.Log},
		Result: job.Result{
			RunID: j.RunID, AttemptID: j.AttemptID, AttemptSecret: j.AttemptSecret, EvaluationID: j.EvaluationID,
			HarnessName: harness.HarnessNameOfTask(j.Task), Machine: cfg.Slots.Describe(cfg.Slot, j.Task.Lang),
		},
	}
}

// WorkerName returns the worker's name.
func (a *Attempt) WorkerName() string { return a.workerName }

// AcquireBuild waits for a build slot and returns its sandbox slot number.
func (a *Attempt) AcquireBuild(ctx context.Context) (number int, release func(), err error) {
	return a.Slots.AcquireBuild(ctx, a.permit)
}

// AcquireSidecar waits for a sidecar, unless the job can run at once (see slots.Set.AcquireSidecar).
func (a *Attempt) AcquireSidecar(ctx context.Context) (sidecar *slots.Sidecar, release func(), err error) {
	return a.Slots.AcquireSidecar(ctx, a.Slot, a.permit, a.Job.Caller)
}

// AcquireSlots waits for n slots. The first of them becomes the attempt's slot.
func (a *Attempt) AcquireSlots(ctx context.Context, n int) (*slots.Lease, error) {
	caller := a.Job.Caller
	if a.Job.EvaluationID == "" { // a run, which has no caller
		caller = a.Job.AttemptID
	}
	held, err := a.Slots.Acquire(ctx, a.Slot, n, a.Job.AttemptID, caller)
	if err != nil {
		return nil, err
	}
	a.Slot = held.OwnSlot()
	a.RecordMachine()
	return held, nil
}

// RecordMachine stores the current state of the attempt's slot in the machine record of the result.
func (a *Attempt) RecordMachine() { a.Result.Machine = a.Slots.Describe(a.Slot, a.Job.Task.Lang) }

// BeginStageUnlessEnded begins a stage, or returns the cause of ctx if ctx has ended.
func (a *Attempt) BeginStageUnlessEnded(ctx context.Context, stage job.Stage, total int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.BeginStage(stage, total)
	return nil
}

// BeginStage announces the start of a stage with total cases.
func (a *Attempt) BeginStage(stage job.Stage, total int) {
	a.currentStage = stage
	a.eventPublisher.publish(job.Event{Type: job.EventStageStarted, Stage: stage, CaseCount: total})
}

// StoreStage stores the result of a stage, and announces it.
func (a *Attempt) StoreStage(result job.StageResult) {
	a.Result.Stages = append(a.Result.Stages, result)
	a.eventPublisher.publishStageEnd(result)
}

// InterruptionError returns the error that interrupted a stage: the cause of ctx if ctx has ended, otherwise err. It
// returns nil if err is nil. If ctx has ended, it stores the stage as cancelled, unless stage is "", which means that
// no stage had started.
func (a *Attempt) InterruptionError(ctx context.Context, stage job.Stage, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, sandbox.ErrProcessStuck) {
		a.Slot.Retire(err)
	}
	if ctx.Err() != nil {
		if stage != "" {
			now := time.Now().UTC()
			a.StoreStage(job.StageResult{Stage: stage, Status: job.StatusCancelled, StartedAt: now, EndedAt: now})
		}
		return context.Cause(ctx)
	}
	return err
}

// StageError returns nil for a stage that passed, and otherwise the error that ends the attempt.
func StageError(ctx context.Context, result job.StageResult) error {
	if result.Status == job.StatusPass {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	failure := result.Failure
	if failure == nil {
		failure = &job.Failure{Reason: fmt.Sprintf("The %s stage ended with status %q.", result.Stage, result.Status)}
	}
	if failure.IsInfrastructureError {
		return errors.New(failure.Reason)
	}
	return Rejection{failure}
}
