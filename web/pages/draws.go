package pages

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

// Draws shows what was drawn for a task's ranges, as far as it is no secret.
func (p *Pages) Draws(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	list, err := p.site.Store.Draws.Of(c.UserContext(), task, p.site.Now())
	if err != nil {
		return err
	}
	page := views.DrawsPage{Page: p.site.Page(c, "Drawn cases of "+task.Title, "tasks"), Task: site.TaskRef(task)}
	for _, d := range list {
		row := views.DrawRow{Version: d.Version, Device: d.Device, Software: d.Software.String(), Since: d.Since, Secret: d.Cases == nil}
		if !row.Secret {
			row.Tests, row.Benchmarks = d.Cases.Tests, d.Cases.Benchmarks
		}
		page.Draws = append(page.Draws, row)
	}
	return p.site.Render(c, fiber.StatusOK, views.Draws(page))
}
