package evaluator

import (
	"context"
	"errors"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
)

// NopConn is a Conn for a worker without a site. It drops all messages and receives no jobs.
type NopConn struct{}

// Receive waits for ctx to end.
func (NopConn) Receive(ctx context.Context, _ string, _ func() job.WorkRequest, _ <-chan struct{}) (job.Job, error) {
	<-ctx.Done()
	return job.Job{}, ctx.Err()
}

// PublishEvent drops the event.
func (NopConn) PublishEvent(job.Event) error { return nil }

// PublishResult drops the result.
func (NopConn) PublishResult(context.Context, job.Result) error { return nil }

// Sync drops the worker's state.
func (NopConn) Sync(context.Context, job.Heartbeat) error { return nil }

// SubscribeCancellations never calls the function.
func (NopConn) SubscribeCancellations(func(string)) error { return nil }

// NextPrecompileJob returns no task.
func (NopConn) NextPrecompileJob(context.Context, string, []int64) (job.PrecompileJob, error) {
	return job.PrecompileJob{}, nil
}

// MaxMessage returns the limit of the embedded server.
func (NopConn) MaxMessage() int { return queue.MaxMessage }

// Evaluate runs one job on the machine's first slot for its device and returns the result. It needs neither Run nor a
// site. It is not safe for concurrent use. An evaluation with a Caller keeps its program for the caller's next
// evaluation until Close.
func (w *Worker) Evaluate(ctx context.Context, j job.Job) (job.Result, error) {
	for _, s := range w.slots.AllSlots() {
		if s.Device == j.Device {
			result, err := w.runAttempt(ctx, w.cfg.Conn, s, nil, j)
			if attempt.IsHandedBack(err) {
				return result, err
			}
			return result, nil
		}
	}
	return job.Result{}, errors.New("this machine has no device " + j.Device)
}

// Close ends the programs that were kept for later evaluations.
func (w *Worker) Close() {
	for _, s := range w.slots.AllSlots() {
		s.CachedProgram.Close()
		for _, sidecar := range s.Sidecars {
			sidecar.Close()
		}
	}
}
