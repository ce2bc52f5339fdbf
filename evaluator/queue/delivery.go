package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"warpboard/evaluator/job"
)

// Delivery is one job in a worker's hands. It must be extended every few seconds, well within
// Config.AckWait, and ended by Done or Return; else another worker gets the job.
type Delivery struct {
	Job  job.Job
	conn *Conn
	ack  string // where JetStream wants it acknowledged; the site does that
}

// Extend says that the job is still being worked on.
func (d *Delivery) Extend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.tell(askExtend); err != nil {
		return fmt.Errorf("queue: extend job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Done takes the job off the queue, after its result was published.
func (d *Delivery) Done(ctx context.Context) error {
	body, err := d.claim()
	if err == nil {
		err = d.conn.ask(ctx, askDone, body)
	}
	if err != nil {
		return fmt.Errorf("queue: finish job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Return gives the job back, so that another worker gets it at once.
func (d *Delivery) Return(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.tell(askReturn); err != nil {
		return fmt.Errorf("queue: give job %s back: %w", d.Job.AttemptID, err)
	}
	return nil
}

// tell does not wait for the site.
func (d *Delivery) tell(what string) error {
	body, err := d.claim()
	if err != nil {
		return err
	}
	return d.conn.nc.Publish(askSubject(d.conn.name, what), body)
}

func (d *Delivery) claim() ([]byte, error) {
	return json.Marshal(claim{Ack: d.ack, Secret: d.Job.Secret})
}
