package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models"
	"warpboard/models/events"
	"warpboard/views"
	"warpboard/web/site"
)

// TagSuite answers with the suite of the tasks with a tag.
func (a *API) TagSuite(c *fiber.Ctx) error {
	tag := c.Params("tag")
	suite, err := a.site.Store.TagSuite(c.UserContext(), site.Actor(c), tag, models.SuiteView{Device: c.Query("device"), Baseline: c.Query("baseline")})
	if err != nil {
		return err
	}
	return c.JSON(suiteAnswer(suite, tag, a.site.Settings.BaseURL+views.TagSuiteURL(tag), site.PageNumber(c, "page")))
}

// EventSuite answers with the suite of an event's tasks.
func (a *API) EventSuite(c *fiber.Ctx) error {
	e, suite, err := a.site.Store.EventSuite(c.UserContext(), site.Actor(c), c.Params("slug"), models.SuiteView{Device: c.Query("device"), Baseline: c.Query("baseline")})
	if err != nil {
		return err
	}
	return c.JSON(suiteAnswer(suite, e.Slug, a.site.Settings.BaseURL+views.EventSuiteURL(e.Slug), site.PageNumber(c, "page")))
}

func suiteAnswer(s events.Suite, name, url string, page int) client.Suite {
	answer := client.Suite{Name: name, URL: url, Device: s.Device, Devices: s.Devices, Baseline: s.Baseline, Baselines: append([]string{}, s.Baselines...),
		Boards: []client.SuiteBoard{}, Total: len(s.Rows), Page: page, Entrants: []client.SuiteRow{}}
	for _, b := range s.Boards {
		answer.Boards = append(answer.Boards, client.SuiteBoard{Task: b.Slug, Title: b.Title, BaselineNS: b.BaselineNS})
	}
	for _, row := range s.Part(page) {
		of := client.SuiteRow{Name: row.Name, UserID: row.UserID, TeamID: row.TeamID, Correct: row.Correct(), Geomean: row.Geomean, Results: []client.SuiteResult{}}
		for _, p := range views.SuiteSteps() {
			of.FastP = append(of.FastP, client.FastP{P: p, Share: row.FastP(p)})
		}
		for i, r := range row.Results {
			if r.Rank > 0 {
				of.Results = append(of.Results, client.SuiteResult{Task: s.Boards[i].Slug, ScoreNS: r.ScoreNS, Speedup: row.Speedups[i], RunID: r.RunID})
			}
		}
		answer.Entrants = append(answer.Entrants, of)
	}
	return answer
}
