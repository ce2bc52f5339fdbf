package web

import (
	"context"
	"errors"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// Queue is what a Server asks of the queue.
type Queue interface {
	// Health says why the queue carries no jobs at this moment; nil when it does.
	Health(ctx context.Context) error
	// Dropped is how many messages were dropped: unreadable, forged, or too many of one worker.
	Dropped() int64
}

// readyz answers 200 while what is submitted now is evaluated soon; else it says what is missing. A site
// that is alive but not ready still serves its pages: see healthz.
func (s *Server) readyz(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), site.ProbeTimeout)
	defer cancel()
	missing := fiber.Map{}
	check := func(what string, err error) {
		if err != nil {
			s.Log.Debug("not ready", "what", what, "error", err)
			missing[what] = readyText(what, err)
		}
	}
	database := s.pingDatabase()
	check("database", database)
	check("queue", s.queueHealth(ctx))
	check("disk", s.Room())
	if database == nil {
		database = s.slotsReady(ctx)
	}
	check("slots", database)
	if len(missing) > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.RetrySoon.Seconds())))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "not ready", "missing": missing})
	}
	return c.JSON(fiber.Map{"status": "ready"})
}

// readyText says what is missing, and nothing of the site's inside.
func readyText(what string, err error) string {
	switch what {
	case "database":
		return "The database does not answer."
	case "queue":
		return "The queue takes no jobs."
	}
	if f, ok := errors.AsType[*site.Failure](err); ok {
		return f.Message
	}
	return "It could not be found out just now."
}

func (s *Server) queueHealth(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	return s.queue.Health(ctx)
}

// slotsReady fails unless a slot takes jobs.
func (s *Server) slotsReady(ctx context.Context) error {
	workers, err := s.Store.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.Live(s.Now()) && w.Takes(slot) {
				return nil
			}
		}
	}
	return &site.Failure{Status: fiber.StatusServiceUnavailable, Code: "no_device", Message: "No worker has a slot that takes jobs."}
}
