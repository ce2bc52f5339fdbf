package moderation

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/views"
	"warpboard/web/site"
)

// Similar shows which sources of different people on a task's boards have much in common.
func (m *Moderation) Similar(c *fiber.Ctx) error {
	ctx, viewer := c.UserContext(), site.Actor(c)
	task, err := m.runs.VisibleTask(ctx, viewer, c.Params("slug"))
	if err != nil {
		return err
	}
	if err := viewer.Check(accounts.ReviewRun, accounts.Of{AuthorID: task.OwnerID}); err != nil {
		return err
	}
	given, err := m.site.Store.Catalog.CurrentBundle(ctx, task)
	if err != nil {
		return err
	}
	found, err := m.site.Store.Likeness.Find(ctx, viewer, task, given)
	if err != nil {
		return err
	}
	page := views.SimilarPage{Page: m.site.Page(c, "Similar sources", "tasks"), Task: site.TaskRef(task), Found: found}
	return m.site.Render(c, fiber.StatusOK, views.Similar(page))
}
