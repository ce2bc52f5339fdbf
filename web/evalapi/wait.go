package evalapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/web/site"
)

// restartRetryAfter is the Retry-After time for callers whose request was interrupted by a restart.
const restartRetryAfter = 5 * time.Second

// Reasons to stop waiting for an evaluation.
var (
	errCallerGone   = errors.New("the caller has left")
	errNoDeviceFree = errors.New("no device came free")
)

// evaluationWaiter waits for the end of an evaluation on behalf of a caller.
type evaluationWaiter struct {
	id         string
	cancel     context.CancelCauseFunc
	ended      chan struct{} // closed when last and err are set
	evaluation work.Evaluation
	err        error
}

// waitForEvaluation starts to wait for the end of an evaluation in the background. When the wait ends, it calls over.
// It cancels the evaluation if the caller disconnects or no device becomes free in time. Until w.ended is closed,
// nothing else may read from the caller's connection.
func (a *API) waitForEvaluation(c *fiber.Ctx, e work.Evaluation, over func()) *evaluationWaiter {
	ctx, cancel := context.WithCancelCause(a.site.StreamContext)
	w := &evaluationWaiter{id: e.ID, cancel: cancel, ended: make(chan struct{}), evaluation: e}
	stop := site.OnDisconnect(c, func() { cancel(errCallerGone) })
	end := func() { stop(); cancel(nil); over(); close(w.ended) }
	waiting := a.site.SendingGroup.Go(func() {
		defer end()
		w.evaluation, w.err = a.awaitEnd(ctx, cancel, e)
	})
	if !waiting {
		w.err = stoppingError(e)
		end()
	}
	return w
}

// stoppingError returns the response for a caller whose evaluation is unfinished when the server stops.
func stoppingError(e work.Evaluation) error {
	return &site.Failure{Status: fiber.StatusServiceUnavailable, Code: "stopping", RetryAfter: restartRetryAfter,
		Message: "The site is being restarted. The evaluation continues; its result will be at /api/v1/evaluations/" + e.ID}
}

func (a *API) awaitEnd(
	ctx context.Context, cancel context.CancelCauseFunc, e work.Evaluation,
) (work.Evaluation, error) {
	giveUp := e.QueuedAt.Add(a.evaluations.EvalLimits.MaxDeviceWait)
	last, err := a.evaluations.Await(ctx, e.ID, func(e work.Evaluation) bool {
		if e.StartedAt == nil && !e.State.IsFinal() && time.Now().After(giveUp) {
			cancel(errNoDeviceFree)
		}
		return e.State.IsFinal()
	})
	if err != nil && ctx.Err() != nil { // the store may return its own error for the ended context
		err = context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errCallerGone), errors.Is(err, errNoDeviceFree):
		a.cancelEvaluation(e.ID, err)
	case err != nil && a.site.StreamContext.Err() != nil:
		err = stoppingError(e)
	}
	if last.ID == "" { // the evaluation could not be read again
		last = e
	}
	return last, err
}

// cancelEvaluation cancels an evaluation whose caller no longer waits.
func (a *API) cancelEvaluation(id string, why error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.site.RequestContext), site.RequestTimeout)
	defer cancel()
	err := a.site.Dispatcher.CancelEvaluation(ctx, id, fmt.Sprintf("It was cancelled: %v.", why))
	if err != nil && db.KindOf(err) != db.Conflict {
		a.site.Log.Error("an evaluation without a waiting client goes on", "evaluation", id, "err", err)
	}
}
