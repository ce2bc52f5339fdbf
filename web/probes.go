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

// Queue is the part of the message queue that a Server needs.
type Queue interface {
	// CheckHealth returns an error if the queue cannot carry jobs at this moment.
	CheckHealth(ctx context.Context) error
	// DroppedMessageCount returns the number of dropped messages: unreadable, forged, or above the rate limit of a
	// worker.
	DroppedMessageCount() int64
	// NewWorkerConn opens a connection for a remote worker to the embedded NATS server.
	NewWorkerConn() (net.Conn, error)
}

// readyz responds 200 if new submissions can be evaluated soon. Otherwise it names the part that is not ready. A
// stopping process is not ready, so that a load balancer uses others. A site that is not ready still serves pages: see
// healthz.
func (s *Server) readyz(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), site.ProbeTimeout)
	defer cancel()
	missing := fiber.Map{}
	check := func(what string, err error) {
		if err != nil {
			s.site.Log.Debug("not ready", "what", what, "err", err)
			missing[what] = unreadyPartText(what, err)
		}
	}
	database := s.pingDatabase()
	check("database", database)
	check("disk", s.site.CheckDisk())
	if s.isStopping != nil && s.isStopping() {
		check("site", &site.Failure{Message: "This process of the site is stopping."})
	}
	check("queue", s.queueHealth(ctx))
	if database == nil {
		database = s.checkSlotsReady(ctx)
	}
	check("slots", database)
	if len(missing) > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.TemporaryRetryAfter.Seconds())))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "not ready", "missing": missing})
	}
	return c.JSON(fiber.Map{"status": "ready"})
}

// unreadyPartText names the part that is not ready, without details of the error.
func unreadyPartText(what string, err error) string {
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
	return s.queue.CheckHealth(ctx)
}

// checkSlotsReady returns an error unless at least one slot accepts jobs.
func (s *Server) checkSlotsReady(ctx context.Context) error {
	workers, err := s.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.IsLive(s.site.Now()) && w.AcceptsJobsOn(slot) {
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

// healthz responds 200 if the database is reachable. readyz also reports whether the site can evaluate.
func (s *Server) healthz(c *fiber.Ctx) error {
	if err := s.pingDatabase(); err != nil {
		s.site.Log.Error("health check failed", "err", fmt.Errorf("database: %w", err))
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(site.TemporaryRetryAfter.Seconds())))
		return c.Status(fiber.StatusServiceUnavailable).JSON(fiber.Map{"status": "down", "why": "the database does not answer"})
	}
	return c.JSON(fiber.Map{"status": "ok", "version": s.site.Settings.Version})
}

// pingDatabase returns within ProbeTimeout. Concurrent calls share one ping, because a driver that hangs in a system
// call ignores deadlines: at most one goroutine hangs.
func (s *Server) pingDatabase() error {
	ctx, cancel := context.WithTimeout(s.site.RequestContext, site.ProbeTimeout)
	defer cancel()
	answer := s.databasePings.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(s.site.RequestContext, site.ProbeTimeout)
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
