package evaluator

import (
	"context"
	"log/slog"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/slots"
)

// publishRetry and maxPublishRetry are the first and the longest pause before sending a result again.
const publishRetry, maxPublishRetry = 200 * time.Millisecond, 3 * time.Second

// handleJob evaluates one job and sends its result. It ends soon after stop does.
func (w *Worker) handleJob(stop context.Context, s *slots.Slot, t *slots.InFlightPermit, j job.Job) {
	ctx, cancel := context.WithCancelCause(stop)
	defer cancel(nil)
	if !w.liveAttempts.add(j.AttemptID, j.ExpectedTime, cancel) {
		return // the worker has already received this attempt
	}
	defer w.liveAttempts.remove(j.AttemptID)
	log := w.log.With("run", j.RunID, "attempt", j.AttemptID)
	result, err := w.runAttempt(ctx, w.cfg.Conn, s, t, j)
	if attempt.IsHandedBack(err) {
		log.Info("job handed back", "err", err)
	}
	w.deliverResult(stop, result, log)
}

// deliverResult sends the result until the site confirms it. A job that is returned to the site also has a result,
// which makes the site start another attempt. If the worker must stop before the confirmation, the site notices the
// missing attempt and does the same.
func (w *Worker) deliverResult(stop context.Context, result job.Result, log *slog.Logger) {
	// The result exists only in memory and is lost if the process ends, so only a confirmation or a stop ends the loop.
	truncateResult(&result, w.cfg.Conn.MaxMessage())
	for again := (backoff{publishRetry, maxPublishRetry, publishRetry}); ; {
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
