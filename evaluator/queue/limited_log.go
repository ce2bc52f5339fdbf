package queue

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits of log lines whose cause strangers can trigger as often as they like.
const (
	linesPerMinute = 10  // lines a minute, and in a burst
	maxLogText     = 200 // bytes of a stranger's text
)

// limitedLog counts unexpected messages and logs some of them each minute. The next logged line has the number of those
// left out.
type limitedLog struct {
	log     *slog.Logger
	limit   *rate.Limiter
	n, left atomic.Int64
}

func newLimitedLog(log *slog.Logger) *limitedLog {
	return &limitedLog{log: log, limit: rate.NewLimiter(rate.Every(time.Minute/linesPerMinute), linesPerMinute)}
}

func (s *limitedLog) write(level slog.Level, what string, about ...any) {
	s.n.Add(1)
	if !s.limit.Allow() {
		s.left.Add(1)
		return
	}
	if left := s.left.Swap(0); left > 0 {
		about = append(about, "not_logged", left)
	}
	s.log.Log(context.Background(), level, what, about...)
}

// short cuts a stranger's text for the log.
func short(text string) string { return text[:min(len(text), maxLogText)] }
