package moderation

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// DismissAll closes the flags of several runs for one reason. Runs that were reviewed by then are left out.
func (m *Moderation) DismissAll(c *fiber.Ctx) error {
	for i, text := range c.Request().PostArgs().PeekMulti("run") {
		id, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || i == reviewRows {
			return site.Invalid("run", "Choose at most %d runs by their numbers.", reviewRows)
		}
		changes, err := m.site.Store.Dismiss(c.UserContext(), site.Actor(c), id, c.FormValue("reason"))
		if err != nil && db.KindOf(err) != db.Conflict {
			return err
		}
		m.announce(changes)
	}
	return c.Redirect("/review?done=dismissed&task="+url.QueryEscape(c.FormValue("task")), fiber.StatusSeeOther)
}

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
	if page.Comments, err = m.site.Store.Comments.Reported(c.UserContext(), site.Actor(c), reviewRows); err != nil {
		return err
	}
	return m.site.Render(c, fiber.StatusOK, views.Review(page))
}
