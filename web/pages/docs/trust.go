package docs

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/views"
	"warpboard/web/site"
)

// Trust explains how scores are measured and what they mean.
func (p *Docs) Trust(c *fiber.Ctx) error {
	workers, err := p.runs.WorkersFor(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	page := views.TrustPage{Page: p.site.Page(c, "What a score means", "trust"), Attacks: p.attacks,
		Contact: p.securityContact}
	for _, w := range workers {
		page.Workers = append(page.Workers, views.WorkerCard{Worker: w, Online: w.IsLive(p.site.Now())})
	}
	return p.site.Render(c, fiber.StatusOK, views.Trust(page))
}
