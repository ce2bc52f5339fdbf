package queue

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// lockedLog is a log that may be read while it is written.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTheLogOfStrangersErrorsIsRateLimited(t *testing.T) {
	var log lockedLog
	s := newLimitedLog(slog.New(slog.NewTextHandler(&log, nil)))
	for range 1000 {
		s.write(slog.LevelWarn, "refused")
	}
	lines := strings.Count(log.String(), "refused")
	if lines > logLinesPerMinute+1 { // the limit allows for a machine that is busy for some seconds
		t.Errorf("%d lines at once", lines)
	}
	s.limit.SetLimit(rate.Inf)
	s.write(slog.LevelWarn, "refused")
	s.write(slog.LevelWarn, "refused")
	if n := strings.Count(log.String(), fmt.Sprintf("not_logged=%d\n", 1000-lines)); n != 1 {
		t.Errorf("what was not logged is told %d times in\n%s", n, log.String())
	}
}

// TestWrongCredentialsDoNotFillTheLog connects like an attacker who guesses join tokens, with names as long as the
// server accepts.
func TestWrongCredentialsDoNotFillTheLog(t *testing.T) {
	var log lockedLog
	q := openQueue(t, Config{ListenAddress: "127.0.0.1:0", Authorize: (&twoWorkers{}).authorize,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	before, began := len(log.String()), time.Now()
	for i := range 300 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(q.Addr(), "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(30 * time.Second))
		fmt.Fprintf(conn,
			"CONNECT {\"user\":\"join.%d%s\",\"pass\":\"wrong\",\"verbose\":false,\"lang\":\"x\",\"version\":\"1\",\"protocol\":1}\r\nPING\r\n", i, strings.Repeat("x", 3000))
		var answer bytes.Buffer
		answer.ReadFrom(conn) // reads until the server closes the connection
		conn.Close()
		if !strings.Contains(answer.String(), "Authorization Violation") {
			t.Fatalf("answered %q", answer.String())
		}
	}
	text := log.String()[before:]
	most := 2 * (logLinesPerMinute + int(logLinesPerMinute*time.Since(began).Minutes()))
	if n := strings.Count(text, "\n"); n > most { // two limits: lines of the site, and of the NATS server
		t.Errorf("300 wrong credentials write %d lines into the log", n)
	}
	if len(text) > 20<<10 || !strings.Contains(text, "worker refused") {
		t.Errorf("300 wrong credentials write %d bytes into the log", len(text))
	}
}
