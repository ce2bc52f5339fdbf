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

// maxBudgets limits the people on the page of budgets.
const maxBudgets = 50

func (p *Operation) addBudgets(c *fiber.Ctx, page *views.OperatePage) (err error) {
	if page.Budgets, page.BudgetOfAll, err = p.site.Store.Quotas.BudgetsToday(c.UserContext(), maxBudgets); err != nil {
		return err
	}
	page.Teams, err = p.site.Store.Quotas.Teams(c.UserContext(), maxBudgets)
	return err
}

// SaveBudget sets the budget of one person or of everyone. Without a number it removes the person's own budget.
func (p *Operation) SaveBudget(c *fiber.Ctx) error {
	person, err := p.readFormPerson(c)
	if err != nil {
		return p.redirectToControls(c, err)
	}
	return p.redirectToControls(c, p.site.Store.Quotas.SetBudget(c.UserContext(), site.Actor(c), person, formSeconds(c)))
}

// TeamSave creates a team, sets its budget, or adds a person to it.
func (p *Operation) TeamSave(c *fiber.Ctx) error {
	person, err := p.readFormPerson(c)
	if err != nil {
		return p.redirectToControls(c, err)
	}
	return p.redirectToControls(c, p.site.Store.Quotas.SetTeam(c.UserContext(), site.Actor(c), quota.TeamChange{
		Name:          c.FormValue("team"),
		PersonID:      person,
		BudgetSeconds: formSeconds(c),
	}))
}

// TeamRemove deletes a team.
func (p *Operation) TeamRemove(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	return p.redirectToControls(c, p.site.Store.Quotas.RemoveTeam(c.UserContext(), site.Actor(c), int64(id)))
}

// TeamMemberRemove removes a person from a team.
func (p *Operation) TeamMemberRemove(c *fiber.Ctx) error {
	id, err := c.ParamsInt("id")
	if err != nil {
		return fiber.ErrNotFound
	}
	person, err := strconv.ParseInt(c.FormValue("person"), 10, 64)
	if err != nil {
		return p.redirectToControls(c, db.Errorf(db.Invalid, "Choose who leaves the team."))
	}
	return p.redirectToControls(c, p.site.Store.Quotas.RemoveFromTeam(c.UserContext(), site.Actor(c), int64(id), person))
}

// readFormPerson returns the ID of the person named in the form, or 0 if the field is empty.
func (p *Operation) readFormPerson(c *fiber.Ctx) (int64, error) {
	name := strings.TrimSpace(c.FormValue("person"))
	if name == "" {
		return 0, nil
	}
	people, err := p.site.Store.Accounts.SearchByName(c.UserContext(), name, 2)
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

// formSeconds returns the number of seconds in a form field, or nil if it is empty.
func formSeconds(c *fiber.Ctx) *int {
	text := c.FormValue("seconds")
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		n = -1 // invalid; refused like a negative number
	}
	return &n
}
