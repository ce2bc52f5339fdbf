package evalapi

import (
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
	"warpboard/web/site/evaluations"
)

// API is the unversioned evaluation API, in the shapes that clients of the CUDA Evaluation Server V2
// know. What it answers is added to and never changed.
type API struct{ *evaluations.Evaluations }

// New returns the unversioned API over what both APIs share.
func New(shared *evaluations.Evaluations) *API { return &API{shared} }

// Only answers another method than an address has, as FastAPI does.
func Only(method string) fiber.Handler {
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

// Errors puts errors into the API's own shape.
func (a *API) Errors(c *fiber.Ctx) error {
	err := c.Next()
	if err == nil {
		return nil
	}
	noCache(c)
	f := site.FailureOf(err)
	if f.RetryAfter > 0 {
		c.Set(fiber.HeaderRetryAfter, fmt.Sprint(int(f.RetryAfter.Seconds())))
	}
	switch {
	case f.Status == fiber.StatusUnauthorized:
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="warpboard"`)
	case f.Status >= fiber.StatusInternalServerError:
		a.Log.Error("evaluation request failed", "id", c.Locals(site.LocalRequestID), "path", c.Path(), "err", err)
		return a.fail(c, f.Status, f.Message)
	}
	return c.Status(f.Status).JSON(fiber.Map{"error": strings.TrimSuffix(f.Message, "."), "status": "client_error"})
}
