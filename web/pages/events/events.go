package events

import (
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/events"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

// Events is the pages of events.
type Events struct {
	site *site.Site
	code *views.Highlighter
}

// New returns the pages of events.
func New(site *site.Site, code *views.Highlighter) *Events { return &Events{site: site, code: code} }

// List shows all events.
func (e *Events) List(c *fiber.Ctx) error {
	list, err := e.site.Store.Events.List(c.UserContext())
	if err != nil {
		return err
	}
	return e.site.Render(c, fiber.StatusOK, views.Events(views.EventsPage{Page: e.site.Page(c, "Events", "events"), Now: e.site.Store.Events.Now(), Events: list}))
}

// Show is the page of an event, or to htmx all below its title.
func (e *Events) Show(c *fiber.Ctx) error {
	page, err := e.page(c)
	if err != nil {
		return err
	}
	if page.About, err = e.code.Description(page.Event.About); err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.IsFragment(c) {
		return e.site.Render(c, fiber.StatusOK, views.EventNow(page))
	}
	return e.site.Render(c, fiber.StatusOK, views.Event(page))
}

// Wall is the standings to project.
func (e *Events) Wall(c *fiber.Ctx) error {
	page, err := e.page(c)
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.IsFragment(c) {
		return e.site.Render(c, fiber.StatusOK, views.EventWallNow(page))
	}
	return e.site.Render(c, fiber.StatusOK, views.EventWall(page))
}

func (e *Events) page(c *fiber.Ctx) (page views.EventPage, err error) {
	seen, err := e.site.Store.EventFor(c.UserContext(), site.Actor(c), c.Params("slug"), c.Query("device"))
	if err != nil {
		return page, err
	}
	page = views.EventPage{Page: e.site.Page(c, seen.Title, "events"), Event: seen.Listed, Now: e.site.Store.Events.Now(),
		Standings: seen.Standings, Device: c.Query("device"), MayEdit: seen.EditableBy(site.Actor(c))}
	page.Live = true
	for _, task := range seen.Tasks {
		page.Tasks = append(page.Tasks, views.EventTask{TaskRef: site.TaskRef(task), Devices: task.Devices})
		for _, device := range task.Devices {
			if !slices.Contains(page.Devices, device) {
				page.Devices = append(page.Devices, device)
			}
		}
	}
	if name := c.Query("revealed"); name != "" && page.MayEdit {
		page.Notice = revealed(seen.Standings, name)
	}
	if page.MayEdit && seen.Frozen(page.Now) {
		page.Waiting, err = e.waiting(c, seen.ID)
	}
	return page, err
}

// revealed is the sentence about an entrant whose results were revealed just now.
func revealed(standings events.Standings, name string) string {
	for _, row := range standings.Rows {
		if row.Name == name && row.Rank > 0 {
			return fmt.Sprintf("Revealed %s: now %s, %s points.", name, format.Ordinal(row.Rank, row.Tied), format.Exact(row.Points))
		}
	}
	return "Revealed " + name + ": no points."
}

func (e *Events) waiting(c *fiber.Ctx, id int64) (sum views.EventWaiting, err error) {
	list, err := e.site.Store.EventWaiting(c.UserContext(), id)
	for _, w := range list {
		sum.Entrants, sum.Submissions, sum.Live = sum.Entrants+1, sum.Submissions+w.Submissions, sum.Live+w.Live
	}
	return sum, err
}
