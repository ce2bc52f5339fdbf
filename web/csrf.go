package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Names under which a page sends its token back.
const (
	CSRFField  = "_csrf"
	CSRFHeader = "X-CSRF-Token"
)

const visitorCookie = "wb_visitor"

// csrfToken is the token that forms of this page must carry. It is made from a cookie that scripts
// cannot read: only this site's pages can know it, and it changes when the session does.
func (s *Site) csrfToken(c *fiber.Ctx) string {
	secret := s.csrfSecret(c)
	if secret == "" {
		secret = randomText(24)
		s.setCookie(c, visitorCookie, secret, 0)
		c.Request().Header.SetCookie(s.cookieName(visitorCookie), secret) // a second form on this page gets the same token
	}
	return tokenOf(secret)
}

func (s *Site) csrfSecret(c *fiber.Ctx) string {
	if secret := s.cookie(c, sessionCookie); secret != "" {
		return secret
	}
	return s.cookie(c, visitorCookie)
}

func tokenOf(secret string) string {
	sum := sha256.Sum256([]byte("warpboard csrf\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// requireCSRF lets a request that changes something through only if a page of this site sent it: the
// browser must say so, and the page's token must be there. A personal token is for the API: one that leaked
// must not make others, or admins.
func (s *Site) requireCSRF(c *fiber.Ctx) error {
	switch {
	case changesNothing(c):
		return c.Next()
	case isBearer(c):
		return forbidden("token", "A token is for the API only; sign in to do this.")
	}
	return s.fromPage(c)
}

// requireCSRFOrToken is requireCSRF for the API. Bearer tokens are no cookies, so no other site can make a
// browser send them; and a visitor has no session to misuse: the handler says that a token is missing.
func (s *Site) requireCSRFOrToken(c *fiber.Ctx) error {
	if changesNothing(c) || isBearer(c) || viewer(c) == nil {
		return c.Next()
	}
	return s.fromPage(c)
}

func changesNothing(c *fiber.Ctx) bool {
	return slices.Contains([]string{fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions}, c.Method())
}

func (s *Site) fromPage(c *fiber.Ctx) error {
	if !s.sameOrigin(c) || !s.tokenMatches(c) {
		return forbidden("csrf", "This request did not come from a current page of this site. Reload the page and try again.")
	}
	return c.Next()
}

// sameOrigin trusts what browsers say of where a request comes from, and what is no browser
// as far as the token goes.
func (s *Site) sameOrigin(c *fiber.Ctx) bool {
	switch c.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Host == s.base.Host || u.Host == string(c.Request().Host()))
}

func (s *Site) tokenMatches(c *fiber.Ctx) bool {
	given := c.Get(CSRFHeader)
	if given == "" && !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON) {
		given = c.FormValue(CSRFField)
	}
	secret := s.csrfSecret(c)
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(tokenOf(secret))) == 1
}
