package account

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models/db"
	"warpboard/views"
	"warpboard/web/site"
)

// LoginCodePage asks for the code of a command line, or shows the command line that the code belongs to with buttons to
// approve or deny it.
func (p *Account) LoginCodePage(c *fiber.Ctx) error {
	page, status := views.LoginPage{Page: p.site.Page(c, "Authorize the command line", ""), Code: c.Query("code")}, fiber.StatusOK
	if page.Code != "" {
		login, err := p.site.Store.Accounts.UnansweredLogin(c.UserContext(), page.Code)
		switch {
		case db.KindOf(err) == db.NotFound:
			page.Problem, status = err.Error(), fiber.StatusNotFound
		case err != nil:
			return err
		default:
			page.Code, page.Asks = login.FormattedCode(), true
			page.Host, page.Address, page.Since = login.ClientHost, login.Address, login.CreatedAt
		}
	}
	return p.site.Render(c, status, views.Login(page))
}

// LoginDecide approves or denies the sign-in of a command line by its code.
func (p *Account) LoginDecide(c *fiber.Ctx) error {
	user := site.Actor(c)
	yes := c.FormValue("answer") == "yes"
	if err := p.site.Store.Accounts.AnswerLogin(c.UserContext(), user, c.FormValue("code"), yes); err != nil {
		return err
	}
	page := views.LoginPage{Page: p.site.Page(c, "Authorize the command line", ""), Answered: true, Let: yes}
	return p.site.Render(c, fiber.StatusOK, views.Login(page))
}
