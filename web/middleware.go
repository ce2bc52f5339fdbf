package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Keys of what a request carries along.
const (
	localRequestID = "request-id"
	localNonce     = "nonce"
	localViewer    = "viewer"
	localSession   = "session"
	localBearer    = "bearer"
	localShare     = "share"
	localBody      = "body"
	localInside    = "inside"
)

// smallBody limits the body of every request that is not an upload of a task, in bytes. A kernel of
// 1 MB fits, also as JSON with escapes.
const smallBody = 4 << 20

// plainBodies refuses compressed requests: a few megabytes unpack to gigabytes, before any handler can
// say how much it wants. No client needs them.
func plainBodies(c *fiber.Ctx) error {
	for _, encoding := range c.Request().Header.PeekAll(fiber.HeaderContentEncoding) {
		if len(encoding) > 0 {
			return &failure{status: fiber.StatusUnsupportedMediaType, code: "encoding",
				message: "Send the request as it is: a body with a Content-Encoding is not unpacked."}
		}
	}
	return c.Next()
}

// requestID names the request in the log and in error pages.
func (s *Server) requestID(c *fiber.Ctx) error {
	id := randomText(9)
	c.Locals(localRequestID, id)
	c.Set(fiber.HeaderXRequestID, id)
	return c.Next()
}

// accessLog writes one line per request, after errors have become answers.
func (s *Server) accessLog(c *fiber.Ctx) error {
	began := time.Now()
	if err := c.Next(); err != nil {
		if err := s.handleError(c, err); err != nil {
			return err
		}
	}
	level := slog.LevelInfo
	if path := c.Path(); (path == "/healthz" || path == "/readyz" || path == "/metrics") && c.Response().StatusCode() == fiber.StatusOK {
		level = slog.LevelDebug // asked every few seconds, for ever
	}
	s.log.Log(c.UserContext(), level, "request", "id", c.Locals(localRequestID), "method", c.Method(), "path", c.Path(),
		"status", c.Response().StatusCode(), "took", time.Since(began), "ip", s.visitorIP(c))
	return nil
}

// recoverPanics turns a panic into an error, so that one bad request ends only itself.
func (s *Server) recoverPanics(c *fiber.Ctx) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return c.Next()
}

// requestContext gives handlers a context that ends: at the deadline, or when the server has stopped.
func (s *Server) requestContext(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(s.requests, requestTimeout)
	defer cancel()
	c.SetUserContext(ctx)
	return c.Next()
}

// securityHeaders allows a page scripts of this site only, and nobody to frame it.
func (s *Server) securityHeaders(c *fiber.Ctx) error {
	nonce := randomText(18)
	c.Locals(localNonce, nonce)
	c.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; style-src 'self' 'nonce-"+nonce+
		"'; style-src-attr 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'")
	c.Set("X-Content-Type-Options", "nosniff")
	c.Set("X-Frame-Options", "DENY")
	c.Set("Referrer-Policy", "same-origin")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	if s.secure() {
		c.Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
	}
	err := c.Next()
	if c.Response().StatusCode() == fiber.StatusNotModified {
		// The browser shows the page it kept, whose nonce is the one it was sent with.
		c.Response().Header.Del("Content-Security-Policy")
	}
	return err
}

// nonce is the value that inline styles of this page must carry.
func nonce(c *fiber.Ctx) string {
	text, _ := c.Locals(localNonce).(string)
	return text
}

// isAPI tells whether the answer must be JSON: an API address, or a client that asks for JSON and not for HTML.
func isAPI(c *fiber.Ctx) bool {
	accept := c.Get(fiber.HeaderAccept)
	return strings.HasPrefix(c.Path(), "/api/") ||
		c.Method() == fiber.MethodPost && isEvaluation(c.Path()) && c.Path() != "/playground" ||
		strings.Contains(accept, "json") && !strings.Contains(accept, "html")
}

// isStream tells whether the address is a live stream, which must not be compressed or buffered.
func isStream(c *fiber.Ctx) bool {
	return strings.HasSuffix(c.Path(), "/events") || strings.TrimSuffix(c.Path(), "/") == "/mcp"
}

// randomText returns n random bytes as URL-safe text.
func randomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}
