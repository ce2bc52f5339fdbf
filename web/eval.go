package web

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// EvalAPI is the unversioned evaluation API, in the shapes that clients of the CUDA Evaluation Server V2
// know. What it answers is added to and never changed.
type EvalAPI struct{ *Evaluations }

// NewEvalAPI returns the unversioned API over what both APIs share.
func NewEvalAPI(shared *Evaluations) *EvalAPI { return &EvalAPI{shared} }

// onlyBy answers another method than an address has, as FastAPI does.
func onlyBy(method string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderAllow, method)
		return c.Status(fiber.StatusMethodNotAllowed).JSON(fiber.Map{"detail": "Method Not Allowed"})
	}
}

// noCache marks an answer as true only now.
func noCache(c *fiber.Ctx) {
	c.Set(fiber.HeaderCacheControl, "no-cache, no-store, must-revalidate")
	c.Set(fiber.HeaderPragma, "no-cache")
	c.Set(fiber.HeaderExpires, "0")
}

// errors puts errors into the API's own shape.
func (a *EvalAPI) errors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	noCache(c)
	f := failureOf(err)
	if f.retryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, fmt.Sprint(int(f.retryAfter.Seconds())))
	}
	switch {
	case f.status == fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	case f.status >= fiber.StatusInternalServerError:
		a.Log.Error("evaluation request failed", "id", c.Locals(localRequestID), "path", c.Path(), "error", err)
		return a.fail(c, f.status, f.message)
	}
	return c.Status(f.status).JSON(fiber.Map{"error": strings.TrimSuffix(f.message, "."), "status": "client_error"})
}
