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

// Names under which a page returns its token.
const (
	CSRFField  = "_csrf"
	CSRFHeader = "X-CSRF-Token"
)

// VisitorCookie holds the secret of a browser without a session.
const VisitorCookie = "wb_visitor"

// csrfToken returns the token for the forms of this page. It is derived from a cookie that scripts cannot read, so only
// this site's pages have it, and it changes with the session.
func (s *Site) csrfToken(c *fiber.Ctx) string {
	secret := s.csrfSecret(c)
	if secret == "" {
		secret = RandomText(24)
		s.SetCookie(c, VisitorCookie, secret, 0)
		// a second form on this page gets the same token
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

// DeriveToken derives a token from a secret, which cannot be computed from it.
func DeriveToken(secret string) string {
	sum := sha256.Sum256([]byte("warpboard csrf\x00" + secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// RequireCSRF passes a request that changes something only if a page of this site sent it: the browser must report
// that, and the page's token must be present. A personal token is only for the API: a leaked one must not create
// others, or admins.
func (s *Site) RequireCSRF(c *fiber.Ctx) error {
	switch {
	case isReadOnlyRequest(c):
		return c.Next()
	case IsBearer(c):
		return Forbidden("token", "A token is for the API only; sign in to do this.")
	}
	return s.fromPage(c)
}

// RequireCSRFOrToken is RequireCSRF for the API. No other site can make a browser send bearer tokens, unlike cookies. A
// visitor has no session to misuse: the handler answers that a token is missing.
func (s *Site) RequireCSRFOrToken(c *fiber.Ctx) error {
	if isReadOnlyRequest(c) || IsBearer(c) || Viewer(c) == nil {
		return c.Next()
	}
	return s.fromPage(c)
}

func isReadOnlyRequest(c *fiber.Ctx) bool {
	return slices.Contains([]string{fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions}, c.Method())
}

func (s *Site) fromPage(c *fiber.Ctx) error {
	if !s.SameOrigin(c) || !s.tokenMatches(c) {
		return Forbidden("csrf", "This request did not come from a current page of this site. Reload the page and try again.")
	}
	return c.Next()
}

// SameOrigin reports whether a request comes from this site, as far as browsers report it. Other clients are protected
// only by the token.
func (s *Site) SameOrigin(c *fiber.Ctx) bool {
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
