package evalapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// statusCallerGone is the logged status of a request whose caller disconnected before the response, as in nginx.
const statusCallerGone = 499

// minCleanUpAge is the minimum age of the ended jobs that CleanUp removes.
const minCleanUpAge = 300 * time.Second

// Evaluate measures one kernel and responds with the result.
func (a *API) Evaluate(c *fiber.Ctx) error { return a.runEvaluation(c, kernelrun.KindEvaluate) }

// Compare measures a kernel and its reference and responds with the result.
func (a *API) Compare(c *fiber.Ctx) error { return a.runEvaluation(c, kernelrun.KindCompare) }

// runEvaluation reads a request, waits for the end of its evaluation, and responds with the result.
func (a *API) runEvaluation(c *fiber.Ctx, kind kernelrun.EvaluationKind) error {
	request, err := a.evaluations.ReadRequest(c, kind)
	if err != nil {
		return respondRequestError(c, err)
	}
	caller, err := a.evaluations.NewCaller(c)
	if err != nil {
		return err
	}
	over, err := a.site.TakeWaitPermit(c)
	if err != nil {
		return err
	}
	e, err := a.evaluations.Submit(c.UserContext(), caller, request, "")
	if err != nil {
		over()
		return respondRequestError(c, err)
	}
	site.FreeBody(c) // the request may wait for minutes without needing its body
	w := a.waitForEvaluation(c, e, over)
	if a.behindProxy(c) && !w.endsWithin(a.site.Settings.Limits.FirstByteDelay) {
		a.startResponseEarly(c, w, request)
		return nil
	}
	<-w.ended
	reply, err := a.resultResponse(w, request, evaluations.PodIP(c))
	if errors.Is(err, errCallerGone) {
		// only for the log: the caller has disconnected
		return &site.Failure{Status: statusCallerGone, Code: "caller_gone", Message: "The caller has left."}
	}
	if err != nil {
		return err
	}
	forbidCaching(c)
	if reply.device != "" {
		c.Set(evaluations.DeviceHeader, reply.device)
	}
	return c.Status(reply.status).JSON(reply.body)
}

// noDeviceText returns the message for a caller whose evaluation was not started in time by any worker.
func (a *API) noDeviceText(e work.Evaluation) string {
	text := fmt.Sprintf("No GPU available within %d seconds", int(a.evaluations.EvalLimits.MaxDeviceWait.Seconds()))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.site.RequestContext), site.RequestTimeout)
	defer cancel()
	if lack, err := a.site.Store.Fleet.MissingWorkerText(ctx, e.Device, e.Requires, a.site.Now()); err == nil && lack != "" {
		text += ": it waited for " + lack
	}
	return text
}

// failureText returns the reason why an evaluation has no result.
func failureText(e work.Evaluation, request kernelrun.Request) string {
	switch e.State {
	case work.EvaluationTimeout:
		return fmt.Sprintf("Job timed out after %d seconds", request.Timeout)
	case work.EvaluationCancelled:
		return "Job was cancelled"
	}
	return "An unexpected error occurred: " + e.FailureReason
}

// JobState responds with the state of a job, but not with its result or sources. Clients of this API have no key, so
// anyone who has the ID can read the state of a job without an owner.
func (a *API) JobState(c *fiber.Ctx) error {
	id := c.Params("id")
	e, err := a.site.Store.Work.EvaluationForPolling(c.UserContext(), id)
	if err == nil && e.UserID != 0 && !(work.Requester{User: site.Actor(c)}).MayRead(e) {
		err = evaluations.NotFoundError(id)
	}
	if db.KindOf(err) == db.NotFound {
		forbidCaching(c)
		return c.Status(fiber.StatusNotFound).JSON(fiber.Map{"error": fmt.Sprintf("Job %s not found", id), "status": "error"})
	}
	if err != nil {
		return err
	}
	body := fiber.Map{"job_id": e.ID, "status": e.State, "created_at": float64(e.QueuedAt.UnixMicro()) / 1e6, "error": nil}
	if e.FailureReason != "" {
		body["error"] = e.FailureReason
	}
	return c.JSON(body)
}

// Health responds 200 if the database is reachable.
func (a *API) Health(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), site.ProbeTimeout)
	defer cancel()
	jobs, err := a.evaluations.JobStats(ctx)
	if err == nil {
		var now evaluations.Capacity
		if now, err = a.evaluations.Capacity(ctx); err == nil {
			return c.JSON(fiber.Map{"status": "healthy", "job_stats": jobs, "gpu_manager": fiber.Map{"available_gpus": now.IdleSlots}, "backends": now.Backends})
		}
	}
	a.site.Log.Error("health of the evaluation API", "err", err)
	f := site.FailureFromError(err)
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.TemporaryRetryAfter.Seconds())))
	return c.Status(f.Status).JSON(fiber.Map{"status": "unhealthy", "error": "the database does not answer"})
}

// CleanUp removes old ended jobs: the caller's except those of the last hour, or everyone's if the caller is an admin.
func (a *API) CleanUp(c *fiber.Ctx) error {
	caller, err := a.evaluations.Caller(c)
	if err != nil {
		return err
	}
	before := a.site.Now().Add(-minCleanUpAge)
	if caller.User.IsAdmin() {
		err = a.site.Store.Work.PruneEvaluations(c.UserContext(), before)
	} else {
		err = a.site.Store.Work.PruneEvaluationsOf(c.UserContext(), caller.Owner, before)
	}
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"status": "cleanup_completed"})
}
