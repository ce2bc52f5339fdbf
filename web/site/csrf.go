package site

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Names of the form field and the header that contain the CSRF token.
const (
	CSRFField  = "_csrf"
	CSRFHeader = "X-CSRF-Token"
)

// VisitorCookie is the name of the cookie with the secret of a browser that has no session.
const VisitorCookie = "wb_visitor"

// csrfToken returns the CSRF token for the forms of a page. It is derived from an HttpOnly cookie, so other sites
// cannot obtain it, and it changes with the session.
func (s *Site) csrfToken(c *fiber.Ctx) string {
	secret := s.csrfSecret(c)
	if secret == "" {
		secret = RandomText(24)
		s.SetCookie(c, VisitorCookie, secret, 0)
		// All forms of the page get the same token, even if the browser had no cookie.
		c.Request().Header.SetCookie(s.cookieName(VisitorCookie), secret)
	}
	return DeriveToken(secret)
}

func (s *Site) csrfSecret(c *fiber.Ctx) string {
	if secret := s.Cookie(c, SessionCookie); secret != "" {
		return secret
	}
	return s.Cookie(c, VisitorCookie)
}

// DeriveToken derives a token from a secret. The secret cannot be computed from the token.
func DeriveToken(secret string) string {
	sum := sha256.Sum256([]byte("warpboard csrf\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// RequireCSRF refuses a request that changes data unless a page of this site sent it: the Origin or Sec-Fetch-Site
// header and the CSRF token must be right. It also refuses personal tokens, so that a leaked one cannot create other
// tokens or admins.
func (s *Site) RequireCSRF(c *fiber.Ctx) error {
	switch {
	case isReadOnlyRequest(c):
		return c.Next()
	case HasBearerToken(c):
		return Forbidden("token", "A token is for the API only; sign in to do this.")
	}
	return s.requirePageOfSite(c)
}

// RequireCSRFOrToken refuses requests as RequireCSRF does, but accepts bearer tokens, which other sites cannot make a
// browser send. It is for the API. Visitors pass: they have no session to misuse, and the handler reports the missing
// token.
func (s *Site) RequireCSRFOrToken(c *fiber.Ctx) error {
	if isReadOnlyRequest(c) || HasBearerToken(c) || Viewer(c) == nil {
		return c.Next()
	}
	return s.requirePageOfSite(c)
}

func isReadOnlyRequest(c *fiber.Ctx) bool {
	return slices.Contains([]string{fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions}, c.Method())
}

func (s *Site) requirePageOfSite(c *fiber.Ctx) error {
	if !s.IsSameOrigin(c) || !s.tokenMatches(c) {
		return Forbidden("csrf", "This request did not come from a current page of this site. Reload the page and try again.")
	}
	return c.Next()
}

// IsSameOrigin reports whether a request comes from a page of this site, by the headers that browsers send. Requests
// without these headers pass; only the token protects them.
func (s *Site) IsSameOrigin(c *fiber.Ctx) bool {
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
	return err == nil && u.Host != "" && (u.Host == s.Base.Host || u.Host == string(c.Request().Host()))
}

func (s *Site) tokenMatches(c *fiber.Ctx) bool {
	given := c.Get(CSRFHeader)
	if given == "" && !strings.HasPrefix(c.Get(fiber.HeaderContentType), fiber.MIMEApplicationJSON) {
		given = c.FormValue(CSRFField)
	}
	secret := s.csrfSecret(c)
	return secret != "" && subtle.ConstantTimeCompare([]byte(given), []byte(DeriveToken(secret))) == 1
}
