package dispatch

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// Jobs is what the Dispatcher needs of the queue; *queue.Queue has it.
type Jobs interface {
	// Publish puts a job into its device's queue; an attempt that is published twice is there once.
	Publish(ctx context.Context, j job.Job) error
	// Prepare tells the workers of its device that are there now; the hint may be lost.
	Prepare(p job.Preparation) error
	// Forget drops the attempt's job so that no (other) worker gets it.
	Forget(ctx context.Context, attemptID string) error
	// Cancel tells the worker that has the attempt to stop.
	Cancel(ctx context.Context, attemptID string) error
	// Kick disconnects the remote worker of that name.
	Kick(name string)
}

// Reports is what the Recorder needs of the queue; *queue.Queue has it. The first three call fn
// until ctx ends.
type Reports interface {
	Events(ctx context.Context, fn func(job.Event)) error
	Heartbeats(ctx context.Context, fn func(job.Heartbeat)) error
	// Results delivers a result again until fn has returned nil for it.
	Results(ctx context.Context, fn func(context.Context, job.Result) error) error
	Cancel(ctx context.Context, attemptID string) error
	// Kick disconnects the remote worker of that name; with its credential it comes back.
	Kick(name string)
}

// Notifier is told what watchers should see now. Its methods must not block.
type Notifier interface {
	RunEvent(e work.RunEvent)
	BoardChanged(versionID int64, device string, change int64)
	EvaluationChanged(work.Evaluation)
	QueueChanged()
}

// announce tells watchers of what is stored.
func announce(n Notifier, out work.Recorded) {
	moved := len(out.Evaluations) > 0
	for _, e := range out.Events {
		n.RunEvent(e)
		moved = moved || e.Type == work.EventState || e.Type == job.EventTaken
	}
	for _, e := range out.Evaluations {
		n.EvaluationChanged(e)
	}
	if b := out.Board; b != nil {
		n.BoardChanged(b.VersionID, b.Device, b.Change)
	}
	if moved {
		n.QueueChanged()
	}
}
