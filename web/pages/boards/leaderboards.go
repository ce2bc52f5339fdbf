package boards

import (
	"context"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/boards"
	"warpboard/views"
	"warpboard/web/site"
)

// leaderboardRowsPerPage is the number of people on one page of the leaderboards.
const leaderboardRowsPerPage = 50

// activeDays is the number of days before now whose submissions the leaderboards count.
const activeDays = 30

// Leaderboards ranks people by their points over all tasks. It makes two queries, and two more after boards have
// changed.
func (p *Boards) Leaderboards(c *fiber.Ctx) error {
	scope, err := site.ReadTotalsQuery(c)
	if err != nil {
		return err
	}
	page := views.LeaderboardsPage{Page: p.site.Page(c, "Leaderboards", "leaderboards"), Search: views.PointsSearch{
		Device: scope.Device, From: c.Query("from"), To: c.Query("to"), PageNo: site.PageNumber(c, "page")}, Now: p.site.Now()}
	totals, err := p.site.Store.Boards.PeopleTotals(c.UserContext(), scope)
	if err != nil {
		return err
	}
	if at := totals.IndexOfPerson(int64(c.QueryInt("person"))); at >= 0 {
		page.Search.PageNo = at/leaderboardRowsPerPage + 1
	}
	page.Families, page.Found = totals.DeviceFamilies, len(totals.People)
	if err := p.addRankingPage(c.UserContext(), totals, &page); err != nil {
		return err
	}
	page.LinkPreview = &views.LinkPreview{
		Title:       "Leaderboards",
		Description: "Points of people over all tasks, by place on the boards.",
		URL:         p.site.Settings.BaseURL + page.Search.URL(),
		ImageURL:    p.site.PreviewImageURL(),
	}
	return p.site.Render(c, fiber.StatusOK, views.Leaderboards(page))
}

// addRankingPage sets one page of the ranking, and the viewer's row if it is not on that page.
func (p *Boards) addRankingPage(ctx context.Context, totals boards.PeopleTotals, page *views.LeaderboardsPage) error {
	page.LastPage = (len(totals.People) + leaderboardRowsPerPage - 1) / leaderboardRowsPerPage
	from := min((page.Search.PageNo-1)*leaderboardRowsPerPage, len(totals.People))
	to := min(from+leaderboardRowsPerPage, len(totals.People))
	list, own := totals.People[from:to:to], -1
	if page.Viewer != nil {
		own = totals.IndexOfPerson(page.Viewer.ID)
	}
	away := own >= 0 && (own < from || own >= to)
	if away {
		list = append(list, totals.People[own])
	}
	rows, err := p.site.Store.Boards.AddPeopleNames(ctx, list, page.Now.Add(-activeDays*24*time.Hour))
	if away && err == nil {
		page.Own, rows = &rows[len(rows)-1], rows[:len(rows)-1]
	}
	page.Rows = rows
	return err
}
