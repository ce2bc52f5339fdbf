package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"warpboard/web/site"
)

// Queue is the part of the queue that a Server needs.
type Queue interface {
	// Health returns an error if the queue cannot carry jobs now.
	Health(ctx context.Context) error
	// Dropped returns the number of dropped messages: unreadable, forged, or too many from one worker.
	Dropped() int64
	// WorkerConn opens a connection for a remote worker to the embedded NATS server.
	WorkerConn() (net.Conn, error)
}

// readyz answers 200 if new submissions are evaluated soon; otherwise it names the missing part. A site that is alive
// but not ready still serves its pages: see healthz. A stopping process is not ready, so that a balancer sends visitors
// to others.
func (s *Server) readyz(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), site.ProbeTimeout)
	defer cancel()
	missing := fiber.Map{}
	check := func(what string, err error) {
		if err != nil {
			s.site.Log.Debug("not ready", "what", what, "err", err)
			missing[what] = readyText(what, err)
		}
	}
	database := s.pingDatabase()
	check("database", database)
	check("disk", s.site.CheckDisk())
	if s.stopping != nil && s.stopping() {
		check("site", &site.Failure{Message: "This process of the site is stopping."})
	}
	check("queue", s.queueHealth(ctx))
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

// readyText names the missing part, and reveals nothing else.
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
	return "This could not be checked."
}

func (s *Server) queueHealth(ctx context.Context) error {
	if s.queue == nil {
		return nil
	}
	return s.queue.Health(ctx)
}

// slotsReady returns an error unless a slot accepts jobs.
func (s *Server) slotsReady(ctx context.Context) error {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.Live(s.site.Now()) && w.Takes(slot) {
				return nil
			}
		}
	}
	return &site.Failure{
		Status:  fiber.StatusServiceUnavailable,
		Code:    "no_device",
		Message: "No worker has a slot that takes jobs.",
	}
}

// healthz answers 200 if the site is alive: it reaches its database. readyz reports whether it can evaluate.
func (s *Server) healthz(c *fiber.Ctx) error {
	if err := s.pingDatabase(); err != nil {
		s.site.Log.Error("health check failed", "err", fmt.Errorf("database: %w", err))
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.RetrySoon.Seconds())))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "down", "why": "the database does not answer"})
	}
	return c.JSON(fiber.Map{"status": "ok", "version": s.site.Settings.Version})
}

// pingDatabase returns within ProbeTimeout. A driver that hangs in a system call ignores deadlines, so concurrent
// checks wait for the same ping: only one thread hangs.
func (s *Server) pingDatabase() error {
	ctx, cancel := context.WithTimeout(s.site.Requests, site.ProbeTimeout)
	defer cancel()
	answer := s.pings.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(s.site.Requests, site.ProbeTimeout)
		defer cancel()
		return nil, s.site.Store.Ping(ctx)
	})
	select {
	case got := <-answer:
		return got.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}
