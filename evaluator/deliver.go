package evaluator

import (
	"context"
	"log/slog"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// The pauses before a result that could not be delivered is tried again, the first and the longest.
const publishAgain, publishAgainMost = 200 * time.Millisecond, 3 * time.Second

// handle sees one job from its arrival to its end: a result that was delivered. It ends soon after stop does.
func (w *Worker) handle(stop context.Context, s *slots.Slot, t *slots.Ticket, j job.Job) {
	ctx, cancel := context.WithCancelCause(stop)
	defer cancel(nil)
	if !w.inFlight.add(j.AttemptID, j.Expect, cancel) {
		return // it is in flight already
	}
	defer w.inFlight.remove(j.AttemptID)
	log := w.log.With("run", j.RunID, "attempt", j.AttemptID)
	result, err := w.attempt(ctx, w.cfg.Conn, s, t, j)
	if attempt.HandedBack(err) {
		log.Info("job handed back", "err", err)
	}
	w.deliver(stop, result, log)
}

// deliver hands the result over, again and again while the site is away. A job that is handed back has a result, too, which
// says so: the site then makes another attempt of it. When the worker must stop first, the site misses the attempt, and does
// so as well.
func (w *Worker) deliver(stop context.Context, result job.Result, log *slog.Logger) {
	// The loop ends only with delivery or a stop: the result is only in memory, and lost if the process dies.
	truncateResult(&result, w.cfg.Conn.MaxMessage())
	for again := (backoff{publishAgain, publishAgainMost, publishAgain}); ; {
		ctx, cancel := context.WithTimeout(context.Background(), deliveryTimeout)
		err := w.cfg.Conn.PublishResult(ctx, result)
		cancel()
		if err == nil {
			return
		}
		log.Warn("result not delivered", "err", err)
		if stop.Err() != nil {
			return
		}
		again.wait(stop)
	}
}
