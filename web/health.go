package web

import (
	"fmt"

	"github.com/gofiber/fiber/v2"
)

// healthz answers 200 while the site is alive: it reaches its database. Whether it can evaluate says readyz.
func (s *Server) healthz(c *fiber.Ctx) error {
	if err := s.store.Ping(c.UserContext()); err != nil {
		s.log.Error("health check failed", "error", fmt.Errorf("database: %w", err))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "down", "why": "the database does not answer"})
	}
	return c.JSON(fiber.Map{"status": "ok", "version": s.cfg.Version})
}
