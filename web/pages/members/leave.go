package members

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// Leave ends the viewer's own membership of a task.
func (p *Members) Leave(c *fiber.Ctx) error {
	task, err := p.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err == nil {
		err = p.site.Store.Members.Leave(c.UserContext(), site.Actor(c), task)
	}
	if err != nil {
		return err
	}
	return site.Redirect(c, "/tasks?done=left")
}
