package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	kernels "warpboard/evaluator/kernel"
	"warpboard/models"
)

// finishedAge is how long ago a job must have ended for cleanUp to drop it.
const finishedAge = 300 * time.Second

func (a evalAPI) evaluate(c *fiber.Ctx) error { return a.run(c, kernels.Evaluate) }

func (a evalAPI) compare(c *fiber.Ctx) error { return a.run(c, kernels.Compare) }

// run reads a request, waits until it is carried out, and answers with its result.
func (a evalAPI) run(c *fiber.Ctx, kind kernels.Kind) error {
	request, err := a.readEvaluation(c, kind)
	if err != nil {
		return refused(c, err)
	}
	e, err := a.submitEvaluation(c.UserContext(), actor(c), a.caller(c), request)
	if err != nil {
		return refused(c, err)
	}
	e, err = a.waitFor(c, e)
	if errors.Is(err, errQueueFull) {
		return a.fail(c, fiber.StatusInternalServerError, e,
			fmt.Sprintf("No GPU available within %d seconds", int(a.cfg.EvalLimits.Wait.Seconds())))
	}
	if err != nil {
		return err
	}
	return a.answer(c, e, request)
}

// answer tells how an evaluation ended.
func (a evalAPI) answer(c *fiber.Ctx, e models.Evaluation, request kernels.Request) error {
	if e.State != models.EvaluationCompleted {
		return a.fail(c, fiber.StatusInternalServerError, e, failureText(e, request))
	}
	answer, err := newEvalAnswer(e, podIP(c))
	if err != nil {
		return err
	}
	noCache(c)
	c.Set("X-GPU-Type", answer.GPUType)
	return c.JSON(answer)
}

// failureText says why an evaluation has no result.
func failureText(e models.Evaluation, request kernels.Request) string {
	switch e.State {
	case models.EvaluationTimeout:
		return fmt.Sprintf("Job timed out after %d seconds", request.Timeout)
	case models.EvaluationCancelled:
		return "Job was cancelled"
	}
	return "An unexpected error occurred: " + e.Failure
}

// job answers with the state of a job, and never with its result.
func (a evalAPI) job(c *fiber.Ctx) error {
	id := c.Params("id")
	e, err := a.store.Evaluation(c.UserContext(), id)
	if models.KindOf(err) == models.NotFound {
		noCache(c)
		return c.Status(fiber.StatusNotFound).JSON(fiber.Map{"error": fmt.Sprintf("Job %s not found", id), "status": "error"})
	}
	if err != nil {
		return err
	}
	body := fiber.Map{"job_id": e.ID, "status": e.State, "created_at": float64(e.CreatedAt.UnixMicro()) / 1e6, "error": nil}
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
	before, err := a.now().Add(-finishedAge), error(nil)
	if actor(c).IsAdmin() {
		err = a.store.PruneEvaluations(c.UserContext(), before)
	} else {
		err = a.store.PruneEvaluationsOf(c.UserContext(), a.caller(c), before)
	}
	if err != nil {
		return err
	}
	return c.JSON(fiber.Map{"status": "cleanup_completed"})
}
