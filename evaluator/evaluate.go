package evaluator

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
)

// publishAgain is the pause before a result that could not be handed over is tried again.
const publishAgain = time.Second

// evaluate sees one job from its delivery to its end on the queue: a result that was handed over,
// or the job handed back. It ends soon after stop does.
func (w *Worker) evaluate(stop context.Context, s *slot, d *queue.Delivery) {
	ctx, cancel := context.WithCancelCause(stop)
	defer cancel(nil)
	id := d.Job.AttemptID
	if !w.inHand.add(id, cancel) {
		return
	}
	defer w.inHand.remove(id)
	log := w.log.With("run", d.Job.RunID, "attempt", id)
	extending, endExtending := context.WithCancel(context.WithoutCancel(stop))
	defer endExtending()
	go w.extend(extending, d, log)

	result, err := w.guarded(ctx, s, d.Job)
	if handedBack(err) {
		log.Info("job handed back", "why", err)
	}
	w.handOver(stop, d, result, log)
}

// guarded runs the pipeline; a panic there costs this job, and not the worker.
func (w *Worker) guarded(ctx context.Context, s *slot, j job.Job) (result job.Result, err error) {
	p := newPipeline(w, s, j)
	p.settle = w.quiet.enter(matter(j.TaskKey, j.Device))
	defer p.settle()
	defer func() {
		if r := recover(); r != nil {
			w.log.Error("panic while evaluating", "attempt", j.AttemptID, "panic", r, "stack", string(debug.Stack()))
			err = suspect{fmt.Errorf("the worker's own program failed: %v", r)}
			result = p.conclude(err)
		}
	}()
	err = p.run(ctx)
	return p.conclude(err), err
}

// extend says now and then that the job is in good hands.
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

// handOver publishes the result, again and again while the site is away, and then takes the job
// off the queue. A job that is handed back has a result, too, which says so: the site then makes
// another attempt of it. When the worker must stop first, the queue delivers this one again.
func (w *Worker) handOver(stop context.Context, d *queue.Delivery, result job.Result, log *slog.Logger) {
	fit(&result, w.cfg.Conn.MaxMessage())
	for {
		err := w.publish(d, result, log)
		if err == nil {
			return
		}
		log.Warn("result not handed over", "err", err)
		if stop.Err() != nil {
			w.handBack(d, log)
			return
		}
		select {
		case <-stop.Done():
		case <-time.After(publishAgain):
		}
	}
}

// publish tries once to hand the result over.
func (w *Worker) publish(d *queue.Delivery, result job.Result, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if err := w.cfg.Conn.PublishResult(ctx, result); err != nil {
		return err
	}
	if err := d.Done(ctx); err != nil { // then it comes again, and the site drops the second result
		log.Warn("job not taken off the queue", "err", err)
	}
	return nil
}

func (w *Worker) handBack(d *queue.Delivery, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if err := d.Return(ctx); err != nil {
		log.Warn("job not handed back; it comes free by itself", "err", err)
	}
}
