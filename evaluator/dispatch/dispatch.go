package dispatch

import (
	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// Queue is the part of *queue.Queue that a Dispatcher uses. No method waits for a worker.
type Queue interface {
	// AnnounceWork notifies the workers of a device that work may wait for it. The message can be lost.
	AnnounceWork(device string) error
	// AnnounceCancellation notifies the workers that an attempt is cancelled. The message can be lost.
	AnnounceCancellation(attemptID string) error
	// DisconnectWorker disconnects the remote worker with a name. With a valid credential the worker reconnects.
	DisconnectWorker(name string)
	// MaxMessage returns the size of the largest message, in bytes.
	MaxMessage() int
}

// Notifier announces changes to viewers. Its methods must not block.
type Notifier interface {
	RunEvent(e work.RunEvent)
	BoardChanged(versionID int64, device string, change int64)
	EvaluationChanged(work.Evaluation)
	QueueChanged()
}

// announceEffect notifies viewers of a change (unless err is not nil) and stops attempts that were taken from their
// workers. If the process ends before that, the response to a worker's next heartbeat stops the attempt.
func (d *Dispatcher) announceEffect(out work.Effect, err error) error {
	if err != nil {
		return err
	}
	moved := len(out.Evaluations) > 0
	for _, e := range out.Events {
		d.notifier.RunEvent(e)
		moved = moved || e.Type == work.EventState || e.Type == job.EventAttemptStarted
	}
	for _, e := range out.Evaluations {
		d.notifier.EvaluationChanged(e)
	}
	if b := out.ChangedBoard; b != nil {
		d.notifier.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
	}
	if moved {
		d.notifier.QueueChanged()
	}
	for _, id := range out.StoppedAttempts {
		if err := d.queue.AnnounceCancellation(id); err != nil {
			d.log.Error("stopping an attempt", "attempt", id, "err", err)
		}
	}
	if len(out.StoppedAttempts) > 0 {
		d.Wake() // slots may be free, and work queued again
	}
	return nil
}
