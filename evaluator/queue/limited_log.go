package queue

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Limits for log lines that anyone can cause.
const (
	logLinesPerMinute = 10  // lines a minute, and in a burst
	maxLogText        = 200 // bytes of a stranger's text
)

// limitedLog counts unexpected messages and logs some of them each minute. The next logged line has the number of
// omitted ones.
type limitedLog struct {
	log                   *slog.Logger
	limit                 *rate.Limiter
	messageCount, omitted atomic.Int64
}

func newLimitedLog(log *slog.Logger) *limitedLog {
	return &limitedLog{log: log, limit: rate.NewLimiter(rate.Every(time.Minute/logLinesPerMinute), logLinesPerMinute)}
}

func (s *limitedLog) write(level slog.Level, what string, about ...any) {
	s.messageCount.Add(1)
	if !s.limit.Allow() {
		s.omitted.Add(1)
		return
	}
	if left := s.omitted.Swap(0); left > 0 {
		about = append(about, "not_logged", left)
	}
	s.log.Log(context.Background(), level, what, about...)
}

// shortenForLog cuts a text from outside for the log.
func shortenForLog(text string) string { return text[:min(len(text), maxLogText)] }
