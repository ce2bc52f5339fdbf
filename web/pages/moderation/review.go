package moderation

import (
	"context"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/views"
	"warpboard/web/site"
)

const reviewRows = 50 // on one page, and in one decision

// Review lists the runs that wait for a look, as a filter chooses them.
func (m *Moderation) Review(c *fiber.Ctx) error {
	page := views.ReviewPage{Page: m.site.Page(c, "Runs to review", "moderation"), Filter: reviewFilter(c.Query), Ticked: c.Query("tick")}
	page.Filter.After, page.Filter.Limit = int64(c.QueryInt("after")), reviewRows+1
	var err error
	if page.Rows, err = m.site.Store.ReviewQueue(c.UserContext(), site.Actor(c), page.Filter); err != nil {
		return err
	}
	if page.Counts, err = m.site.Store.ReviewCounts(c.UserContext(), site.Actor(c)); err != nil {
		return err
	}
	if len(page.Rows) > reviewRows {
		page.Rows, page.Next = page.Rows[:reviewRows], page.Rows[reviewRows-1].First
	}
	if page.Comments, err = m.site.Store.Comments.Reported(c.UserContext(), site.Actor(c), reviewRows); err != nil {
		return err
	}
	return m.site.Render(c, fiber.StatusOK, views.Review(page))
}

// reviewFilter reads the filter from the fields of an address or a form.
func reviewFilter(field func(string, ...string) string) models.ReviewFilter {
	return models.ReviewFilter{Task: field("task"), Kind: review.Kind(field("kind")), Priority: views.PriorityOf(field("priority"))}
}

// DismissAll closes the flags of several runs for one reason.
func (m *Moderation) DismissAll(c *fiber.Ctx) error {
	return m.decideAll(c, "dismissed", m.site.Store.Dismiss)
}

// DisqualifyAll takes several runs off their boards for one reason.
func (m *Moderation) DisqualifyAll(c *fiber.Ctx) error {
	return m.decideAll(c, "disqualified", m.site.Store.Disqualify)
}

// decideAll decides about the ticked runs. Runs that were reviewed by then are left out.
func (m *Moderation) decideAll(c *fiber.Ctx, done string, decide func(context.Context, accounts.User, int64, string) ([]boards.Change, error)) error {
	ticked := c.Request().PostArgs().PeekMulti("run")
	if len(ticked) == 0 || len(ticked) > reviewRows {
		return site.Invalid("run", "Select at least one run, and at most %d.", reviewRows)
	}
	for _, text := range ticked {
		id, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return site.Invalid("run", "A run is given by its number, not by %.20q.", text)
		}
		changes, err := decide(c.UserContext(), site.Actor(c), id, c.FormValue("reason"))
		if err != nil && db.KindOf(err) != db.Conflict {
			return err
		}
		m.announce(changes)
	}
	return c.Redirect(views.ReviewURL(reviewFilter(c.FormValue), "done", done), fiber.StatusSeeOther)
}
