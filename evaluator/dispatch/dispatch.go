package dispatch

import (
	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// Queue is what a Dispatcher needs of the queue; *queue.Queue has it. None of it waits for a worker.
type Queue interface {
	// WorkFor tells the workers of a device that work may wait for it; it may be lost.
	WorkFor(device string) error
	// Cancel tells the worker that has the attempt to stop; it may be lost.
	Cancel(attemptID string) error
	// Kick disconnects the remote worker of that name; with its credential it comes back.
	Kick(name string)
	// MaxMessage is the largest message in bytes.
	MaxMessage() int
}

// Notifier passes changes on to watchers. Its methods must not block.
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
