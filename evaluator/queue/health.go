package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// sickFor is how long nothing may be stored before the embedded server is started again. JetStream keeps the
// first write error for good, also when the disk has room again.
// Restarting costs every worker its connection. A second lets a single slow write pass, and is short enough that nobody
// notices.
const sickFor = time.Second

// wholeServer stands for all streams: what is noted of it lasts until the server is started again.
const wholeServer = "of the embedded server"

// health remembers since when each stream takes no messages.
type health struct {
	mu   sync.Mutex
	sick map[string]sickness
}

type sickness struct {
	since time.Time
	err   error
}

// note is told how storing a message ended. A message that is refused for what it is says nothing.
func (h *health) note(stream string, err error) {
	// DeadlineExceeded counts: a disk that hangs shows in no other way. sick then tries a write of its own before it
	// restarts.
	if errors.Is(err, context.Canceled) || isCrowded(err) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.sick, stream)
		return
	}
	if h.sick == nil {
		h.sick = map[string]sickness{}
	}
	if _, already := h.sick[stream]; !already {
		h.sick[stream] = sickness{time.Now(), err}
	}
}

// isCrowded reports whether a worker has too many results waiting to be recorded.
func isCrowded(err error) bool {
	// The text is the server's: this error has no code of its own in the client library.
	return err != nil && strings.Contains(err.Error(), "maximum messages per subject exceeded")
}

// since returns what is wrong, and since when; nil when nothing is.
func (h *health) since() (time.Time, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var first sickness
	for stream, s := range h.sick {
		if first.err == nil || s.since.Before(first.since) {
			first = sickness{s.since, fmt.Errorf("the stream %s takes no messages: %w", stream, s.err)}
		}
	}
	return first.since, first.err
}

func (h *health) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.sick)
}

// Health says why the queue carries no jobs at this moment; nil when it does, as far as is known.
func (q *Queue) Health(ctx context.Context) error {
	if err := q.stopped(); err != nil {
		return err
	}
	if _, err := q.health.since(); err != nil {
		return fmt.Errorf("queue: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	if _, err := q.js.Stream(ctx, jobsStream); err != nil {
		return fmt.Errorf("queue: the stream of jobs does not answer: %w", err)
	}
	return nil
}

// stopped reports whether the embedded server, or its JetStream, is down.
func (q *Queue) stopped() error {
	if q.host == nil {
		return nil
	}
	if ns := q.host.current(); ns == nil || !ns.JetStreamEnabled() {
		return errors.New("queue: the embedded JetStream has stopped; it is started again once the disk has room")
	}
	return nil
}

// freeBytes is the room that is left on the disk of a folder.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
