package site

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Keys of what a request carries along.
const (
	LocalRequestID = "request-id"
	LocalNonce     = "nonce"
	localViewer    = "viewer"
	localSession   = "session"
	localProvider  = "provider"
	localBearer    = "bearer"
	LocalShare     = "share"
	localBody      = "body"
	LocalInside    = "inside"
	localProblems  = "problems"
)

// RequestTimeout bounds the work of one request.
const RequestTimeout = 30 * time.Second

// ProbeTimeout is how long the database may take to answer before the site says that it is down.
const ProbeTimeout = 2 * time.Second

// nonce is the value that inline styles of this page must carry.
func nonce(c *fiber.Ctx) string {
	text, _ := c.Locals(LocalNonce).(string)
	return text
}

// shareOf names the sender of a request, as limits count them.
func shareOf(c *fiber.Ctx) string {
	who, _ := c.Locals(LocalShare).(string)
	return who
}

// IsInside reports whether a request was made by this server itself, on behalf of another.
func IsInside(c *fiber.Ctx) bool {
	inside, _ := c.Context().UserValue(LocalInside).(bool)
	return inside
}

// IsBearer reports whether the sender showed a personal token.
func IsBearer(c *fiber.Ctx) bool {
	bearer, _ := c.Locals(localBearer).(bool)
	return bearer
}

// IsFragment reports whether htmx asks for a part of a page.
func IsFragment(c *fiber.Ctx) bool { return c.Get("HX-Request") == "true" }

// RandomText returns n random bytes as URL-safe text.
func RandomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// EqualSecrets compares secrets; an empty one equals nothing.
func EqualSecrets(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
