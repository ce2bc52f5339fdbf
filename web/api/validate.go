package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// RunValidation queues the validation script of a task for the first entries of each board.
func (a *API) RunValidation(c *fiber.Ctx) error {
	task, err := a.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	queued, err := a.runs.Validate(c.UserContext(), site.Actor(c), task)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusAccepted).JSON(client.ValidationQueued{Task: task.Slug, Queued: queued})
}
