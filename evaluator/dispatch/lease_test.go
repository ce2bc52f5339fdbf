package dispatch

import (
	"log/slog"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestOneOfTwoProcessesSendsOutTheWorkOfADevice until it ends, in order or not.
func TestOneOfTwoProcessesSendsOutTheWorkOfADevice(t *testing.T) {
	dsn := modelstest.PostgresURL(t)
	open := func(name string) *models.Store {
		s, err := models.Open(t.Context(), models.Config{Dir: t.TempDir(), DSN: dsn, Replica: name})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s, other := newSite(t, open("one"), "CPU"), open("two")
	first, r := s.boot()
	second := NewDispatcher(other, s.queue, s.seen, slog.New(slog.DiscardHandler))
	s.beat(r)
	s.pass(first, 0) // it has the lease from now on
	run := s.submit()
	s.pass(second, 0)
	s.wantNoJob()
	s.pass(first, 0)
	j := s.take()
	r.event(t.Context(), event(j, 1, job.EventTaken, ""))
	r.flush(t.Context())
	s.beat(r) // its worker has lost it
	s.pass(second, 0)
	s.pass(second, missingFor)
	s.wantRun(run.ID, work.StateBuilding, 1) // and that is not the second's to say
	first.letGo(t.Context())
	second.lease.at = time.Time{}
	s.pass(second, missingFor)
	s.pass(second, missingFor)
	s.finish(r, s.take(), 10)
	s.wantRun(run.ID, work.StateDone, 2)
	s.wantBoard(10)
}
