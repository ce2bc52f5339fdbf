package moderation

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

const peopleRows = 50 // on one page

// People lists who has an account.
func (m *Moderation) People(c *fiber.Ctx) error {
	search, number := strings.TrimSpace(c.Query("q")), site.PageNumber(c, "page")
	list, err := m.site.Store.Accounts.Users(c.UserContext(), site.Actor(c), search, (number-1)*peopleRows, peopleRows+1)
	if err != nil {
		return err
	}
	page := views.PeoplePage{Page: m.site.Page(c, "People", "moderation"), Search: search, Number: number, Rows: list}
	if page.More = len(list) > peopleRows; page.More {
		page.Rows = list[:peopleRows]
	}
	return m.site.Render(c, fiber.StatusOK, views.People(page))
}

// Rename changes the name of a person: one's own, or as an admin anyone's.
func (m *Moderation) Rename(c *fiber.Ctx) error {
	user := site.Actor(c)
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	changes, err := m.site.Store.Rename(c.UserContext(), user, id, c.FormValue("name"))
	if err != nil {
		return err
	}
	m.announce(changes)
	if id == user.ID {
		return site.Redirect(c, "/me?done=saved")
	}
	return site.Redirect(c, views.UserURL(id)+"?done=saved")
}

// DeleteSubmission removes a submission with its runs and results.
func (m *Moderation) DeleteSubmission(c *fiber.Ctx) error {
	user := site.Actor(c)
	seen, err := m.runs.LoadSubmission(c)
	if err != nil {
		return err
	}
	if err := m.runs.Delete(c.UserContext(), user, seen.Sub.ID, c.FormValue("reason")); err != nil {
		return err
	}
	return site.Redirect(c, views.UserURL(seen.Sub.UserID)+"?done=removed")
}
