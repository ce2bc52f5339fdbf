package site

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/views"
)

const (
	SessionCookie   = "wb_session"        // name of the cookie with the session's secret
	SessionLifetime = 30 * 24 * time.Hour // lifetime of a session and its cookie
)

// Viewer returns the person who sent the request; nil for a visitor.
func Viewer(c *fiber.Ctx) *accounts.User {
	user, _ := c.Locals(localViewer).(*accounts.User)
	return user
}

// Actor returns the person who sent the request; the zero User for a visitor.
func Actor(c *fiber.Ctx) accounts.User {
	if user := Viewer(c); user != nil {
		return *user
	}
	return accounts.User{}
}

// SessionID returns the ID of the request's session, or 0.
func SessionID(c *fiber.Ctx) int64 {
	id, _ := c.Locals(localSession).(int64)
	return id
}

// SessionProvider returns the provider with which the request's session began, or "".
func SessionProvider(c *fiber.Ctx) string {
	name, _ := c.Locals(localProvider).(string)
	return name
}

// IdentifySender identifies the sender of a request by a personal token, or else by the session. It marks the response
// as private, so that shared caches do not store it.
func (s *Site) IdentifySender(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "private, no-cache")
	if err := s.RecognizeSender(c); err != nil {
		return err
	}
	return c.Next()
}

// RecognizeSender identifies the sender as IdentifySender does, but does not call the next handler.
func (s *Site) RecognizeSender(c *fiber.Ctx) error {
	if secret, ok := BearerToken(c); ok {
		_, user, err := s.Store.Accounts.TokenUser(c.UserContext(), secret)
		if db.KindOf(err) == db.NotFound {
			return Unauthorized("This token is not valid: it is unknown, has expired or was revoked. Create a new one on your account page.")
		}
		if err != nil {
			return err
		}
		c.Locals(localBearer, true)
		c.Locals(localViewer, &user)
		return nil
	}
	if secret := s.Cookie(c, SessionCookie); secret != "" {
		session, user, err := s.Store.Accounts.SessionUser(c.UserContext(), secret)
		switch {
		case err == nil:
			c.Locals(localSession, session.ID)
			c.Locals(localProvider, session.Provider)
			c.Locals(localViewer, &user)
		case db.KindOf(err) != db.NotFound:
			return err
		}
	}
	return nil
}

// reauthorize returns a function that checks whether the sender of a request may still follow a stream: the token or
// session must be valid, and the person must still be a member of all tasks that they were a member of.
func (s *Site) reauthorize(c *fiber.Ctx) func(context.Context) error {
	secret, bearer := BearerToken(c)
	joined := Actor(c).JoinedTaskIDs
	switch {
	case Viewer(c) == nil:
		return func(context.Context) error { return nil }
	case !bearer:
		secret = s.Cookie(c, SessionCookie)
	}
	return func(ctx context.Context) (err error) {
		var now accounts.User
		if bearer {
			_, now, err = s.Store.Accounts.TokenUser(ctx, secret)
		} else {
			_, now, err = s.Store.Accounts.SessionUser(ctx, secret)
		}
		removed := func(task int64) bool { return !slices.Contains(now.JoinedTaskIDs, task) }
		if err == nil && slices.ContainsFunc(joined, removed) {
			err = Unauthorized("You were removed from a board. Load the page again.")
		}
		return err
	}
}

// BearerToken returns the token of the Authorization header.
func BearerToken(c *fiber.Ctx) (string, bool) {
	scheme, secret, found := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	return strings.TrimSpace(secret), found && strings.EqualFold(scheme, "Bearer")
}

// RemoveOwnObject calls remove for the viewer's object with the ID in the path, and redirects.
func RemoveOwnObject(c *fiber.Ctx, remove func(ctx context.Context, userID, id int64) error, next string) error {
	id, err := IDParam(c, "id")
	if err != nil {
		return err
	}
	if err := remove(c.UserContext(), Actor(c).ID, id); err != nil {
		return err
	}
	return c.Redirect(next, fiber.StatusSeeOther)
}

// RequireUser returns the viewer, or an error for visitors.
func RequireUser(c *fiber.Ctx) (*accounts.User, error) {
	if user := Viewer(c); user != nil {
		return user, nil
	}
	return nil, Unauthorized("Sign in first.")
}

// RefuseVisitors is a handler that lets only signed-in users pass to the next one.
func RefuseVisitors(c *fiber.Ctx) error {
	if _, err := RequireUser(c); err != nil {
		return err
	}
	return c.Next()
}

// IDParam parses an ID in the path. It returns a not-found error for other texts.
func IDParam(c *fiber.Ctx, name string) (int64, error) {
	id, err := strconv.ParseInt(c.Params(name), 10, 64)
	if err != nil || id <= 0 {
		return 0, NotFound(c)
	}
	return id, nil
}

// cookieName adds a prefix that restricts who can set a cookie. With "__Host-" browsers accept it only over TLS, from
// the host itself, and for the whole host. A site below a path must not send its cookies to other sites on its host, so
// it uses "__Secure-", which other hosts of the same domain can set.
func (s *Site) cookieName(name string) string {
	switch {
	case !s.UsesTLS():
		return name
	case s.BasePath == "":
		return "__Host-" + name
	}
	return "__Secure-" + name
}

// Cookie returns the value of a cookie set by SetCookie.
func (s *Site) Cookie(c *fiber.Ctx, name string) string { return c.Cookies(s.cookieName(name)) }

// SetCookie sets an HttpOnly cookie. A life of 0 means until the browser closes.
func (s *Site) SetCookie(c *fiber.Ctx, name, value string, life time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: s.cookieName(name), Value: value, Path: s.BasePath.Cookies(), MaxAge: int(life.Seconds()),
		HTTPOnly: true, Secure: s.UsesTLS(), SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: life == 0,
	})
}

// ClearCookie removes a cookie set by SetCookie.
func (s *Site) ClearCookie(c *fiber.Ctx, name string) {
	c.Cookie(&fiber.Cookie{
		Name: s.cookieName(name), Path: s.BasePath.Cookies(), Expires: time.Unix(1, 0),
		HTTPOnly: true, Secure: s.UsesTLS(), SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// RedirectVisitors redirects visitors to the sign-in page, which redirects back.
func RedirectVisitors(c *fiber.Ctx) error {
	if Viewer(c) == nil {
		return c.Redirect(string(views.SignInURL(c.OriginalURL())), fiber.StatusSeeOther)
	}
	return c.Next()
}
