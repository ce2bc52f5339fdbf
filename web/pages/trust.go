package pages

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

const clockRows = 50 // runs on one page of those whose clocks differ

// Trust shows what a number on the site means.
func (p *Pages) Trust(c *fiber.Ctx) error {
	workers, err := p.runs.WorkersFor(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	page := views.TrustPage{Page: p.site.Page(c, "What a score means", "trust"), Attacks: p.attacks, Contact: p.contact}
	for _, w := range workers {
		page.Workers = append(page.Workers, views.WorkerCard{Worker: w, Online: w.Live(p.site.Now())})
	}
	return p.site.Render(c, fiber.StatusOK, views.Trust(page))
}

// Clocks lists the runs whose clocks differ by more than the tolerance, for admins.
func (p *Pages) Clocks(c *fiber.Ctx) error {
	filter := models.ClockFilter{Before: int64(c.QueryInt("before")), Limit: clockRows + 1, Disturbed: c.QueryBool("disturbed")}
	list, err := p.site.Store.ClockDifferences(c.UserContext(), site.Actor(c), filter)
	if err != nil {
		return err
	}
	disturbed, err := p.site.Store.DisturbedDifferences(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	page := views.ClocksPage{Page: p.site.Page(c, "Clock mismatches", "moderation"), Rows: list, Disturbed: disturbed, All: filter.Disturbed}
	if len(list) > clockRows {
		page.Rows, page.Older = list[:clockRows], list[clockRows-1].RunID
	}
	return p.site.Render(c, fiber.StatusOK, views.Clocks(page))
}
