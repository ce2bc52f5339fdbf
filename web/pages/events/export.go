package events

import (
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/views/format"
	"warpboard/web/site"
)

// CSV is a page of the standings for a spreadsheet, and all for who may edit the event: a row for each entrant and board.
func (e *Events) CSV(c *fiber.Ctx) error {
	seen, err := e.site.Store.EventFor(c.UserContext(), site.Actor(c), c.Params("slug"), c.Query("device"))
	if err != nil {
		return err
	}
	list, _ := seen.Standings.Part(site.PageNumber(c, "page"))
	if seen.EditableBy(site.Actor(c)) {
		list = seen.Standings.Rows
	}
	rows := [][]string{{"rank", "entrant", "user_id", "team_id", "total", "task", "device", "place", "score_ns", "best_ns", "points", "by_user_id", "run"}}
	for _, row := range list {
		for i, r := range row.Results {
			if b := seen.Standings.Boards[i]; r.Rank > 0 {
				rows = append(rows, []string{id(int64(row.Rank)), row.Name, id(row.UserID), id(row.TeamID), format.Exact(row.Points), b.Slug, b.Device,
					strconv.Itoa(r.Rank), format.Exact(r.ScoreNS), format.Exact(b.BestNS), format.Exact(r.Points), id(r.UserID), id(r.RunID)})
			}
		}
	}
	return site.SendCSV(c, rows)
}

// id is a number, or nothing for none.
func id(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
