package api

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/clients/go"
	"warpboard/web/site"
)

// loginPollSeconds is the interval in seconds at which a command asks whether its login was approved.
const loginPollSeconds = 2

// BeginLogin responds to a sign-in request of the command line with a code. A person approves or denies the code in a
// browser.
func (a *API) BeginLogin(c *fiber.Ctx) error {
	var in client.NewLogin
	if err := readJSON(c, &in); err != nil {
		return err
	}
	secret, login, err := a.site.Store.Accounts.BeginLogin(c.UserContext(), in.Host, a.site.VisitorIP(c))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(client.Login{
		Secret: secret, Code: login.FormattedCode(), URL: a.site.Settings.BaseURL + "/login?code=" + login.FormattedCode(),
		PollSeconds: loginPollSeconds, ExpiresAt: login.ExpiresAt,
	})
}

// RedeemLogin returns the token to an approved command line, once.
func (a *API) RedeemLogin(c *fiber.Ctx) error {
	var in client.LoginPollRequest
	if err := readJSON(c, &in); err != nil {
		return err
	}
	token, user, err := a.site.Store.Accounts.RedeemLogin(c.UserContext(), in.Secret)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	answer := client.LoginAnswer{Token: token}
	if token != "" {
		answer.User = &client.User{ID: user.ID, Name: user.Name, Role: string(user.Role)}
	}
	return c.JSON(answer)
}

// Tokens lists the sender's valid tokens.
func (a *API) Tokens(c *fiber.Ctx) error {
	user := site.Actor(c)
	list, err := a.site.Store.Accounts.Tokens(c.UserContext(), user.ID)
	if err != nil {
		return err
	}
	secret, _ := site.BearerToken(c)
	answer := []client.Token{}
	for _, t := range list {
		if t.IsValidAt(a.site.Now()) {
			answer = append(answer, client.Token{
				ID: t.ID, Name: t.Name, SecretPrefix: t.Prefix, UsedByThisRequest: t.HasSecret(secret),
				CreatedAt: t.CreatedAt, LastUsedAt: t.UsedAt, ExpiresAt: t.ExpiresAt,
			})
		}
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.JSON(fiber.Map{"tokens": answer})
}

// RevokeToken revokes one of the sender's tokens.
func (a *API) RevokeToken(c *fiber.Ctx) error {
	user := site.Actor(c)
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := a.site.Store.Accounts.RevokeToken(c.UserContext(), user.ID, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
