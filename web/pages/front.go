package pages

import (
	"cmp"
	"context"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/fleet"
	"warpboard/tasks/tags"
	"warpboard/views"
	"warpboard/web/site"
)

const (
	frontRecords   = 5  // records that the front page shows
	profileRecords = 24 // records among which it looks for one with a profile
)

// Front tells visitors what the site is, with what everyone may see; to htmx it is only the latest records.
func (p *Pages) Front(c *fiber.Ctx) error {
	records, err := p.site.Store.Boards.Records(c.UserContext(), boards.RecordFilter{Limit: profileRecords})
	if err != nil {
		return err
	}
	latest := records[:min(len(records), frontRecords)]
	c.Vary("HX-Request", fiber.HeaderCookie)
	if site.IsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.FrontRecords(latest))
	}
	page := views.FrontPage{Page: p.site.Page(c, "GPU kernels, measured", ""), Latest: latest, Attacks: p.attacks}
	page.Live = true
	page.Share = &views.Share{Title: "Warpboard", URL: p.site.Settings.BaseURL + "/", Image: p.site.Card(), Feed: "/records.atom"}
	if page.Open, page.Try, err = p.starter(c.UserContext()); err != nil {
		return err
	}
	of, roof, drawn, err := p.runs.RoofOf(c.UserContext(), records)
	if err != nil {
		return err
	}
	if drawn {
		page.Charts, page.Roof = true, &views.FrontRoof{Of: of, Roof: roof}
	}
	return p.site.Render(c, fiber.StatusOK, views.Front(page))
}

// starter counts the open tasks that everyone sees, and chooses the easiest that can run now.
func (p *Pages) starter(ctx context.Context) (open int, easiest views.TaskRef, err error) {
	all, err := p.site.Store.TaskList(ctx, accounts.User{})
	if err != nil {
		return 0, easiest, err
	}
	workers, err := p.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return 0, easiest, err
	}
	f := taskFinder{pages: p, search: views.TaskSearch{Show: "open"}, slots: fleet.SlotsOf(workers, p.site.Now(), func(fleet.Worker, job.Slot) bool { return true })}
	all = slices.DeleteFunc(all, func(t models.TaskSummary) bool { return !f.fits(t) })
	if len(all) == 0 {
		return 0, easiest, nil
	}
	first := slices.MinFunc(all, func(a, b models.TaskSummary) int {
		return cmp.Or(order(slices.ContainsFunc(a.Devices, f.online), slices.ContainsFunc(b.Devices, f.online)),
			cmp.Compare(tags.Difficulty(a.Tags), tags.Difficulty(b.Tags)))
	})
	return len(all), site.TaskRef(first.Task), nil
}
