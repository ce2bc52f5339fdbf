package boards

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/events"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

// Events lists all events.
func (p *Boards) Events(c *fiber.Ctx) error {
	list, err := p.site.Store.Events.List(c.UserContext())
	if err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Events(views.EventsPage{
		Page:   p.site.Page(c, "Events", "events"),
		Now:    p.site.Store.Events.Now(),
		Events: list,
	}))
}

// Event shows the page of an event. For htmx it renders only the part below the title.
func (p *Boards) Event(c *fiber.Ctx) error {
	page, err := p.eventPage(c)
	if err != nil {
		return err
	}
	if page.Description, err = p.highlighter.RenderDescription(page.Event.Description); err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.EventNow(page))
	}
	return p.site.Render(c, fiber.StatusOK, views.Event(page))
}

// EventWall shows the standings in large type for a projector.
func (p *Boards) EventWall(c *fiber.Ctx) error {
	page, err := p.eventPage(c)
	if err != nil {
		return err
	}
	c.Vary("HX-Request")
	if site.WantsFragment(c) {
		return p.site.Render(c, fiber.StatusOK, views.EventWallNow(page))
	}
	return p.site.Render(c, fiber.StatusOK, views.EventWall(page))
}

func (p *Boards) eventPage(c *fiber.Ctx) (page views.EventPage, err error) {
	at, err := site.QueryTime(c, "at")
	if err != nil {
		return page, err
	}
	seen, err := p.site.Store.EventForViewer(c.UserContext(), site.Actor(c), c.Params("slug"), c.Query("device"), at)
	if err != nil {
		return page, err
	}
	page = views.EventPage{StandingsAt: seen.StandingsAt, Page: p.site.Page(c, seen.Title, "events"), Event: seen.EventRow, Now: p.site.Store.Events.Now(),
		Standings: seen.Standings, Device: c.Query("device"), MayEdit: seen.EditableBy(site.Actor(c))}
	page.HasStream = at.IsZero()
	for _, task := range seen.Tasks {
		page.Tasks = append(page.Tasks, views.EventTask{TaskRef: site.TaskLink(task), Devices: task.Devices})
		for _, device := range task.Devices {
			if !slices.Contains(page.Devices, device) {
				page.Devices = append(page.Devices, device)
			}
		}
	}
	if name := c.Query("revealed"); name != "" && page.MayEdit {
		page.Notice = revealSentence(seen.Standings, name)
	}
	if page.MayEdit && seen.IsFrozen(page.Now) {
		page.UnrevealedCounts, err = p.unrevealedCounts(c, seen.ID)
	}
	return page, err
}

// revealSentence describes the entrant whose results were just revealed.
func revealSentence(standings events.Standings, name string) string {
	for _, row := range standings.Rows {
		if row.Name == name && row.Rank > 0 {
			return fmt.Sprintf("Revealed %s: now %s, %s points.", name, format.Ordinal(row.Rank, row.Tied), format.ExactNumber(row.Points))
		}
	}
	return "Revealed " + name + ": no points."
}

func (p *Boards) unrevealedCounts(c *fiber.Ctx, id int64) (sum views.UnrevealedCounts, err error) {
	list, err := p.site.Store.PeopleWithFrozenResults(c.UserContext(), id)
	for _, w := range list {
		sum.Entrants, sum.Submissions, sum.RunningRuns = sum.Entrants+1, sum.Submissions+w.SubmissionCount, sum.RunningRuns+w.UnfinishedRuns
	}
	return sum, err
}

// EventCSV responds with a page of the standings as CSV, or with all standings for editors of the event. It has one row
// per entrant and board.
func (p *Boards) EventCSV(c *fiber.Ctx) error {
	at, err := site.QueryTime(c, "at")
	if err != nil {
		return err
	}
	seen, err := p.site.Store.EventForViewer(c.UserContext(), site.Actor(c), c.Params("slug"), c.Query("device"), at)
	if err != nil {
		return err
	}
	list, _ := seen.Standings.PageRows(site.PageNumber(c, "page"))
	if seen.EditableBy(site.Actor(c)) {
		list = seen.Standings.Rows
	}
	rows := [][]string{{"rank", "entrant", "user_id", "team_id", "total", "task", "device", "place", "score_ns", "best_ns", "points", "by_user_id", "run"}}
	for _, row := range list {
		for i, r := range row.Results {
			if b := seen.Standings.Boards[i]; r.Rank > 0 {
				rows = append(rows, []string{idText(int64(row.Rank)), row.Name, idText(row.UserID), idText(row.TeamID), format.ExactNumber(row.Points), b.Slug, b.Device,
					strconv.Itoa(r.Rank), format.ExactNumber(r.ScoreNS), format.ExactNumber(b.BestNS), format.ExactNumber(r.Points), idText(r.UserID), idText(r.RunID)})
			}
		}
	}
	return site.SendCSV(c, rows)
}

// idText formats an ID; "" for 0.
func idText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
