package pages

import (
	"cmp"
	"slices"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

// Home lists the tasks.
func (p *Pages) Home(c *fiber.Ctx) error {
	list, err := p.Store.TaskSummaries(c.UserContext(), site.Actor(c))
	if err != nil {
		return err
	}
	page := views.HomePage{Page: p.Page(c, "Tasks", "tasks")}
	for _, t := range list {
		if card := p.taskCard(t); card.Deadline.Closed() {
			page.Closed = append(page.Closed, card)
		} else {
			page.Open = append(page.Open, card)
		}
	}
	slices.SortStableFunc(page.Open, soonestFirst)
	return p.Render(c, fiber.StatusOK, views.Home(page))
}

// soonestFirst orders open tasks by their deadline; those without one come last, the liveliest first.
func soonestFirst(a, b views.TaskCard) int {
	if a.Deadline.Set() != b.Deadline.Set() {
		if a.Deadline.Set() {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Deadline.Time.Unix(), b.Deadline.Time.Unix()), cmp.Compare(b.People(), a.People()))
}

func (p *Pages) taskCard(t models.TaskSummary) views.TaskCard {
	return views.TaskCard{
		TaskRef: site.TaskRef(t.Task), Lang: views.LangName(t.Lang), Deadline: p.DeadlineOf(t.Task), Boards: boardTops(t.Boards),
	}
}

func boardTops(boards []models.BoardSummary) []views.BoardTop {
	tops := make([]views.BoardTop, len(boards))
	for i, b := range boards {
		tops[i] = views.BoardTop{Device: b.Device, People: int(b.Size)}
		for _, st := range b.Leaders {
			tops[i].Top = append(tops[i].Top, views.TopEntry{
				Rank: st.Rank, Tied: st.Tied, Person: site.PersonOf(st.UserID, st.UserName), ScoreNS: st.ScoreNS,
			})
		}
	}
	return tops
}
