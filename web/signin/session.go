package signin

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/web/site"
)

// startSession gives the browser a new session, and ends its previous one, so that a session which another person
// planted or saw never becomes a signed-in one.
func (s *SignIn) startSession(c *fiber.Ctx, user accounts.User, provider string) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	secret, _, err := s.site.Store.Accounts.StartSession(c.UserContext(), accounts.NewSession{
		UserID: user.ID, Provider: provider, UserAgent: c.Get(fiber.HeaderUserAgent), Address: s.site.VisitorIP(c), Lifetime: site.SessionLife,
	})
	if err != nil {
		return err
	}
	s.site.SetCookie(c, site.SessionCookie, secret, site.SessionLife)
	s.site.ClearCookie(c, site.VisitorCookie)
	return nil
}

// endSession revokes the session that the browser sent, if it is a live one.
func (s *SignIn) endSession(c *fiber.Ctx) error {
	user, id := site.Viewer(c), site.SessionID(c)
	if user == nil || id == 0 {
		return nil
	}
	return s.site.Store.Accounts.EndSession(c.UserContext(), user.ID, id)
}

// SignOut ends the browser's session.
func (s *SignIn) SignOut(c *fiber.Ctx) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	s.site.ClearCookie(c, site.SessionCookie)
	return c.Redirect("/", fiber.StatusSeeOther)
}

// SessionRevoke ends one of the person's sessions, or with the id "others" all but this one.
func (s *SignIn) SessionRevoke(c *fiber.Ctx) error {
	if c.Params("id") != "others" {
		return site.RemoveOwn(c, s.site.Store.Accounts.EndSession, "/me")
	}
	if err := s.site.Store.Accounts.EndOtherSessions(c.UserContext(), site.Actor(c).ID, site.SessionID(c)); err != nil {
		return err
	}
	return c.Redirect("/me", fiber.StatusSeeOther)
}

// SafeNext returns where to go after signing in: the wanted address if it is a path on this site,
// "/" otherwise. Browsers read "//host", "/\host" and tabs inside a URL as another site; those are refused.
func SafeNext(wanted string) string {
	if !strings.HasPrefix(wanted, "/") || len(wanted) > 1024 {
		return "/"
	}
	for _, r := range wanted {
		if r == '\\' || r < ' ' || r == 0x7f {
			return "/"
		}
	}
	u, err := url.Parse(wanted)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "/"
	}
	if strings.HasPrefix(wanted, "//") || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, "\\") {
		return "/"
	}
	return wanted
}
