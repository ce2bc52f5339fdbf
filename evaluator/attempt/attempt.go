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

// Publisher carries events to the site; *queue.Conn is the real one.
type Publisher interface {
	PublishEvent(job.Event) error
}

// Config is the job and the worker of an attempt.
type Config struct {
	Job       job.Job
	Worker    string // its name
	Publisher Publisher
	Pool      *slots.Pool
	Slot      *slots.Slot   // to which the job was delivered
	Ticket    *slots.Ticket // of the job there; nil for a check
	Log       *slog.Logger
}

// Attempt is one try of a job: its result so far, and the events that report it. One goroutine uses it, except for Case and
// the streams of Logs.
type Attempt struct {
	Job    job.Job
	Slot   *slots.Slot // the delivery's, and from Hold on the first one that is held
	Result job.Result
	Pool   *slots.Pool
	Log    *slog.Logger

	worker string
	ticket *slots.Ticket
	events *events
	began  time.Time
	stage  job.Stage // the one that is running
}

// New returns an attempt that has not begun.
func New(cfg Config) *Attempt {
	j := cfg.Job
	return &Attempt{
		Job: j, Slot: cfg.Slot, Pool: cfg.Pool, Log: cfg.Log, worker: cfg.Worker, ticket: cfg.Ticket, began: time.Now(),
		events: &events{publisher: cfg.Publisher, worker: cfg.Worker, job: j, log: cfg.Log},
		Result: job.Result{
			RunID: j.RunID, AttemptID: j.AttemptID, Secret: j.Secret, EvaluationID: j.EvaluationID,
			Harness: harness.Name(j.Task), Machine: cfg.Pool.Describe(cfg.Slot, j.Task.Lang),
		},
	}
}

// Worker is the worker's name.
func (a *Attempt) Worker() string { return a.worker }

// AcquireBuild waits for a place to build the job; number is the sandbox's slot for that.
func (a *Attempt) AcquireBuild(ctx context.Context) (number int, release func(), err error) {
	return a.Pool.AcquireBuild(ctx, a.ticket)
}

// Hold waits for n units; the first is from now on the attempt's slot.
func (a *Attempt) Hold(ctx context.Context, n int) (*slots.Held, error) {
	held, err := a.Pool.Hold(ctx, a.Slot, n, a.Job.AttemptID)
	if err != nil {
		return nil, err
	}
	a.Slot = held.First()
	a.Describe()
	return held, nil
}

// Describe notes what is known of the attempt's slot now.
func (a *Attempt) Describe() { a.Result.Machine = a.Pool.Describe(a.Slot, a.Job.Task.Lang) }

// Enter announces a stage, unless the attempt has ended already.
func (a *Attempt) Enter(ctx context.Context, stage job.Stage, total int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	a.Begin(stage, total)
	return nil
}

// Begin announces a stage of so many cases.
func (a *Attempt) Begin(stage job.Stage, total int) {
	a.stage = stage
	a.events.publish(job.Event{Type: job.EventStage, Stage: stage, Total: total})
}

// Leave keeps what a stage left, and announces it.
func (a *Attempt) Leave(result job.StageResult) {
	a.Result.Stages = append(a.Result.Stages, result)
	a.events.ended(result)
}

// Interrupted says why a stage did not come to its end, nil when it did: ctx ended, or the machine failed.
// The stage is empty where none had begun.
func (a *Attempt) Interrupted(ctx context.Context, stage job.Stage, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if stage != "" {
			now := time.Now().UTC()
			a.Leave(job.StageResult{Stage: stage, Status: job.StatusCancelled, Started: now, Ended: now})
		}
		return context.Cause(ctx)
	}
	if errors.Is(err, sandbox.ErrStuck) {
		a.Slot.Retire(err)
	}
	return err
}

// Verdict is nil for a stage that passed, and else what ends the attempt.
func Verdict(ctx context.Context, result job.StageResult) error {
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
	if failure.Infrastructure {
		return errors.New(failure.Reason)
	}
	return Rejection{failure}
}
