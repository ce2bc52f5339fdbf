package queue

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// What one cause may write into the log, when strangers can bring it about as often as they like.
const (
	saidAMinute = 10  // lines
	mostSaid    = 200 // bytes of what a stranger wrote
)

// seldom limits log lines that strangers cause to some a minute. The next logged line has the number of dropped ones.
type seldom struct {
	log *slog.Logger
	now func() time.Time

	mu         sync.Mutex
	began      time.Time
	said, left int // since then; left were not logged, also before
}

func newSeldom(log *slog.Logger) *seldom { return &seldom{log: log, now: time.Now} }

func (s *seldom) say(level slog.Level, what string, about ...any) {
	if left, ok := s.may(); ok {
		if left > 0 {
			about = append(about, "not_logged", left)
		}
		s.log.Log(context.Background(), level, what, about...)
	}
}

func (s *seldom) may() (left int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.now(); now.Sub(s.began) >= time.Minute {
		s.began, s.said = now, 0
	}
	if s.said >= saidAMinute {
		s.left++
		return 0, false
	}
	s.said++
	left, s.left = s.left, 0
	return left, true
}

// short cuts a stranger's text for the log.
func short(text string) string { return text[:min(len(text), mostSaid)] }
