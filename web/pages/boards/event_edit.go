package boards

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/events"
	"warpboard/views"
	"warpboard/web/site"
)

// EventNew shows the form of a new event.
func (p *Boards) EventNew(c *fiber.Ctx) error {
	if err := site.Actor(c).CheckPermission(accounts.CreateTask, accounts.OwnerIDs{}); err != nil {
		return err
	}
	start := p.site.Store.Events.Now().Truncate(time.Hour).Add(24 * time.Hour)
	return p.eventForm(c, "", events.EventSettings{StartsAt: start, EndsAt: start.Add(24 * time.Hour),
		PointsRuleText: "5/3/1"}, nil)
}

// EventCreate creates an event.
func (p *Boards) EventCreate(c *fiber.Ctx) error {
	in, err := readEventSettings(c)
	var made events.Event
	if err == nil {
		made, err = p.site.Store.Events.Create(c.UserContext(), site.Actor(c), in)
	}
	if err != nil {
		return p.eventForm(c, "", in, err)
	}
	return site.Redirect(c, views.EventURL(made.Slug)+"?done=saved")
}

// EventEdit shows the form of an event.
func (p *Boards) EventEdit(c *fiber.Ctx) error {
	in, err := p.storedEventSettings(c)
	if err != nil {
		return err
	}
	return p.eventForm(c, c.Params("slug"), in, nil)
}

// storedEventSettings returns the stored settings of the event in the path, if the viewer may edit it.
func (p *Boards) storedEventSettings(c *fiber.Ctx) (in events.EventSettings, err error) {
	found, err := p.site.Store.Events.Event(c.UserContext(), c.Params("slug"))
	if err != nil {
		return in, err
	}
	if err := site.Actor(c).CheckPermission(accounts.EditEvent,
		accounts.OwnerIDs{AuthorID: found.OwnerID}); err != nil {
		return in, err
	}
	tasks, err := p.site.Store.Events.Tasks(c.UserContext(), found.ID)
	in = events.EventSettings{Title: found.Title, Description: found.Description, StartsAt: found.StartsAt, EndsAt: found.EndsAt, FrozenAt: found.FrozenAt,
		PointsRuleText: found.PointsRuleText, EntrantsAreTeams: found.EntrantsAreTeams, CommentsClosed: found.CommentsClosed}
	for _, task := range tasks {
		in.Tasks = append(in.Tasks, task.Slug)
	}
	return in, err
}

// EventDelete deletes an event. Its tasks remain.
func (p *Boards) EventDelete(c *fiber.Ctx) error {
	in, err := p.storedEventSettings(c)
	if err != nil {
		return err
	}
	if err := p.site.Store.Events.Delete(c.UserContext(), site.Actor(c), c.Params("slug"), c.FormValue("confirm")); err != nil {
		return p.eventForm(c, c.Params("slug"), in, err)
	}
	return site.Redirect(c, "/events?done=event-gone")
}

// EventClone creates a copy of an event and of its tasks.
func (p *Boards) EventClone(c *fiber.Ctx) error {
	in, err := p.storedEventSettings(c)
	if err != nil {
		return err
	}
	start, err := readTime(c, "starts")
	var made events.Event
	if err == nil {
		made, err = p.site.Store.CloneEvent(c.UserContext(), site.Actor(c), c.Params("slug"), c.FormValue("title"), start)
	}
	if err != nil {
		return p.eventForm(c, c.Params("slug"), in, err)
	}
	return site.Redirect(c, views.EventURL(made.Slug)+"?done=saved")
}

// EventUpdate stores the settings of an event.
func (p *Boards) EventUpdate(c *fiber.Ctx) error {
	slug := c.Params("slug")
	in, err := readEventSettings(c)
	if err == nil {
		_, err = p.site.Store.Events.Update(c.UserContext(), site.Actor(c), slug, in)
	}
	if err != nil {
		return p.eventForm(c, slug, in, err)
	}
	return site.Redirect(c, views.EventURL(slug)+"?done=saved")
}

// eventForm renders the form of an event, with the reason if it was refused.
func (p *Boards) eventForm(c *fiber.Ctx, slug string, in events.EventSettings, cause error) error {
	status, heading := fiber.StatusOK, "New event"
	if slug != "" {
		heading = "Edit the event"
	}
	page := views.EventForm{Page: p.site.Page(c, heading, "events"), Slug: slug, Heading: heading, Settings: in}
	if cause != nil {
		refused := site.FailureFromError(cause)
		if refused.Status >= 500 || refused.Status == fiber.StatusForbidden {
			return cause
		}
		page.RefusalReason, status = refused.Message, refused.Status
	}
	tasks, err := p.site.Store.Catalog.Tasks(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if task.EditableBy(site.Actor(c)) {
			choice := views.EventTaskChoice{TaskRef: site.TaskLink(task)}
			if other, ok := p.site.Store.Events.EventOfTask(task.ID); ok && other.Slug != slug {
				choice.OtherEventTitle = other.Title
			}
			page.TaskChoices = append(page.TaskChoices, choice)
		}
	}
	return p.site.Render(c, status, views.EventEdit(page))
}

func readEventSettings(c *fiber.Ctx) (in events.EventSettings, err error) {
	in = events.EventSettings{
		Title:            c.FormValue("title"),
		Description:      c.FormValue("about"),
		PointsRuleText:   c.FormValue("points"),
		EntrantsAreTeams: c.FormValue("by_team") != "",
		CommentsClosed:   c.FormValue("comments_closed") != "",
	}
	order := map[string]int{}
	for _, slug := range c.Context().PostArgs().PeekMulti("task") {
		in.Tasks = append(in.Tasks, string(slug))
		// a task without a number has 0, so it is first
		order[string(slug)], _ = strconv.Atoi(c.FormValue("order-" + string(slug)))
	}
	slices.SortStableFunc(in.Tasks, func(a, b string) int { return order[a] - order[b] })
	if in.StartsAt, err = readTime(c, "starts"); err != nil {
		return in, err
	}
	if in.EndsAt, err = readTime(c, "ends"); err != nil {
		return in, err
	}
	frozen, err := readTime(c, "frozen")
	if !frozen.IsZero() {
		in.FrozenAt = &frozen
	}
	return in, err
}

// readTime reads a UTC time from a form. An empty field is the zero time.
func readTime(c *fiber.Ctx, name string) (time.Time, error) {
	text := c.FormValue(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} { // browsers leave out seconds that are 0
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, site.Invalid(name, "%q is not a date and time like 2030-01-31T18:00:00.", text)
}

// EventReveal publishes frozen results: those of the lowest-ranked entrant whose results are still frozen, or all.
func (p *Boards) EventReveal(c *fiber.Ctx) error {
	waiting, _ := strconv.Atoi(c.FormValue("waiting")) // missing or invalid: 0
	if waiting = max(waiting, 0); c.FormValue("who") == "all" {
		waiting = models.RevealAllResults
	}
	name, changes, err := p.site.Store.RevealResults(c.UserContext(), site.Actor(c), c.Params("slug"), waiting)
	if err != nil {
		return err
	}
	for _, b := range changes {
		p.site.Hub.BoardChanged(b.VersionID, b.Device, b.ChangeNumber)
	}
	to := views.EventURL(c.Params("slug"))
	if name == "" {
		return site.Redirect(c, to+"?done=revealed")
	}
	return site.Redirect(c, to+templ.SafeURL("?revealed="+url.QueryEscape(name)))
}
