package operation

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
	"warpboard/web/site"
)

// mostBudgets is how many people the page lists.
const mostBudgets = 50

func (o *Operation) addBudgets(c *fiber.Ctx, page *views.OperatePage) error {
	list, all, err := o.Store.Today(c.UserContext(), mostBudgets)
	if err != nil {
		return err
	}
	page.BudgetOfAll = all
	for _, b := range list {
		page.Budgets = append(page.Budgets, views.BudgetRow{PersonID: b.UserID, Name: b.Name, Budget: site.BudgetOf(b), Own: b.Own})
	}
	return nil
}

// Budget limits everybody or one person; without a number it takes the person's own limit away.
func (o *Operation) Budget(c *fiber.Ctx) error {
	if _, err := site.RequireUser(c); err != nil {
		return err
	}
	var person int64
	var seconds *int
	if name := strings.TrimSpace(c.FormValue("person")); name != "" {
		people, err := o.Store.PeopleCalled(c.UserContext(), name, 2)
		if err != nil {
			return err
		}
		for _, p := range people {
			if strings.EqualFold(p.Name, name) {
				person = p.ID
			}
		}
		if person == 0 {
			return o.done(c, models.Errorf(models.Invalid, "There is nobody called %.80q.", name))
		}
	}
	if text := c.FormValue("seconds"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			n = -1 // refused as what is too small
		}
		seconds = &n
	}
	return o.done(c, o.Store.SetBudget(c.UserContext(), site.Actor(c), person, seconds))
}
