package web

import (
	"bytes"
	"fmt"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
)

// render answers with an HTML page or fragment. It renders to memory first: a component that fails
// half-way must leave nothing in the body.
func (s *Server) render(c *fiber.Ctx, status int, component templ.Component) error {
	var buf bytes.Buffer
	ctx := templ.WithNonce(c.UserContext(), nonce(c))
	if err := component.Render(ctx, &buf); err != nil {
		return fmt.Errorf("render %s: %w", c.Path(), err)
	}
	if len(c.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		c.Set(fiber.HeaderCacheControl, "private, no-cache")
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Status(status).Send(buf.Bytes())
}

// isFragment tells whether htmx asks for a part of a page.
func isFragment(c *fiber.Ctx) bool { return c.Get("HX-Request") == "true" }
