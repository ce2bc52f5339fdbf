package signin

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/web/site"
)

// startSession gives the browser a new session and ends its previous one. A session that another person set or read
// (session fixation) thus never becomes a signed-in one.
func (s *SignIn) startSession(c *fiber.Ctx, user accounts.User, provider string) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	secret, _, err := s.site.Store.Accounts.StartSession(c.UserContext(), accounts.NewSession{
		UserID: user.ID, Provider: provider, UserAgent: c.Get(fiber.HeaderUserAgent), Address: s.site.VisitorIP(c), Lifetime: site.SessionLifetime,
	})
	if err != nil {
		return err
	}
	s.site.SetCookie(c, site.SessionCookie, secret, site.SessionLifetime)
	s.site.ClearCookie(c, site.VisitorCookie)
	return nil
}

// endSession revokes the session in the browser's cookie, if it is valid.
func (s *SignIn) endSession(c *fiber.Ctx) error {
	user, id := site.Viewer(c), site.SessionID(c)
	if user == nil || id == 0 {
		return nil
	}
	return s.site.Store.Accounts.EndSession(c.UserContext(), user.ID, id)
}

// SignOut ends the viewer's session.
func (s *SignIn) SignOut(c *fiber.Ctx) error {
	if err := s.endSession(c); err != nil {
		return err
	}
	s.site.ClearCookie(c, site.SessionCookie)
	return c.Redirect("/", fiber.StatusSeeOther)
}

// SessionRevoke ends one of the viewer's sessions, or with the ID "others" all except the current one.
func (s *SignIn) SessionRevoke(c *fiber.Ctx) error {
	if c.Params("id") != "others" {
		return site.RemoveOwnObject(c, s.site.Store.Accounts.EndSession, "/me")
	}
	if err := s.site.Store.Accounts.EndOtherSessions(c.UserContext(), site.Actor(c).ID, site.SessionID(c)); err != nil {
		return err
	}
	return c.Redirect("/me", fiber.StatusSeeOther)
}

// SafeRedirectPath returns wanted if it is a path on this site, or "/". Browsers interpret "//host", "/\\host", and
// tabs in a URL as another site, so these are refused.
func SafeRedirectPath(wanted string) string {
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
