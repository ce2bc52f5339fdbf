package moderation

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

const reviewRows = 25 // on one page

// Review lists the runs that wait for a look, of all tasks or of ?task=.
func (m *Moderation) Review(c *fiber.Ctx) error {
	slug := c.Query("task")
	list, err := m.site.Store.ReviewQueue(c.UserContext(), site.Actor(c), slug, int64(c.QueryInt("after")), reviewRows+1)
	if err != nil {
		return err
	}
	page := views.ReviewPage{Page: m.site.Page(c, "Runs to review", "moderation"), Task: slug, Rows: list}
	if len(list) > reviewRows {
		page.Rows, page.Next = list[:reviewRows], list[reviewRows-1].First
	}
	return m.site.Render(c, fiber.StatusOK, views.Review(page))
}
