package web

import (
	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

const accountSubmissions = 25 // on one page

// signInPage offers the ways to sign in; who has signed in goes on to where they wanted.
func (p pages) signInPage(c *fiber.Ctx) error {
	next := safeNext(c.Query("next", "/"))
	if viewer(c) != nil {
		return c.Redirect(next, fiber.StatusSeeOther)
	}
	page := views.SignInPage{Page: p.page(c, "Sign in", ""), Developer: p.developerSignIn(c)}
	page.Next = next
	for _, provider := range p.providers {
		page.Providers = append(page.Providers, views.SignInProvider{Key: provider.name, Name: provider.label})
	}
	return p.render(c, fiber.StatusOK, views.SignIn(page))
}

// me shows one's own account.
func (p pages) me(c *fiber.Ctx) error {
	return p.showMe(c, models.Token{}, "")
}

// showToken answers with the secret of a token that was just made; it is never seen again.
func (s *Server) showToken(c *fiber.Ctx, token models.Token, secret string) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	return pages{Server: s}.showMe(c, token, secret)
}

func (p pages) showMe(c *fiber.Ctx, token models.Token, secret string) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	page := views.MePage{Page: p.page(c, "Your account", "me"), Role: string(user.Role), NewToken: secret, NewName: token.Name}
	page.Submissions, err = p.submissionRows(c.UserContext(), *user, models.SubmissionFilter{UserID: user.ID, Limit: accountSubmissions})
	if err != nil {
		return err
	}
	page.Older = len(page.Submissions) == accountSubmissions
	if err := p.addIdentities(c, user.ID, &page); err != nil {
		return err
	}
	if page.Tokens, err = p.tokenRows(c, user.ID); err != nil {
		return err
	}
	if page.Sessions, err = p.sessionRows(c, user.ID); err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, views.Me(page))
}

func (p pages) tokenRows(c *fiber.Ctx, userID int64) ([]views.TokenRow, error) {
	tokens, err := p.store.Tokens(c.UserContext(), userID)
	rows := make([]views.TokenRow, len(tokens))
	for i, t := range tokens {
		rows[i] = views.TokenRow{
			ID: t.ID, Name: t.Name, Prefix: t.Prefix, Created: t.CreatedAt,
			Used: timeOf(t.UsedAt), Expires: timeOf(t.ExpiresAt), Live: t.Live(p.now()),
		}
	}
	return rows, err
}

func (p pages) sessionRows(c *fiber.Ctx, userID int64) ([]views.SessionRow, error) {
	sessions, err := p.store.Sessions(c.UserContext(), userID)
	rows := make([]views.SessionRow, len(sessions))
	for i, session := range sessions {
		rows[i] = views.SessionRow{
			ID: session.ID, Browser: views.BrowserName(session.UserAgent), Address: session.Address, Provider: p.providerLabel(session.Provider),
			Started: session.CreatedAt, Seen: session.SeenAt, Current: session.ID == sessionID(c),
		}
	}
	return rows, err
}
