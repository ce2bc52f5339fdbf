package web

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models"
	"warpboard/views"
)

const (
	sessionCookie = "wb_session"
	sessionLife   = 30 * 24 * time.Hour
)

// viewer is the person who sent the request; nil is a visitor.
func viewer(c *fiber.Ctx) *models.User {
	user, _ := c.Locals(localViewer).(*models.User)
	return user
}

// actor is viewer as the store wants it: a visitor is the zero User.
func actor(c *fiber.Ctx) models.User {
	if user := viewer(c); user != nil {
		return *user
	}
	return models.User{}
}

// sessionID is the id of the session that the request came with; 0 without one.
func sessionID(c *fiber.Ctx) int64 {
	id, _ := c.Locals(localSession).(int64)
	return id
}

// identify finds out who sent the request: by a personal token if there is one, else by the session.
func (s *Site) identify(c *fiber.Ctx) error {
	if err := s.recognise(c); err != nil {
		return err
	}
	return c.Next()
}

func (s *Site) recognise(c *fiber.Ctx) error {
	if secret, ok := bearerToken(c); ok {
		_, user, err := s.Store.TokenUser(c.UserContext(), secret)
		if models.KindOf(err) == models.NotFound {
			return unauthorized("This token is not valid: it is unknown, has expired or was revoked. Make another on your page.")
		}
		if err != nil {
			return err
		}
		c.Locals(localBearer, true)
		c.Locals(localViewer, &user)
		return nil
	}
	if secret := s.cookie(c, sessionCookie); secret != "" {
		session, user, err := s.Store.SessionUser(c.UserContext(), secret)
		switch {
		case err == nil:
			c.Locals(localSession, session.ID)
			c.Locals(localViewer, &user)
		case models.KindOf(err) != models.NotFound:
			return err
		}
	}
	return nil
}

// reauthorize returns what checks again, later, whether the sign-in that a request came with still counts.
func (s *Site) reauthorize(c *fiber.Ctx) func(context.Context) error {
	secret, bearer := bearerToken(c)
	switch {
	case viewer(c) == nil:
		return func(context.Context) error { return nil }
	case !bearer:
		secret = s.cookie(c, sessionCookie)
	}
	return func(ctx context.Context) (err error) {
		if bearer {
			_, _, err = s.Store.TokenUser(ctx, secret)
		} else {
			_, _, err = s.Store.SessionUser(ctx, secret)
		}
		return err
	}
}

func bearerToken(c *fiber.Ctx) (string, bool) {
	scheme, secret, found := strings.Cut(c.Get(fiber.HeaderAuthorization), " ")
	return strings.TrimSpace(secret), found && strings.EqualFold(scheme, "Bearer")
}

// removeOwn removes what the address names by its id and the viewer owns, and goes on to a page.
func removeOwn(c *fiber.Ctx, remove func(ctx context.Context, userID, id int64) error, next string) error {
	user, err := requireUser(c)
	if err != nil {
		return err
	}
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	if err := remove(c.UserContext(), user.ID, id); err != nil {
		return err
	}
	return c.Redirect(next, fiber.StatusSeeOther)
}

// requireUser refuses visitors.
func requireUser(c *fiber.Ctx) (*models.User, error) {
	if user := viewer(c); user != nil {
		return user, nil
	}
	return nil, unauthorized("Sign in first.")
}

// idParam reads a number from the address; anything else is an address that does not exist.
func idParam(c *fiber.Ctx, name string) (int64, error) {
	id, err := strconv.ParseInt(c.Params(name), 10, 64)
	if err != nil || id <= 0 {
		return 0, notFound(c)
	}
	return id, nil
}

// cookieName keeps sibling domains and plain HTTP from planting a cookie: browsers take one with this
// prefix only from the host itself, over TLS.
func (s *Site) cookieName(name string) string {
	if s.secure() {
		return "__Host-" + name
	}
	return name
}

func (s *Site) cookie(c *fiber.Ctx, name string) string { return c.Cookies(s.cookieName(name)) }

// setCookie sets a cookie that scripts cannot read; a life of 0 lasts until the browser closes.
func (s *Site) setCookie(c *fiber.Ctx, name, value string, life time.Duration) {
	c.Cookie(&fiber.Cookie{
		Name: s.cookieName(name), Value: value, Path: "/", MaxAge: int(life.Seconds()),
		HTTPOnly: true, Secure: s.secure(), SameSite: fiber.CookieSameSiteLaxMode, SessionOnly: life == 0,
	})
}

func (s *Site) clearCookie(c *fiber.Ctx, name string) {
	c.Cookie(&fiber.Cookie{
		Name: s.cookieName(name), Path: "/", Expires: time.Unix(1, 0),
		HTTPOnly: true, Secure: s.secure(), SameSite: fiber.CookieSameSiteLaxMode,
	})
}

// needsSignIn sends visitors to the sign-in page, and back afterwards.
func (p *Site) needsSignIn(c *fiber.Ctx) error {
	if viewer(c) == nil {
		return c.Redirect(string(views.SignInURL(c.OriginalURL())), fiber.StatusSeeOther)
	}
	return c.Next()
}

// needsSignIn sends visitors to the sign-in page, and back afterwards.
func needsSignIn(c *fiber.Ctx) error {
	if viewer(c) == nil {
		return c.Redirect(string(views.SignInURL(c.OriginalURL())), fiber.StatusSeeOther)
	}
	return c.Next()
}
