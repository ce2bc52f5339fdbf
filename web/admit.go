package web

import (
	"time"

	"github.com/gofiber/fiber/v2"
)

// admit counts requests under way, and turns away whom there is no room for. The operator's own questions
// always pass.
func (s *Server) admit(c *fiber.Ctx) error {
	if isInside(c) {
		return c.Next() // counted already
	}
	if s.connected.crowded() {
		c.Context().SetConnectionClose() // an idle connection keeps another visitor out, and 16 KB
	}
	who := shareName(s.proxies.visitor(c))
	c.Locals(localShare, who)
	if path := c.Path(); path == "/healthz" || path == "/metrics" && (s.fromOperator(c) || s.hasMetricsToken(c)) {
		return c.Next()
	}
	switch s.underWay.take(who, 1) {
	case roomUsedUp:
		return tooMany("Too many requests from your address at once. Try again in a moment.", 5*time.Second)
	case roomFull:
		return busy("The site has too much to do just now. Try again in a moment.")
	}
	defer s.underWay.give(who, 1)
	return c.Next()
}

// shareOf names the sender of a request that admit has let in.
func shareOf(c *fiber.Ctx) string {
	who, _ := c.Locals(localShare).(string)
	return who
}

// isInside tells whether a request was made by this server itself, on behalf of another.
func isInside(c *fiber.Ctx) bool {
	inside, _ := c.Context().UserValue(localInside).(bool)
	return inside
}
