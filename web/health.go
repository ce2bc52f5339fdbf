package web

import (
	"context"
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// healthz answers 200 while the site is alive: it reaches its database. Whether it can evaluate says readyz.
func (s *Server) healthz(c *fiber.Ctx) error {
	if err := s.pingDatabase(); err != nil {
		s.Log.Error("health check failed", "error", fmt.Errorf("database: %w", err))
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.RetrySoon.Seconds())))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "down", "why": "the database does not answer"})
	}
	return c.JSON(fiber.Map{"status": "ok", "version": s.Version})
}

// pingDatabase returns within ProbeTimeout. A driver that hangs in a system call comes back from no deadline, and
// so whoever asks meanwhile waits for the same ping: one thread hangs, and not one more with each check.
func (s *Server) pingDatabase() error {
	ctx, cancel := context.WithTimeout(s.Requests, site.ProbeTimeout)
	defer cancel()
	answer := s.pings.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(s.Requests, site.ProbeTimeout)
		defer cancel()
		return nil, s.Store.Ping(ctx)
	})
	select {
	case got := <-answer:
		return got.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}
