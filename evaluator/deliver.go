package evaluator

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/slots"
)

// publishAgain is the pause before a result that could not be delivered is tried again.
const publishAgain = time.Second

// handle sees one job from its delivery to its end on the queue: a result that was delivered, or the job
// handed back. It ends soon after stop does.
// Two goroutines: this one, and the one that extends. Extending goes on while the result is delivered, and ends before
// handle does.
func (w *Worker) handle(stop context.Context, s *slots.Slot, d *queue.Delivery) {
	ctx, cancel := context.WithCancelCause(stop)
	defer cancel(nil)
	id := d.Job.AttemptID
	// The delivery is dropped unanswered: the attempt in flight finishes the job, whichever of its deliveries is
	// acknowledged.
	if !w.inFlight.add(id, d.Job.Expect, cancel) {
		return
	}
	defer w.inFlight.remove(id)
	log := w.log.With("run", d.Job.RunID, "attempt", id)
	// Not under ctx: a cancelled attempt still stops its program, and the job must not go to another worker meanwhile.
	extending, endExtending := context.WithCancel(context.WithoutCancel(stop))
	var extender sync.WaitGroup
	extender.Go(func() { w.extend(extending, d, log) })
	defer extender.Wait()
	defer endExtending()

	result, err := w.attempt(ctx, s, d.Job)
	if attempt.HandedBack(err) {
		log.Info("job handed back", "err", err)
	}
	w.deliver(stop, d, result, log)
}

// extend tells the queue now and then that the job is being worked on, until ctx ends.
func (w *Worker) extend(ctx context.Context, d *queue.Delivery, log *slog.Logger) {
	tick := time.NewTicker(w.cfg.Extend)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := d.Extend(ctx); err != nil && ctx.Err() == nil {
				log.Warn("job not extended", "err", err)
			}
		}
	}
}

// deliver publishes the result, again and again while the site is away, and then takes the job
// off the queue. A job that is handed back has a result, too, which says so: the site then makes
// another attempt of it. When the worker must stop first, the queue delivers this one again.
func (w *Worker) deliver(stop context.Context, d *queue.Delivery, result job.Result, log *slog.Logger) {
	// The loop has no end but delivery or stop: the result is in memory alone, and lost if the process dies.
	truncateResult(&result, w.cfg.Conn.MaxMessage())
	for {
		err := w.publish(d, result, log)
		if err == nil {
			return
		}
		log.Warn("result not delivered", "err", err)
		if stop.Err() != nil {
			w.requeue(d, log)
			return
		}
		select {
		case <-stop.Done():
		case <-time.After(publishAgain):
		}
	}
}

// publish tries once to deliver the result.
// Result before Done: a death between the two has the job delivered and begun again, until a
// heartbeat finds the attempt stale.
// The other way round nobody would have either.
func (w *Worker) publish(d *queue.Delivery, result job.Result, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), deliveryTimeout)
	defer cancel()
	if err := w.cfg.Conn.PublishResult(ctx, result); err != nil {
		return err
	}
	if err := d.Done(ctx); err != nil { // then it comes again, and the site drops the second result
		log.Warn("job not taken off the queue", "err", err)
	}
	return nil
}

func (w *Worker) requeue(d *queue.Delivery, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), deliveryTimeout)
	defer cancel()
	if err := d.Return(ctx); err != nil {
		log.Warn("job not handed back; the queue delivers it again when its signs of life have stopped", "err", err)
	}
}
