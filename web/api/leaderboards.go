package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// Leaderboard responds with one page of people by points.
func (a *API) Leaderboard(c *fiber.Ctx) error {
	scope, err := site.ReadTotalsQuery(c)
	if err != nil {
		return err
	}
	totals, err := a.site.Store.Boards.PeopleTotals(c.UserContext(), scope)
	if err != nil {
		return err
	}
	answer := client.Leaderboard{Device: scope.Device, From: c.Query("from"), To: c.Query("to"), Total: len(totals.People),
		Page: site.PageNumber(c, "page"), People: []client.Ranked{}}
	from := min((answer.Page-1)*boardPageSize, answer.Total)
	list, err := a.site.Store.Boards.AddPeopleNames(c.UserContext(), totals.People[from:min(from+boardPageSize, answer.Total)], a.site.Now().AddDate(0, 0, -30))
	if err != nil {
		return err
	}
	for _, p := range list {
		ranked := client.Ranked{Rank: p.Rank, Tied: p.Tied, User: client.User{ID: p.UserID, Name: p.UserName}, Points: p.Points, Tasks: p.TaskCount,
			Gold: p.Medals[0], Silver: p.Medals[1], Bronze: p.Medals[2], Records: p.RecordCount, Submissions: p.SubmissionCount}
		if p.RecordCount > 0 {
			since := p.OldestRecordSince
			ranked.RecordSince = &since
		}
		answer.People = append(answer.People, ranked)
	}
	return c.JSON(answer)
}
