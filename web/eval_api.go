package web

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models"
)

// finishedAge is how long ago a job must have ended for cleanUp to drop it.
const finishedAge = 300 * time.Second

func (a evalAPI) evaluate(c *fiber.Ctx) error { return a.run(c, kernelrun.Evaluate) }

func (a evalAPI) compare(c *fiber.Ctx) error { return a.run(c, kernelrun.Compare) }

// run reads a request, waits until it is carried out, and answers with its result.
func (a evalAPI) run(c *fiber.Ctx, kind kernelrun.Kind) error {
	request, err := a.readEvaluation(c, kind)
	if err != nil {
		return refused(c, err)
	}
	caller, err := a.newCaller(c)
	if err != nil {
		return err
	}
	e, err := a.submitEvaluation(c.UserContext(), caller, request)
	if err != nil {
		return refused(c, err)
	}
	dropBody(c) // it may wait for minutes
	w := a.waitFor(c, e)
	if a.behindProxy(c) && !w.within(a.limits.KeepAlive) {
		a.answerLate(c, w, request)
		return nil
	}
	<-w.done
	reply, err := a.reply(w, request, podIP(c))
	if err != nil {
		return err
	}
	noCache(c)
	if reply.device != "" {
		c.Set("X-GPU-Type", reply.device)
	}
	return c.Status(reply.status).JSON(reply.body)
}

func (a evalAPI) noDevice() string {
	return fmt.Sprintf("No GPU available within %d seconds", int(a.cfg.EvalLimits.Wait.Seconds()))
}

// failureText says why an evaluation has no result.
func failureText(e models.Evaluation, request kernelrun.Request) string {
	switch e.State {
	case models.EvaluationTimeout:
		return fmt.Sprintf("Job timed out after %d seconds", request.Timeout)
	case models.EvaluationCancelled:
		return "Job was cancelled"
	}
	return "An unexpected error occurred: " + e.Failure
}

// job answers with the state of a job, and never with its result or its sources. Clients of this API have no key, so
// that of a caller without a token is told to whoever has its id.
func (a evalAPI) job(c *fiber.Ctx) error {
	id := c.Params("id")
	e, err := a.store.Evaluation(c.UserContext(), id)
	if err == nil && e.UserID != 0 && !(models.Asker{User: actor(c)}).MayRead(e) {
		err = notReadable(id)
	}
	if models.KindOf(err) == models.NotFound {
		noCache(c)
		return c.Status(fiber.StatusNotFound).JSON(fiber.Map{"error": fmt.Sprintf("Job %s not found", id), "status": "error"})
	}
	if err != nil {
		return err
	}
	body := fiber.Map{"job_id": e.ID, "status": e.State, "created_at": float64(e.QueuedAt.UnixMicro()) / 1e6, "error": nil}
	if e.Failure != "" {
		body["error"] = e.Failure
	}
	return c.JSON(body)
}

// health answers 200 while the store does.
func (a evalAPI) health(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), healthTime)
	defer cancel()
	jobs, err := a.jobStats(ctx)
	if err == nil {
		var idle int
		if idle, err = a.idleUnits(ctx); err == nil {
			return c.JSON(fiber.Map{"status": "healthy", "job_stats": jobs, "gpu_manager": fiber.Map{"available_gpus": idle}})
		}
	}
	a.log.Error("health of the evaluation API", "error", err)
	f := failureOf(err)
	c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(retrySoon.Seconds())))
	return c.Status(f.status).JSON(fiber.Map{"status": "unhealthy", "error": "the database does not answer"})
}

// cleanUp drops jobs that ended a while ago: those of the caller, or all of them for an admin.
func (a evalAPI) cleanUp(c *fiber.Ctx) error {
	caller, err := a.caller(c)
	if err != nil {
		return err
	}
	before := a.now().Add(-finishedAge)
	if caller.User.IsAdmin() {
		err = a.store.PruneEvaluations(c.UserContext(), before)
	} else {
		err = a.store.PruneEvaluationsOf(c.UserContext(), caller.Owner, before)
	}
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"status": "cleanup_completed"})
}
