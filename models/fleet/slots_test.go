package fleet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/fleet"
)

func TestCountSlotsCountsLiveWorkersByDevice(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	slot := func(device, attempt, disabled string) job.Slot {
		return job.Slot{Device: device, AttemptID: attempt, DisabledReason: disabled}
	}
	workers := []fleet.Worker{
		{Name: "both", SeenAt: now, Slots: []job.Slot{slot("CPU", "", ""), slot("CPU", "a1", ""),
			slot("H200", "", "hot"), slot("H200", "a2", "hot")}},
		{Name: "more", SeenAt: now.Add(1 - fleet.WorkerTimeout), Slots: []job.Slot{slot("CPU", "", "")}},
		{Name: "refuses", SeenAt: now, NoJobsReason: "the sandbox does not hold",
			Slots: []job.Slot{slot("L4", "", ""), slot("L4", "a3", "")}},
		{Name: "silent", SeenAt: now.Add(-fleet.WorkerTimeout), Slots: []job.Slot{slot("CPU", "", "")}},
		{Name: "left", SeenAt: now, HasExited: true, Slots: []job.Slot{slot("CPU", "", "")}},
	}
	want := map[string]fleet.DeviceSlots{"CPU": {AcceptingJobs: 3, Free: 2, Busy: 1}, "H200": {Busy: 1},
		"L4": {Busy: 1}}
	if diff := cmp.Diff(want, fleet.CountAllSlots(workers, now)); diff != "" {
		t.Errorf("all slots (-want +got):\n%s", diff)
	}
	ofOne := func(w fleet.Worker, s job.Slot) bool { return w.Name == "both" && w.AcceptsJobsOn(s) }
	if diff := cmp.Diff(map[string]fleet.DeviceSlots{"CPU": {AcceptingJobs: 2, Free: 1, Busy: 1}},
		fleet.CountSlots(workers, now, ofOne)); diff != "" {
		t.Errorf("those that one worker takes jobs on (-want +got):\n%s", diff)
	}
}
