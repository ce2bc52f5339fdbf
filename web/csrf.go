package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
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
func (s *Server) csrfToken(c *fiber.Ctx) string {
	secret := s.csrfSecret(c)
	if secret == "" {
		secret = randomText(24)
		s.setCookie(c, visitorCookie, secret, 0)
		c.Request().Header.SetCookie(s.cookieName(visitorCookie), secret) // a second form on this page gets the same token
	}
	return tokenOf(secret)
}

func (s *Server) csrfSecret(c *fiber.Ctx) string {
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
// browser must say so, and the page's token must be there. Bearer tokens are no cookies, so
// no other site can make a browser send them; but one that leaked must not make others, or admins.
func (s *Server) requireCSRF(c *fiber.Ctx) error {
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return c.Next()
	}
	if bearer, _ := c.Locals(localBearer).(bool); bearer {
		if !strings.HasPrefix(c.Path(), "/api/") {
			return forbidden("token", "A token is for the API only; sign in to do this.")
		}
		return c.Next()
	}
	if viewer(c) == nil && strings.HasPrefix(c.Path(), "/api/") {
		return c.Next() // nobody's session to misuse; the handler says that a token is missing
	}
	if !s.sameOrigin(c) || !s.tokenMatches(c) {
		return forbidden("csrf", "This request did not come from a current page of this site. Reload the page and try again.")
	}
	return c.Next()
}

// sameOrigin trusts what browsers say of where a request comes from, and what is no browser
// as far as the token goes.
func (s *Server) sameOrigin(c *fiber.Ctx) bool {
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

func (s *Server) tokenMatches(c *fiber.Ctx) bool {
	given := c.Get(CSRFHeader)
	if given == "" && !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON) {
		given = c.FormValue(CSRFField)
	}
	secret := s.csrfSecret(c)
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(tokenOf(secret))) == 1
}
