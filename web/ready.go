package web

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"
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
	ctx, cancel := context.WithTimeout(c.UserContext(), healthTime)
	defer cancel()
	missing := fiber.Map{}
	check := func(what string, err error) {
		if err != nil {
			s.log.Debug("not ready", "what", what, "error", err)
			missing[what] = readyText(what, err)
		}
	}
	database := s.pingDatabase()
	check("database", database)
	check("queue", s.queueHealth(ctx))
	check("disk", s.room())
	if database == nil {
		database = s.slotsReady(ctx)
	}
	check("slots", database)
	if len(missing) > 0 {
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(retrySoon.Seconds())))
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
	if f, ok := errors.AsType[*failure](err); ok {
		return f.message
	}
	return "It could not be found out just now."
}

func (s *Server) queueHealth(ctx context.Context) error {
	if s.cfg.Queue == nil {
		return nil
	}
	return s.cfg.Queue.Health(ctx)
}

// slotsReady fails unless a slot takes jobs.
func (s *Server) slotsReady(ctx context.Context) error {
	workers, err := s.store.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		for _, slot := range w.Slots {
			if w.Live(s.now()) && w.Takes(slot) {
				return nil
			}
		}
	}
	return &failure{status: fiber.StatusServiceUnavailable, code: "no_device", message: "No worker has a slot that takes jobs."}
}

// room refuses what would be stored while the disk is nearly full: a disk that is full ends runs that
// were accepted.
func (s *Server) room() error {
	if s.cfg.Disk == "" || s.cfg.MinFree == 0 {
		return nil
	}
	free, err := freeBytes(s.cfg.Disk)
	if err != nil || free >= s.cfg.MinFree {
		return err
	}
	return &failure{status: fiber.StatusServiceUnavailable, code: "disk_full", retryAfter: time.Minute, message: fmt.Sprintf(
		"The site's disk is nearly full: %d MiB are left, and it keeps %d MiB free. Nothing can be submitted until its operator has made room.",
		free>>20, s.cfg.MinFree>>20)}
}

func freeBytes(dir string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(stat.Bavail) * stat.Bsize, nil
}

// plantMetrics tell of what the site stands on.
func plantMetrics(s *Server) []prometheus.Collector {
	var list []prometheus.Collector
	if s.cfg.Queue != nil {
		list = append(list, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "warpboard_queue_dropped_messages_total", Help: "Messages of workers that were unreadable, forged, or too many of one worker.",
		}, func() float64 { return float64(s.cfg.Queue.Dropped()) }))
	}
	if s.cfg.Disk != "" {
		list = append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "warpboard_disk_free_bytes", Help: "Room on the disk of the data directory.",
		}, func() float64 {
			free, err := freeBytes(s.cfg.Disk)
			if err != nil {
				s.log.Error("metrics", "error", err)
			}
			return float64(free)
		}))
	}
	return list
}
