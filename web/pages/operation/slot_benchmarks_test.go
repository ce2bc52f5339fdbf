package operation_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/web/webtest"
)

// benchmarkedSlot returns a slot with a benchmark n minutes after a time.
func benchmarkedSlot(at time.Time, n int, ns float64) job.Slot {
	at = at.Add(time.Duration(n) * time.Minute)
	return job.Slot{Device: "CPU", Machine: job.Machine{UUIDHash: "0123456789ab", Device: "CPU",
		SlotBenchmark: &job.SlotBenchmark{MeasuredAt: at, EmptyCallNS: 500, BytesPerSecond: 5e9, FlopsPerSecond: 5e10, ReadCaseNS: ns,
			MathCaseNS: 1e6}}}
}

func TestADevicesPagesShowItsSlotsAndADrift(t *testing.T) {
	s := webtest.Start(t)
	at := time.Now().Add(-time.Hour)
	visitor := s.Browser()
	for n, ns := range []float64{100e6, 100.1e6, 99.9e6, 100.2e6, 100e6, 100.1e6, 120e6, 121e6} {
		slot := benchmarkedSlot(at, n, ns)
		for range 2 { // as two heartbeats do, which repeat the same benchmark
			if err := s.Cfg.Store.Fleet.StoreBenchmark(t.Context(), "w1", slot); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Cfg.Store.Fleet.SaveHeartbeat(t.Context(),
			job.Heartbeat{Worker: "w1", Slots: []job.Slot{slot}}); err != nil {
			t.Fatal(err)
		}
		page := string(visitor.Bytes(t, "/devices/CPU/sentinel", http.StatusOK))
		if drifts := strings.Contains(page, "data-drift"); drifts != (n == 7) {
			t.Errorf("after %d benchmarks it drifts: %v", n+1, drifts)
		}
		if rows := strings.Count(page, "<tr>") - 1; rows != n+1 {
			t.Errorf("%d rows after %d benchmarks", rows, n+1)
		}
	}
	if page := string(visitor.Bytes(t, "/devices", http.StatusOK)); !strings.Contains(page,
		`href="/devices/CPU/sentinel"`) || !strings.Contains(page, "data-gauge") {
		t.Error("the queue page does not show what was measured, or does not lead to it")
	}
	webtest.WantText(t, visitor.Page("/devices", http.StatusOK), "[data-device=CPU] [data-day]", "noise ± 0.1 %")
	// A CPU has no time for an empty kernel.
	webtest.WantText(t, visitor.Page("/devices", http.StatusOK), "[data-gauge]", "Best: 5 GB/s, 50 GFLOP/s")
	if drift, err := s.Cfg.Store.Fleet.DescribeDrift(t.Context(), "w1", "0123456789ab"); err != nil ||
		!strings.Contains(drift, "reads memory") {
		t.Errorf("%q, %v", drift, err)
	}
}
