package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestANoticeSaysWhenTheMachineGoes checks the time of the shutdown from a notice: relative to the time of writing, or
// absolute. A time in the past means that the machine survived the notice.
func TestANoticeSaysWhenTheMachineGoes(t *testing.T) {
	written := time.Now().Add(-10 * time.Second).Truncate(time.Second)
	at := written.Add(time.Minute).UTC()
	for text, want := range map[string]time.Duration{
		"":                      40 * time.Second,
		"30s\n":                 30 * time.Second,
		at.Format(time.RFC3339): time.Minute,
		"soon":                  40 * time.Second, // unreadable, so the default time applies
		"5s":                    0,
	} {
		n := &shutdownNotice{file: filepath.Join(t.TempDir(), "notice"), defaultTimeLeft: 40 * time.Second,
			log: slog.New(slog.DiscardHandler)}
		if _, ok := n.readFile(time.Now()); ok {
			t.Fatal("a notice that no one gave")
		}
		if err := os.WriteFile(n.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := n.readFile(time.Now()); ok && text == "" {
			t.Error("a file counts that is being written")
		}
		if err := os.Chtimes(n.file, written, written); err != nil {
			t.Fatal(err)
		}
		gone, ok := n.readFile(time.Now())
		if ok != (want > 0) || ok && !gone.Equal(written.Add(want)) {
			t.Errorf("%q: %v, %s after it was written; want %s", text, ok, gone.Sub(written), want)
		}
	}
}

// TestNoWorkerStartsWhileTheMachineGoesAway checks that a worker waits while a notice is valid, and starts when the
// machine has survived it.
func TestNoWorkerStartsWhileTheMachineGoesAway(t *testing.T) {
	n := &shutdownNotice{file: filepath.Join(t.TempDir(), "notice"), log: slog.New(slog.DiscardHandler)}
	if n.waitForEnd(t.Context()) {
		t.Error("without a notice")
	}
	if err := os.WriteFile(n.file, []byte("100ms"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n.waitForEnd(t.Context()) {
		t.Error("after the machine outlived its notice")
	}
	if err := os.WriteFile(n.file, []byte("1h"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if !n.waitForEnd(ctx) {
		t.Error("a worker starts that was stopped, on a machine that goes away")
	}
	if by, ok := n.waitForNotice(t.Context()); !ok || time.Until(by) > time.Hour-noticeDeliveryReserve || time.Until(by) < 59*time.Minute {
		t.Errorf("results must be delivered by %s, %v", by, ok)
	}
}
