package operation

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/models/quota"
	"warpboard/views"
	"warpboard/web/site"
)

// mostBudgets limits the listed people.
const mostBudgets = 50

func (p *Operation) addBudgets(c *fiber.Ctx, page *views.OperatePage) (err error) {
	if page.Budgets, page.BudgetOfAll, err = p.site.Store.Quotas.Today(c.UserContext(), mostBudgets); err != nil {
		return err
	}
	page.Teams, err = p.site.Store.Quotas.Teams(c.UserContext(), mostBudgets)
	return err
}

// Budget limits everyone or one person; without a number it takes the person's own limit away.
func (p *Operation) Budget(c *fiber.Ctx) error {
	person, err := p.person(c)
	if err != nil {
		return p.done(c, err)
	}
	return p.done(c, p.site.Store.Quotas.SetBudget(c.UserContext(), site.Actor(c), person, seconds(c)))
}

// Team makes a team, changes its budget, and adds a person to it.
func (p *Operation) Team(c *fiber.Ctx) error {
	person, err := p.person(c)
	if err != nil {
		return p.done(c, err)
	}
	return p.done(c, p.site.Store.Quotas.SetTeam(c.UserContext(), site.Actor(c), quota.TeamChange{Name: c.FormValue("team"), Person: person, Seconds: seconds(c)}))
}

// TeamRemove takes a team away.
func (p *Operation) TeamRemove(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	return p.done(c, p.site.Store.Quotas.RemoveTeam(c.UserContext(), site.Actor(c), int64(id)))
}

// TeamLeave takes a person out of a team.
func (p *Operation) TeamLeave(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	person, err := strconv.ParseInt(c.FormValue("person"), 10, 64)
	if err != nil {
		return p.done(c, db.Errorf(db.Invalid, "Choose who leaves the team."))
	}
	return p.done(c, p.site.Store.Quotas.LeaveTeam(c.UserContext(), site.Actor(c), int64(id), person))
}

// person returns the person whose full name is in the form, or 0.
func (p *Operation) person(c *fiber.Ctx) (int64, error) {
	name := strings.TrimSpace(c.FormValue("person"))
	if name == "" {
		return 0, nil
	}
	people, err := p.site.Store.Accounts.PeopleCalled(c.UserContext(), name, 2)
	if err != nil {
		return 0, err
	}
	for _, one := range people {
		if strings.EqualFold(one.Name, name) {
			return one.ID, nil
		}
	}
	return 0, db.Errorf(db.Invalid, "There is no person called %.80q.", name)
}

// seconds is a form's number; nil: none.
func seconds(c *fiber.Ctx) *int {
	text := c.FormValue("seconds")
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = -1 // refused as what is too small
	}
	return &n
}
