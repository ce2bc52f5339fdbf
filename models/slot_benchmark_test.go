package models_test

import (
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
)

func TestSlotBenchmarksAreKeptOncePerSlotForAMonth(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		now := time.Now()
		for _, age := range []time.Duration{40 * 24 * time.Hour, time.Hour, time.Hour, 0} {
			for _, hash := range []string{"a", "b"} {
				g := job.SlotBenchmark{MeasuredAt: now.Add(-age), EmptyCallNS: 1, BytesPerSecond: 1, FlopsPerSecond: 1, ReadCaseNS: 5,
					MathCaseNS: 7}
				modelstest.Check(t, s.Fleet.StoreBenchmark(t.Context(), "w1",
					job.Slot{Device: "CPU", Machine: job.Machine{UUIDHash: hash, SlotBenchmark: &g}}))
			}
		}
		list, err := s.Fleet.BenchmarksOf(t.Context(), "CPU", 10)
		modelstest.Check(t, err)
		if len(list) != 4 || list[0].MeasuredAt.Before(list[3].MeasuredAt) || list[0].ReadNS != 5 ||
			list[0].MathNS != 7 {
			t.Errorf("%+v", list)
		}
		modelstest.Check(t, s.Fleet.StoreBenchmark(t.Context(), "w1",
			job.Slot{Device: "CPU", Machine: job.Machine{SlotBenchmark: &job.SlotBenchmark{}}}))
		if other, err := s.Fleet.BenchmarksOf(t.Context(), "H200", 10); err != nil || len(other) != 0 {
			t.Errorf("another device has %+v, %v", other, err)
		}
	})
}

func TestDriftingListsSlotsWithUnusualSpeed(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		for n := range 12 {
			for hash, newest := range map[string]float64{"steady": 1e6, "slow": 1.5e6} {
				g := job.SlotBenchmark{MeasuredAt: time.Now().Add(time.Duration(n-12) * time.Hour), EmptyCallNS: 1,
					BytesPerSecond: 1, FlopsPerSecond: 1, ReadCaseNS: 1e6, MathCaseNS: 2e6}
				if n >= 10 {
					g.ReadCaseNS = newest
				}
				modelstest.Check(t, s.Fleet.StoreBenchmark(t.Context(), "w1",
					job.Slot{Device: "CPU", Machine: job.Machine{UUIDHash: hash, SlotBenchmark: &g}}))
			}
		}
		list, err := s.Fleet.DriftingSlots(t.Context())
		modelstest.Check(t, err)
		if len(list) != 1 || list[0].UUIDHash != "slow" || list[0].Device != "CPU" ||
			!strings.Contains(list[0].Description, "reads memory differs by +50") {
			t.Errorf("%+v", list)
		}
	})
}
