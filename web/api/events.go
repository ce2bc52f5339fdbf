package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/models"
	"warpboard/models/events"
	"warpboard/views"
	"warpboard/web/site"
)

// Events lists the events of the site.
func (a *API) Events(c *fiber.Ctx) error {
	list, err := a.site.Store.Events.List(c.UserContext())
	if err != nil {
		return err
	}
	answer := make([]client.EventSummary, len(list))
	for i, e := range list {
		answer[i] = a.eventSummary(e)
	}
	return c.JSON(fiber.Map{"events": answer})
}

// Event responds with an event and a page of its standings.
func (a *API) Event(c *fiber.Ctx) error {
	at, err := site.QueryTime(c, "at")
	if err != nil {
		return err
	}
	seen, err := a.site.Store.EventForViewer(c.UserContext(), site.Actor(c), c.Params("slug"), c.Query("device"), at)
	if err != nil {
		return err
	}
	return c.JSON(a.eventAnswer(seen, site.PageNumber(c, "page")))
}

func (a *API) eventSummary(e events.EventRow) client.EventSummary {
	return client.EventSummary{Slug: e.Slug, Title: e.Title, URL: a.site.Settings.BaseURL + string(views.EventURL(e.Slug)), Organizer: client.User{ID: e.OwnerID, Name: e.OwnerName},
		StartsAt: e.StartsAt, EndsAt: e.EndsAt, FrozenAt: e.FrozenAt, RevealedAt: e.RevealedAt, Points: e.PointsRuleText, ByTeam: e.EntrantsAreTeams}
}

func (a *API) eventAnswer(seen models.VisibleEvent, page int) client.EventStandings {
	now := a.site.Store.Events.Now()
	answer := client.EventStandings{EventSummary: a.eventSummary(seen.EventRow), About: seen.Description, Now: now, Frozen: seen.IsFrozen(now),
		Page: page, Boards: []client.EventBoard{}, Standings: []client.EventRow{}}
	boards := seen.Standings.Boards
	for _, b := range boards {
		answer.Boards = append(answer.Boards, client.EventBoard{
			Task:   b.Slug,
			Title:  b.Title,
			Device: b.Device,
			BestNS: b.BestNS,
		})
	}
	rows, total := seen.Standings.PageRows(page)
	answer.Total = total
	for _, row := range rows {
		of := client.EventRow{
			Rank: row.Rank, Name: row.Name, UserID: row.UserID, TeamID: row.TeamID, Points: row.Points,
			Results: []client.EventResult{},
		}
		for i, r := range row.Results {
			if r.Rank > 0 {
				of.Results = append(of.Results, client.EventResult{Task: boards[i].Slug, Device: boards[i].Device, Place: r.Rank,
					ScoreNS: r.ScoreNS, Points: r.Points, UserID: r.UserID, RunID: r.RunID})
			}
		}
		answer.Standings = append(answer.Standings, of)
	}
	return answer
}
