package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models/events"
	"warpboard/views"
	"warpboard/web/site"
)

// TagSuite responds with the suite of the tasks with a tag.
func (a *API) TagSuite(c *fiber.Ctx) error {
	tag := c.Params("tag")
	suite, err := a.site.Store.SuiteOfTag(c.UserContext(), site.Actor(c), tag, site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	return a.sendSuite(c, suite, tag, views.TagSuiteURL(tag))
}

// EventSuite responds with the suite of an event's tasks.
func (a *API) EventSuite(c *fiber.Ctx) error {
	e, suite, err := a.site.Store.SuiteOfEvent(c.UserContext(), site.Actor(c), c.Params("slug"), site.ReadSuiteQuery(c))
	if err != nil {
		return err
	}
	return a.sendSuite(c, suite, e.Slug, views.EventSuiteURL(e.Slug))
}

func (a *API) sendSuite(c *fiber.Ctx, s events.Suite, name, path string) error {
	page := site.PageNumber(c, "page")
	rows, more := s.PageRows(page)
	if more {
		a.site.LinkNextPage(c)
	}
	answer := client.Suite{Name: name, URL: a.site.Settings.BaseURL + path, Device: s.Device, Devices: s.Devices, Baseline: s.BaselineName, Baselines: site.NonNilSlice(s.BaselineNames),
		Boards: []client.SuiteBoard{}, Total: len(s.Rows), Page: page, Entrants: []client.SuiteRow{}}
	for _, b := range s.Boards {
		answer.Boards = append(answer.Boards, client.SuiteBoard{Task: b.Slug, Title: b.Title, BaselineNS: b.BaselineNS})
	}
	for _, row := range rows {
		of := client.SuiteRow{
			Name: row.Name, UserID: row.UserID, TeamID: row.TeamID, CorrectShare: row.SolvedShare(),
			Geomean: row.Geomean, Results: []client.SuiteResult{},
		}
		for _, p := range views.FastPValues() {
			of.FastPPoints = append(of.FastPPoints, client.FastP{Speedup: p, TaskShare: row.FastP(p)})
		}
		for i, r := range row.Results {
			if r.Rank > 0 {
				of.Results = append(of.Results, client.SuiteResult{
					Task:    s.Boards[i].Slug,
					ScoreNS: r.ScoreNS,
					Speedup: row.Speedups[i],
					RunID:   r.RunID,
				})
			}
		}
		answer.Entrants = append(answer.Entrants, of)
	}
	return c.JSON(answer)
}
