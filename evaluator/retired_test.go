package evaluator_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// lines is a log for tests. It is safe for concurrent use.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestWorkerThatFailsEverythingIsSetAsideAndSaysWhy(t *testing.T) {
	s, log := newSite(t), &lines{}
	s.start(evaluator.Config{
		Slots: []device.Slot{cpu(0), cpu(1)}, Log: slog.New(slog.NewTextHandler(log, nil)),
		Builder: fakeBuilder{run: func(context.Context, fakeStage) (sandbox.Outcome, error) {
			return sandbox.Outcome{}, errors.New("no space left on device")
		}},
	})
	usable := func() (n int) {
		for _, slot := range s.beat("w1").Slots {
			if !strings.Contains(slot.DisabledReason, "no space left on device") {
				n++
			}
		}
		return n
	}
	for i := 0; usable() > 0; i++ {
		id := fmt.Sprint("a", i)
		j := aJob(id, job.ModeTest)
		j.RunID = int64(1 + i)
		s.publish(j)
		// The outcome is lost without CausedByJob: the fault is the worker's, not the job's.
		if r := s.result(id); r.Outcome != job.OutcomeLost || r.CausedByJob {
			t.Fatalf("outcome %s, suspect %v", r.Outcome, r.CausedByJob)
		}
		before := time.Now() // an earlier heartbeat may still arrive
		s.wait("next heartbeat", func() bool { return s.beats["w1"].Time.After(before) })
	}
	// A heartbeat may report the slot before the worker writes to its log.
	s.wait("both slots in its own log", func() bool { return strings.Count(log.String(), "slot out of service") == 2 })
}

func TestOnlyARunThatCrashesItsWorkerIsSuspect(t *testing.T) {
	tests := map[string]struct {
		run     func() (sandbox.Outcome, error)
		suspect bool
	}{
		"panic":            {func() (sandbox.Outcome, error) { panic("index out of range") }, true},
		"cannot be killed": {func() (sandbox.Outcome, error) { return sandbox.Outcome{}, sandbox.ErrProcessStuck }, true},
		"disk full": {func() (sandbox.Outcome, error) {
			return sandbox.Outcome{},
				errors.New("no space left on device")
		}, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.start(evaluator.Config{Slots: []device.Slot{cpu(0), cpu(1)}, Builder: fakeBuilder{
				run: func(context.Context, fakeStage) (sandbox.Outcome, error) { return test.run() },
			}})
			if r := s.run(aJob("a1", job.ModeTest)); r.Outcome != job.OutcomeLost || r.CausedByJob != test.suspect {
				t.Errorf("outcome %s, suspect %v", r.Outcome, r.CausedByJob)
			}
		})
	}
}
