package operation

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/budgets"
	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// mostBudgets is how many people the page lists.
const mostBudgets = 50

func (o *Operation) addBudgets(c *fiber.Ctx, page *views.OperatePage) (err error) {
	if page.Budgets, page.BudgetOfAll, err = o.site.Store.Budgets.Today(c.UserContext(), mostBudgets); err != nil {
		return err
	}
	page.Teams, err = o.site.Store.Budgets.Teams(c.UserContext(), mostBudgets)
	return err
}

// Budget limits everyone or one person; without a number it takes the person's own limit away.
func (o *Operation) Budget(c *fiber.Ctx) error {
	person, err := o.person(c)
	if err != nil {
		return o.done(c, err)
	}
	return o.done(c, o.site.Store.Budgets.SetBudget(c.UserContext(), site.Actor(c), person, seconds(c)))
}

// Team makes a team, changes its budget, and adds a person to it.
func (o *Operation) Team(c *fiber.Ctx) error {
	person, err := o.person(c)
	if err != nil {
		return o.done(c, err)
	}
	return o.done(c, o.site.Store.Budgets.SetTeam(c.UserContext(), site.Actor(c), budgets.TeamChange{Name: c.FormValue("team"), Person: person, Seconds: seconds(c)}))
}

// TeamRemove takes a team away.
func (o *Operation) TeamRemove(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	return o.done(c, o.site.Store.Budgets.RemoveTeam(c.UserContext(), site.Actor(c), int64(id)))
}

// TeamLeave takes a person out of a team.
func (o *Operation) TeamLeave(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	person, err := strconv.ParseInt(c.FormValue("person"), 10, 64)
	if err != nil {
		return o.done(c, db.Errorf(db.Invalid, "Choose who leaves the team."))
	}
	return o.done(c, o.site.Store.Budgets.LeaveTeam(c.UserContext(), site.Actor(c), int64(id), person))
}

// person is who a form names, by the whole name; 0: no one.
func (o *Operation) person(c *fiber.Ctx) (int64, error) {
	name := strings.TrimSpace(c.FormValue("person"))
	if name == "" {
		return 0, nil
	}
	people, err := o.site.Store.Accounts.PeopleCalled(c.UserContext(), name, 2)
	if err != nil {
		return 0, err
	}
	for _, p := range people {
		if strings.EqualFold(p.Name, name) {
			return p.ID, nil
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
