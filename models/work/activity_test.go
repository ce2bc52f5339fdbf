package work_test

import (
	"math"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestActivityCoversTheLastDayOfCurrentSlots(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, at := modelstest.NewWorld(t, s), db.Now()
		ago := func(hours int) time.Time { return at.Add(-time.Duration(hours) * time.Hour) }
		up := map[string][]time.Time{"CPU": {ago(30), ago(24)}, "H200": {ago(1)}}
		// busy hours within the last day: 1 + 6 + 3 of 48 slot hours
		for hours, took := range map[int]int{30: 1, 25: 2, 12: 6, 6: 3} {
			run := w.Score(t, s, w.Ann, 100)
			started := at.Add(-time.Duration(hours) * time.Hour)
			_, err := s.SQL().ExecContext(t.Context(),
				"update runs set queued_at = $1, started_at = $2, ended_at = $3 where id = $4",
				started.Add(-time.Duration(took)*time.Minute), started, started.Add(time.Duration(took)*time.Hour),
				run.ID)
			modelstest.Check(t, err)
		}
		for i, ns := range []float64{100, 101, 99, 102, 100, 98} {
			benchmark := &job.SlotBenchmark{MeasuredAt: at.Add(-time.Duration(i) * time.Hour), EmptyCallNS: 5, BytesPerSecond: 1,
				FlopsPerSecond: 1, ReadCaseNS: ns, MathCaseNS: 1}
			modelstest.Check(t, s.Fleet.StoreBenchmark(t.Context(), "w",
				job.Slot{Device: "CPU", Machine: job.Machine{UUIDHash: "u", Device: "CPU", SlotBenchmark: benchmark}}))
		}
		all := modelstest.Got[map[string]work.DeviceActivity](t)(s.Work.DeviceActivities(t.Context(), at, up))
		cpu := all["CPU"]
		if cpu.WorkCount != 3 || cpu.SubmittedCount != 2 || cpu.MedianWait != 6*time.Minute ||
			math.Abs(cpu.BusyShare-10.0/48) > 1e-3 ||
			cpu.MeanSlotUptime != 24*time.Hour {
			t.Errorf("the day of the CPU is %+v, want 3 runs, of which 2 began to wait in it, and 10 of 48 hours", cpu)
		}
		late := modelstest.Got[map[string]work.DeviceActivity](t)(s.Work.DeviceActivities(t.Context(), at,
			map[string][]time.Time{"CPU": {ago(10), ago(4)}}))["CPU"]
		if math.Abs(late.BusyShare-7.0/14) > 1e-3 || late.MeanSlotUptime != 7*time.Hour {
			t.Errorf("slots that are up for 10 and 4 hours are busy %v of %v, want 7 of 14 hours: 4 + 3",
				late.BusyShare,
				late.MeanSlotUptime)
		}
		if cpu.SlotNoise < 0.01 || cpu.SlotNoise > 0.02 {
			t.Errorf("the noise is %v, want 1.5 %%: the median deviation of one, as a standard deviation",
				cpu.SlotNoise)
		}
		if _, known := all["H200"]; known {
			t.Error("a device that did nothing has an activity")
		}
	})
}
