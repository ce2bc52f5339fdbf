package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"warpboard/evaluator/job"
)

// Delivery is one job in a worker's hands. It must be extended every few seconds, well within
// Config.AckWait, and ended by Done or Return; else another worker gets the job.
type Delivery struct {
	Job job.Job
	msg jetstream.Msg
}

// Extend says that the job is still being worked on.
func (d *Delivery) Extend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.msg.InProgress(); err != nil {
		return fmt.Errorf("queue: extend job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Done takes the job off the queue, after its result was published.
func (d *Delivery) Done(ctx context.Context) error {
	if err := d.msg.DoubleAck(ctx); err != nil {
		return fmt.Errorf("queue: finish job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Deliveries is how often the job was given to a worker, this time included.
func (d *Delivery) Deliveries() int {
	about, err := d.msg.Metadata()
	if err != nil {
		return 1
	}
	return int(about.NumDelivered)
}

// ReturnAfter gives the job back, so that a worker gets it after a pause.
func (d *Delivery) ReturnAfter(ctx context.Context, pause time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.msg.NakWithDelay(pause); err != nil {
		return fmt.Errorf("queue: pass job %s on: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Return gives the job back, so that another worker gets it at once.
func (d *Delivery) Return(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.msg.Nak(); err != nil {
		return fmt.Errorf("queue: give job %s back: %w", d.Job.AttemptID, err)
	}
	return nil
}
