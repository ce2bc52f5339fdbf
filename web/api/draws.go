package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// Draws lists the drawn values of a task's ranges.
func (a *API) Draws(c *fiber.Ctx) error {
	task, err := a.runs.VisibleTask(c.UserContext(), site.Actor(c), c.Params("slug"))
	if err != nil {
		return err
	}
	list, err := a.site.Store.Scores.NewestDraws(c.UserContext(), task, a.site.Now())
	if err != nil {
		return err
	}
	answer := []client.Draw{}
	for _, d := range list {
		one := client.Draw{
			Version:     d.Version,
			Device:      d.Device,
			Epoch:       d.Software.String(),
			DrawnAt:     d.Since,
			CasesSecret: d.Cases == nil,
		}
		if !one.CasesSecret {
			one.Tests, one.Benchmarks = d.Cases.Tests, d.Cases.Benchmarks
		}
		answer = append(answer, one)
	}
	return c.JSON(fiber.Map{"draws": answer})
}
