package evaluator

import (
	"context"
	"errors"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
)

// Nobody is a Conn for a worker that evaluates without a site: nobody listens and no job comes.
type Nobody struct{}

// Prefetch waits for ctx to end: there is no queue.
func (Nobody) Prefetch(ctx context.Context, _ string, _ func() bool) (*queue.Delivery, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// PublishEvent drops the event.
func (Nobody) PublishEvent(job.Event) error { return nil }

// PublishResult drops the result.
func (Nobody) PublishResult(context.Context, job.Result) error { return nil }

// Heartbeat drops the heartbeat.
func (Nobody) Heartbeat(job.Heartbeat) error { return nil }

// Cancels listens to nobody.
func (Nobody) Cancels(func(string)) (stop func(), err error) { return func() {}, nil }

// Preparations hears of no task.
func (Nobody) Preparations(context.Context, []string) (<-chan job.Preparation, error) {
	return nil, nil
}

// MaxMessage is the embedded queue's.
func (Nobody) MaxMessage() int { return queue.MaxMessage }

// Evaluate takes one job through its stages on the machine's first slot of its device and returns
// the result, without the queue that Run serves. One job at a time.
func (w *Worker) Evaluate(ctx context.Context, j job.Job) (job.Result, error) {
	for _, s := range w.slots {
		if s.Device == j.Device {
			defer s.spare.close()
			result, err := w.guarded(ctx, s, j)
			if handedBack(err) {
				return result, err
			}
			return result, nil
		}
	}
	return job.Result{}, errors.New("this machine has no device " + j.Device)
}
