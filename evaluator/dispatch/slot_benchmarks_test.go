package dispatch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/work"
)

// TestRankedRunsOfASlotThatDriftsAreHeldBack checks that a score from a slot whose benchmark drifts waits for a review,
// and that the first score after the drift counts.
func TestRankedRunsOfASlotThatDriftsAreHeldBack(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		beat := func(minute int, ns float64) {
			g := job.SlotBenchmark{MeasuredAt: time.Now().Add(time.Duration(minute) * time.Minute), EmptyCallNS: 1,
				BytesPerSecond: 1e9, FlopsPerSecond: 1e9, ReadCaseNS: ns, MathCaseNS: ns}
			s.sync(d, job.Heartbeat{Worker: "w1",
				Slots: []job.Slot{{Device: "CPU", Machine: job.Machine{UUIDHash: "ab", SlotBenchmark: &g}}}})
		}
		ranked := func(ns float64) work.Run {
			run := s.submit()
			s.pass(d, 0)
			done := result(s.take(), ns)
			done.Machine.Worker, done.Machine.UUIDHash = "w1", "ab"
			if err := d.StoreResult(s.Context(), done); err != nil {
				s.Fatal(err)
			}
			run, err := s.store.Work.Run(s.Context(), run.ID)
			if err != nil {
				s.Fatal(err)
			}
			return run
		}
		for minute := range 10 {
			beat(minute, 1e6)
		}
		if run := ranked(10); run.HeldReason != "" {
			s.Errorf("a steady slot: %q", run.HeldReason)
		}
		beat(10, 1.2e6)
		beat(11, 1.2e6)
		if run := ranked(9); !strings.Contains(run.HeldReason, "has drifted") ||
			!strings.Contains(run.HeldReason, "+20.0 %") || run.DisturbedReason == "" {
			s.Errorf("a slot that drifts: %q", run.HeldReason)
		}
		s.wantBoard(10)
		beat(12, 1e6)
		if run := ranked(8); run.HeldReason != "" {
			s.Errorf("a slot that is steady again: %q", run.HeldReason)
		}
		s.wantBoard(8)
	})
}

// TestAnUnchangedSlotBenchmarkAddsNoCostToAHeartbeat checks that a known benchmark causes no additional queries.
func TestAnUnchangedSlotBenchmarkAddsNoCostToAHeartbeat(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		at := time.Now()
		third := func(worker string, benchmarked bool) (statements int64) {
			for range 3 {
				m := job.Machine{UUIDHash: "ab"}
				if benchmarked { // a new pointer each time, as in decoded messages
					m.SlotBenchmark = &job.SlotBenchmark{MeasuredAt: at, EmptyCallNS: 1, BytesPerSecond: 1e9, FlopsPerSecond: 1e9,
						ReadCaseNS: 1e6, MathCaseNS: 1e6}
				}
				before := s.store.QueryCount()
				s.sync(d, job.Heartbeat{Worker: worker, Slots: []job.Slot{{Device: "CPU", Machine: m}}})
				statements = s.store.QueryCount() - before
			}
			return statements
		}
		if with, without := third("w1", true), third("w2", false); with != without {
			s.Errorf("%d statements with a slot benchmark, %d without one", with, without)
		}
	})
}

// TestAWorkerHasOnlySoMuchStoredOfItsSlots checks the rate limits for the data of one worker's slots, which may invent
// any number of slots, times, and kinds of software.
func TestAWorkerHasOnlySoMuchStoredOfItsSlots(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		count := func(table string) (n int) {
			if err := s.store.SQL().QueryRowContext(s.Context(), "select count(*) from "+table).Scan(&n); err != nil {
				s.Fatal(err)
			}
			return n
		}
		before := count("epochs")
		for beat := range 30 {
			var slots []job.Slot
			for i := range 100 {
				g := job.SlotBenchmark{MeasuredAt: time.Now(), EmptyCallNS: 1, BytesPerSecond: 1e9, FlopsPerSecond: 1e9,
					ReadCaseNS: 1e6, MathCaseNS: 1e6}
				slots = append(slots, job.Slot{Device: "CPU",
					Machine: job.Machine{UUIDHash: fmt.Sprintf("%d %d", beat, i),
						CompilerVersion: fmt.Sprintf("g++ %d.%d", beat, i), SlotBenchmark: &g}})
			}
			s.sync(d, job.Heartbeat{Worker: "w1", Slots: slots})
		}
		if n := count("sentinels"); n > 100 {
			s.Errorf("3000 made-up benchmarks are %d rows", n)
		}
		if n := count("epochs") - before; n > 21*32 {
			s.Errorf("3000 made-up kinds of software are %d rows", n)
		}
	})
}
