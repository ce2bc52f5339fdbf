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

// follow does what follows from a change, unless an error undid it: it tells watchers, and stops the attempts that were taken
// from their workers. If the process dies before, a worker goes on until its next sync tells it to stop.
func (d *Dispatcher) follow(out work.Recorded, err error) error {
	if err != nil {
		return err
	}
	moved := len(out.Evaluations) > 0
	for _, e := range out.Events {
		d.notify.RunEvent(e)
		moved = moved || e.Type == work.EventState || e.Type == job.EventTaken
	}
	for _, e := range out.Evaluations {
		d.notify.EvaluationChanged(e)
	}
	if b := out.Board; b != nil {
		d.notify.BoardChanged(b.VersionID, b.Device, b.Change)
	}
	if moved {
		d.notify.QueueChanged()
	}
	for _, id := range out.Stopped {
		if err := d.queue.Cancel(id); err != nil {
			d.log.Error("stopping an attempt", "attempt", id, "err", err)
		}
	}
	if len(out.Stopped) > 0 {
		d.Wake() // there may be room, and work that waits again
	}
	return nil
}
