package dispatch

import (
	"fmt"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

// beatOf sends the heartbeat of a worker with slots and a driver version.
func (s *site) beatOf(d *Dispatcher, driver string, slots int, attempts ...string) {
	h := job.Heartbeat{Worker: "w1", WorkerStartedAt: time.Now(), Attempts: attempts}
	for i := range slots {
		h.Slots = append(h.Slots, job.Slot{Index: i, Device: "CPU", Machine: job.Machine{Driver: driver}})
	}
	s.sync(d, h)
}

// TestNewSoftwareIsMeasuredWhileOneSlotIsLeftForPeople checks that reruns for new software leave one slot free, if
// there are several, and are stopped when people need more slots.
func TestNewSoftwareIsMeasuredWhileOneSlotIsLeftForPeople(t *testing.T) {
	for slots, capacity := range map[int]int{1: 1, 3: 2} {
		t.Run(fmt.Sprint(slots, " slots"), func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			for i := range 5 {
				run := modelstest.Submit(t, s.store,
					modelstest.Person(t, s.store, fmt.Sprintf("p%d", i), accounts.RoleUser), s.task)[0]
				modelstest.Finish(t, s.store, run, 100+float64(i))
			}
			d := s.boot()
			s.beatOf(d, "580", slots)
			s.pass(d, 0)
			var attempts []string
			for range capacity {
				attempts = append(attempts, s.take().AttemptID)
			}
			s.wantNoJob()
			s.beatOf(d, "580", slots, attempts...)
			s.pass(d, 0)
			s.wantNoJob()
			for range slots { // one run for each slot, so people need also the slots of the reruns
				s.submit()
			}
			s.pass(d, 0) // this pass stops the reruns, so that no one waits for their end
			mine := s.take()
			if run, err := s.store.Work.Run(t.Context(), mine.RunID); err != nil || run.UserID != s.ann.ID {
				t.Errorf("next is %+v, %v, want a run that someone waits for", run, err)
			}
			for _, id := range attempts {
				if !s.queue.stopped(id) {
					t.Errorf("attempt %s goes on in the way of people", id)
				}
			}
		})
	}
}

// TestANewDeviceIsStoredOnceAndItsWorkerReconnects checks that a worker with a new device must reconnect once, because
// its permissions were set when it connected.
func TestANewDeviceIsStoredOnceAndItsWorkerReconnects(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "H100")
	d := s.boot()
	for range 2 {
		s.sync(d, job.Heartbeat{Worker: "w2", WorkerStartedAt: time.Now(), Slots: []job.Slot{
			{Device: "H100-SXM", MemoryBytes: 80 << 30, Machine: job.Machine{DeviceName: "NVIDIA H100 80GB HBM3"}},
			// not a valid device: the label does not match the name
			{Device: "L4", MemoryBytes: 80 << 30, Machine: job.Machine{DeviceName: "NVIDIA H100 80GB HBM3"}},
		}})
	}
	task, err := s.store.Catalog.TaskByID(t.Context(), s.task.ID)
	if err != nil || fmt.Sprint(task.Devices) != "[H100-SXM]" {
		t.Errorf("the task has %v, %v", task.Devices, err)
	}
	if fmt.Sprint(s.queue.kicked) != "[w2]" {
		t.Errorf("connect again: %v", s.queue.kicked)
	}
}

// TestAConfirmationIsMeasuredOnABusyDevice checks that a confirmation takes precedence over people's runs after ten
// minutes.
func TestAConfirmationIsMeasuredOnABusyDevice(t *testing.T) {
	modelstest.EachConfig(t, models.Config{ConfirmFirstPlaces: true}, func(t *testing.T, store *models.Store) {
		s := newSite(t, store, "CPU")
		d := s.boot()
		ben := modelstest.Person(t, store, "Ben", accounts.RoleUser)
		modelstest.Finish(t, store, modelstest.Submit(t, store, ben, s.task)[0], 10_000)
		modelstest.Finish(t, store, s.submit(), 9_000)
		took := func(in time.Duration) (confirms bool) {
			s.submit()
			s.submit()
			s.pass(d, in)
			for range 2 {
				j := s.take()
				s.fail(d, j)
				run, err := store.Work.Run(s.Context(), j.RunID)
				if err != nil {
					s.Fatal(err)
				}
				confirms = confirms || run.OrderID != nil
			}
			return confirms
		}
		if took(0) || took(9*time.Minute) {
			s.Error("it was measured before people's runs")
		}
		if !took(11 * time.Minute) {
			s.Error("it was not measured after eleven minutes")
		}
	})
}
