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
	// Clouds give from 30 s to two minutes: a second is little of it. Stat of one file costs nothing.
	noticeEvery = time.Second
	// handBackIn is what a notice leaves for telling the site, of a short one a quarter.
	handBackIn = 5 * time.Second
)

// notice is a file that says that this machine goes away. What polls a cloud's metadata, or a batch system's hook, writes it.
type notice struct {
	file  string
	grace time.Duration // of a file that does not say when
	log   *slog.Logger
	over  time.Time // when the last notice ended that the machine outlived
}

// notice is nil without a file.
func (c *Config) notice(log *slog.Logger) *notice {
	if c.Worker.NoticeFile == "" {
		return nil
	}
	return &notice{file: c.Worker.NoticeFile, grace: c.Grace, log: log}
}

// wait returns when results must be delivered, once there is a notice; false: ctx ended first.
func (n *notice) wait(ctx context.Context) (time.Time, bool) {
	// The file's time and this process's clock come from one machine; on a network file system the difference of the clocks
	// adds an error.
	tick := time.NewTicker(noticeEvery)
	defer tick.Stop()
	for {
		if gone, ok := n.read(time.Now()); ok {
			left := time.Until(gone)
			return gone.Add(-min(handBackIn, left/4)), true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
}

// awaitEnd waits, if there is a notice already, until the machine is gone, a stop signal or the notice's end, because a
// worker that left is often started again. false: there is no notice, or the machine outlived it.
func (n *notice) awaitEnd(ctx context.Context) (stopped bool) {
	gone, ok := n.read(time.Now())
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

// read returns when the machine goes away; false without a notice. An unreadable file counts like an empty one.
func (n *notice) read(now time.Time) (gone time.Time, ok bool) {
	info, err := os.Stat(n.file)
	if err != nil {
		return time.Time{}, false
	}
	text, err := os.ReadFile(n.file)
	if len(text) == 0 && err == nil && now.Sub(info.ModTime()) < noticeEvery {
		return time.Time{}, false // it may be written just now
	}
	if err == nil {
		gone, err = goneAt(strings.TrimSpace(string(text)), info.ModTime(), n.grace)
	}
	if err != nil {
		n.log.Error("cannot read the shutdown notice: --grace applies", "file", n.file, "err", err)
		gone = info.ModTime().Add(n.grace)
	}
	if !gone.After(now) {
		// Logged once for each notice, not every second while the file exists.
		if !gone.Equal(n.over) {
			n.log.Warn("ignoring a stale shutdown notice: remove the file", "file", n.file, "at", gone.UTC().Format(time.RFC3339))
		}
		n.over = gone
		return time.Time{}, false
	}
	return gone, true
}

func goneAt(text string, written time.Time, grace time.Duration) (time.Time, error) {
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
