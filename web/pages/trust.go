package pages

import (
	"github.com/gofiber/fiber/v2"

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
	list, err := p.site.Store.ClockDifferences(c.UserContext(), site.Actor(c), int64(c.QueryInt("before")), clockRows+1)
	if err != nil {
		return err
	}
	page := views.ClocksPage{Page: p.site.Page(c, "Clock mismatches", "moderation"), Rows: list}
	if len(list) > clockRows {
		page.Rows, page.Older = list[:clockRows], list[clockRows-1].RunID
	}
	return p.site.Render(c, fiber.StatusOK, views.Clocks(page))
}
