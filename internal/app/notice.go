package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"
)

const (
	// Clouds give from 30 s to two minutes of notice. stat of one file is cheap.
	noticePollInterval = time.Second
	// noticeDeliveryReserve is the part of a notice reserved for delivering results; a quarter of a short one.
	noticeDeliveryReserve = 5 * time.Second
)

// shutdownNotice is a file that announces that this machine will be shut down. A program that polls a cloud's metadata,
// or a hook of a batch system, writes it.
type shutdownNotice struct {
	file            string
	defaultTimeLeft time.Duration // time until the shutdown, for a file without a time
	log             *slog.Logger
	// shutdown time in the last notice ignored because that time had passed; it is logged once
	ignoredNoticeEnd time.Time
}

// shutdownNotice returns nil if no file is set.
func (c *Config) shutdownNotice(log *slog.Logger) *shutdownNotice {
	if c.Worker.ShutdownNoticeFile == "" {
		return nil
	}
	return &shutdownNotice{file: c.Worker.ShutdownNoticeFile, defaultTimeLeft: c.ShutdownGrace, log: log}
}

// waitForNotice waits for a notice, and returns the time by which results must be delivered. It returns false if ctx
// ended first.
func (n *shutdownNotice) waitForNotice(ctx context.Context) (time.Time, bool) {
	// The file's time and this process's clock are from the same machine; on a network file system their difference
	// adds an error.
	tick := time.NewTicker(noticePollInterval)
	defer tick.Stop()
	for {
		if gone, ok := n.readFile(time.Now()); ok {
			left := time.Until(gone)
			return gone.Add(-min(noticeDeliveryReserve, left/4)), true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
}

// waitForEnd waits, if there is a notice already, until the machine is shut down, a stop signal comes, or the notice
// ends, because a worker that left is often restarted. It returns false if there is no notice or it had no effect.
func (n *shutdownNotice) waitForEnd(ctx context.Context) (stopped bool) {
	gone, ok := n.readFile(time.Now())
	if !ok {
		return false
	}
	n.log.Warn("no worker starts: this machine is going away", "at", gone.UTC().Format(time.RFC3339), "file", n.file)
	select {
	case <-time.After(time.Until(gone)):
		return false
	case <-ctx.Done():
		return true
	}
}

// readFile returns the time of the shutdown, and false without a notice. An unreadable file counts as an empty one.
func (n *shutdownNotice) readFile(now time.Time) (gone time.Time, ok bool) {
	info, err := os.Stat(n.file)
	if err != nil {
		return time.Time{}, false
	}
	text, err := os.ReadFile(n.file)
	if len(text) == 0 && err == nil && now.Sub(info.ModTime()) < noticePollInterval {
		return time.Time{}, false // a program may still be writing it
	}
	if err == nil {
		gone, err = shutdownTime(strings.TrimSpace(string(text)), info.ModTime(), n.defaultTimeLeft)
	}
	if err != nil {
		n.log.Error("cannot read the shutdown notice: --grace applies", "file", n.file, "err", err)
		gone = info.ModTime().Add(n.defaultTimeLeft)
	}
	if !gone.After(now) {
		// Logged once for each notice, not every second while the file exists.
		if !gone.Equal(n.ignoredNoticeEnd) {
			n.log.Warn("ignoring a stale shutdown notice: remove the file", "file", n.file, "at", gone.UTC().Format(time.RFC3339))
		}
		n.ignoredNoticeEnd = gone
		return time.Time{}, false
	}
	return gone, true
}

func shutdownTime(text string, written time.Time, grace time.Duration) (time.Time, error) {
	if text == "" {
		return written.Add(grace), nil
	}
	if after, err := time.ParseDuration(text); err == nil {
		return written.Add(after), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("want a time such as 30s or 2026-01-31T12:00:00Z, got %.40q", text)
	}
	return at, nil
}
