package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
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
	localProblems  = "problems"
)

// requestTimeout bounds the work of one request.
const requestTimeout = 30 * time.Second

// probeTimeout is how long the database may take to answer before the site says that it is down.
const probeTimeout = 2 * time.Second

// nonce is the value that inline styles of this page must carry.
func nonce(c *fiber.Ctx) string {
	text, _ := c.Locals(localNonce).(string)
	return text
}

// shareOf names the sender of a request, as limits count them.
func shareOf(c *fiber.Ctx) string {
	who, _ := c.Locals(localShare).(string)
	return who
}

// isInside reports whether a request was made by this server itself, on behalf of another.
func isInside(c *fiber.Ctx) bool {
	inside, _ := c.Context().UserValue(localInside).(bool)
	return inside
}

// isBearer reports whether the sender showed a personal token.
func isBearer(c *fiber.Ctx) bool {
	bearer, _ := c.Locals(localBearer).(bool)
	return bearer
}

// isFragment reports whether htmx asks for a part of a page.
func isFragment(c *fiber.Ctx) bool { return c.Get("HX-Request") == "true" }

// randomText returns n random bytes as URL-safe text.
func randomText(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// sameText compares secrets; an empty one equals nothing.
func sameText(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
