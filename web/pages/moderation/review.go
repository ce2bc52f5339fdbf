package moderation

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/review"
	"warpboard/views"
	"warpboard/views/format"
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

// DisqualifyAll takes several runs off their boards for one reason, once the person has confirmed it.
func (m *Moderation) DisqualifyAll(c *fiber.Ctx) error {
	if c.FormValue("confirmed") == "" {
		return m.askDisqualify(c)
	}
	return m.decideAll(c, "disqualified", m.site.Store.Disqualify)
}

// askDisqualify asks whether to disqualify the ticked runs that still wait for a review.
func (m *Moderation) askDisqualify(c *fiber.Ctx) error {
	ids, err := tickedRuns(c)
	if err != nil {
		return err
	}
	rows, err := m.site.Store.ReviewQueue(c.UserContext(), site.Actor(c), models.ReviewFilter{Runs: ids, Limit: reviewRows})
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return site.Invalid("run", "None of these runs is waiting for your review.")
	}
	title := fmt.Sprintf("Disqualify %s?", format.Plural(len(rows), "run", "runs"))
	return m.site.Render(c, fiber.StatusOK, views.ReviewConfirm(views.ReviewPage{
		Page: m.site.Page(c, title, "moderation"), Filter: reviewFilter(c.FormValue), Rows: rows,
	}, c.FormValue("reason")))
}

// tickedRuns are the runs that a form decides about.
func tickedRuns(c *fiber.Ctx) (ids []int64, err error) {
	ticked := c.Request().PostArgs().PeekMulti("run")
	if len(ticked) == 0 || len(ticked) > reviewRows {
		return nil, site.Invalid("run", "Select at least one run, and at most %d.", reviewRows)
	}
	for _, text := range ticked {
		id, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil, site.Invalid("run", "A run is given by its number, not by %.20q.", text)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// decideAll decides about the ticked runs. Runs that were reviewed by then are left out.
func (m *Moderation) decideAll(c *fiber.Ctx, done string, decide func(context.Context, accounts.User, int64, string) ([]boards.Change, error)) error {
	ids, err := tickedRuns(c)
	if err != nil {
		return err
	}
	for _, id := range ids {
		changes, err := decide(c.UserContext(), site.Actor(c), id, c.FormValue("reason"))
		if err != nil && db.KindOf(err) != db.Conflict {
			return err
		}
		m.announce(changes)
	}
	return c.Redirect(views.ReviewURL(reviewFilter(c.FormValue), "done", done), fiber.StatusSeeOther)
}
