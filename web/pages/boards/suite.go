package boards

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models/events"
	"warpboard/views"
	"warpboard/views/format"
	"warpboard/web/site"
)

// TagSuite shows the suite of the tasks with one tag.
func (p *Boards) TagSuite(c *fiber.Ctx) error {
	tag := c.Params("tag")
	suite, err := p.site.Store.SuiteOfTag(c.UserContext(), site.Actor(c), tag, site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	page := views.SuitePage{Page: p.site.Page(c, "Suite "+tag, "tasks"), Path: views.TagSuiteURL(tag), Suite: suite}
	page.SetParent(format.UpperFirst(tag), views.CollectionURL(tag))
	return p.showSuite(c, page)
}

// EventSuite shows the page that compares people over all tasks of an event.
func (p *Boards) EventSuite(c *fiber.Ctx) error {
	e, suite, err := p.site.Store.SuiteOfEvent(c.UserContext(), site.Actor(c), c.Params("slug"), site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	page := views.SuitePage{
		Page:  p.site.Page(c, e.Title+" as a suite", "events"),
		Path:  views.EventSuiteURL(e.Slug),
		Suite: suite,
	}
	page.SetParent(e.Title, views.EventURL(e.Slug))
	return p.showSuite(c, page)
}

// showSuite adds the two entrants that are compared: those of the query, or the first two.
func (p *Boards) showSuite(c *fiber.Ctx, page views.SuitePage) error {
	rows := page.Suite.Rows
	find := func(key string, first int) *events.SuiteRow {
		for i := range rows {
			if views.EntrantKey(rows[i].Entrant) == c.Query(key) {
				return &rows[i]
			}
		}
		if c.Query(key) == "" && first < len(rows) {
			return &rows[first]
		}
		return nil
	}
	page.FirstRow, page.SecondRow = find("a", 0), find("b", 1)
	if page.FirstRow != nil && page.SecondRow != nil && page.FirstRow.Entrant == page.SecondRow.Entrant {
		page.SecondRow = nil
	}
	page.FullWidth = len(rows) > 0
	return p.site.Render(c, fiber.StatusOK, views.Suite(page))
}

// TagSuiteCSV responds with a page of a tag's suite as CSV, with one row per entrant and board.
func (p *Boards) TagSuiteCSV(c *fiber.Ctx) error {
	suite, err := p.site.Store.SuiteOfTag(c.UserContext(), site.Actor(c), c.Params("tag"), site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	return p.sendSuite(c, suite)
}

// EventSuiteCSV responds with a page of an event's suite as CSV.
func (p *Boards) EventSuiteCSV(c *fiber.Ctx) error {
	_, suite, err := p.site.Store.SuiteOfEvent(c.UserContext(), site.Actor(c), c.Params("slug"), site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	return p.sendSuite(c, suite)
}

func (p *Boards) sendSuite(c *fiber.Ctx, suite events.Suite) error {
	list, more := suite.PageRows(site.PageNumber(c, "page"))
	if more {
		p.site.LinkNextPage(c)
	}
	rows := [][]string{{"entrant", "user_id", "team_id", "correct", "geomean", "fast_1", "task", "device", "baseline", "baseline_ns", "score_ns", "speedup", "run"}}
	exact := func(v float64) string {
		if v == 0 {
			return ""
		}
		return format.ExactNumber(v)
	}
	for _, row := range list {
		for i, b := range suite.Boards {
			r := row.Results[i]
			rows = append(rows, []string{row.Name, idText(row.UserID), idText(row.TeamID), format.ExactNumber(row.SolvedShare()), exact(row.Geomean), format.ExactNumber(row.FastP(1)),
				b.Slug, b.Device, suite.BaselineName, exact(b.BaselineNS), exact(r.ScoreNS), exact(row.Speedups[i]), idText(r.RunID)})
		}
	}
	return site.SendCSV(c, rows)
}
