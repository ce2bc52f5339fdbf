package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"warpboard/evaluator/job"
)

// Delivery is one job in a worker's hands. It must be extended every few seconds, well within
// Config.AckWait, and ended by Done or Return; else another worker gets the job.
// A job may be delivered to this worker twice at the same time; the two differ in ack alone, and either finishes both.
type Delivery struct {
	Job  job.Job
	conn *Conn
	ack  string // where JetStream wants it acknowledged; the site does that
}

// Extend says that the job is still being worked on.
// Lost signs of life add up: AckWait (30 s) holds about three of the worker's (8 s).
func (d *Delivery) Extend(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.tell(askExtend, claim{}); err != nil {
		return fmt.Errorf("queue: extend job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Done takes the job off the queue, after its result was published.
func (d *Delivery) Done(ctx context.Context) error {
	body, err := d.proven(claim{})
	if err == nil {
		err = d.conn.ask(ctx, askDone, body)
	}
	if err != nil {
		return fmt.Errorf("queue: finish job %s: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Deliveries is how often the job was given to a worker, this time included.
func (d *Delivery) Deliveries() int {
	about, err := parseAck(d.ack)
	if err != nil {
		return 1
	}
	return int(about.deliveries)
}

// ReturnAfter gives the job back, so that a worker gets it after a pause of Config.AckWait at most.
func (d *Delivery) ReturnAfter(ctx context.Context, pause time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.tell(askReturn, claim{Pause: pause}); err != nil {
		return fmt.Errorf("queue: pass job %s on: %w", d.Job.AttemptID, err)
	}
	return nil
}

// Return gives the job back, so that another worker gets it at once.
func (d *Delivery) Return(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.tell(askReturn, claim{}); err != nil {
		return fmt.Errorf("queue: give job %s back: %w", d.Job.AttemptID, err)
	}
	return nil
}

// tell does not wait for the site.
// A lost message is made up for: the next Extend, or redelivery after AckWait for a job that was handed back.
func (d *Delivery) tell(what string, c claim) error {
	body, err := d.proven(c)
	if err != nil {
		return err
	}
	return d.conn.nc.Publish(askSubject(d.conn.name, what), body)
}

// proven is a claim with the proof that the job was given to this worker.
func (d *Delivery) proven(c claim) ([]byte, error) {
	c.Ack, c.Secret = d.ack, d.Job.Secret
	return json.Marshal(c)
}
