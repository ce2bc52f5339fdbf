package dispatch

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

var (
	_ Queue         = (*queue.Queue)(nil)
	_ queue.Handler = (*Dispatcher)(nil)
)

func TestARunGoesFromItsRowToTheBoardAndWatchersSeeIt(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		ctx, stop := context.WithCancel(s.Context())
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return d.Run(ctx) })
		run := s.submit()
		d.Wake()
		s.seen.until(s.T, "work is announced", func() bool { return s.queue.hasWork("CPU") })
		j := s.take()
		if !strings.HasPrefix(string(j.Sources["submission.cpp"]), "int main") || j.Device != "CPU" ||
			j.Mode != job.ModeRanked || j.TaskHash == "" {
			s.Errorf("job: %+v", j)
		}
		s.tell(d, event(j, 1, job.EventAttemptStarted, ""), event(j, 2, job.EventStageStarted, job.StageTest))
		s.seen.until(s.T, "the test stage is seen", func() bool { return s.seen.has(work.StateTesting) })
		s.finish(d, j, 12)
		s.seen.until(s.T, "the end is seen", func() bool { return s.seen.has(work.StateDone) })
		stop()
		if err := group.Wait(); err != nil {
			s.Error(err)
		}
		s.wantRun(run.ID, work.StateDone, 1)
		s.wantBoard(12)
		if len(s.seen.boards) != 1 || s.seen.boards[0] != 1 {
			s.Errorf("board changes told: %v", s.seen.boards)
		}
	})
}

func (w *watcher) has(state work.RunState) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if e.State == state {
			return true
		}
	}
	return false
}

func TestADeviceGetsOneJobMoreThanItsSlotsInFairOrder(t *testing.T) {
	eachSite(t, func(s *site) {
		for range 4 {
			s.submit()
		}
		ben := modelstest.Person(s, s.store, "Ben", accounts.RoleUser)
		bens := modelstest.Submit(s, s.store, ben, s.task)[0]
		d := s.boot()
		first, second := s.take(), s.take()
		if second.RunID != bens.ID {
			s.Errorf("second is run %d and not Ben's %d", second.RunID, bens.ID)
		}
		s.wantNoJob()
		s.beat(d, first.AttemptID, second.AttemptID)
		s.pass(d, 0)
		s.wantNoJob()
		s.finish(d, first, 10)
		s.take()
		s.wantNoJob()
	})
}

// TestWorkIsAnnouncedWhileADeviceHasFreeSlots checks that work is announced if a slot is free, and not if all are busy.
func TestWorkIsAnnouncedWhileADeviceHasFreeSlots(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		s.pass(d, 0)
		if s.queue.hasWork("CPU") {
			s.Error("work is announced where none waits")
		}
		for range 3 {
			s.submit()
		}
		s.pass(d, 0)
		if !s.queue.hasWork("CPU") {
			s.Error("work that waits is not announced")
		}
		first := s.take()
		s.take()
		s.pass(d, 0)
		if s.queue.hasWork("CPU") {
			s.Error("work is announced that there is no room for")
		}
		s.finish(d, first, 10)
		s.pass(d, 0)
		if !s.queue.hasWork("CPU") {
			s.Error("work is not announced when room is free")
		}
	})
}

func TestNothingIsSentWithoutAReceiver(t *testing.T) {
	for name, beat := range map[string]job.Heartbeat{
		"other device":  {Slots: []job.Slot{{Device: "H200"}}},
		"refusing":      {Slots: []job.Slot{{Device: "CPU"}}, NoJobsReason: "the sandbox does not hold"},
		"disabled slot": {Slots: []job.Slot{{Device: "CPU", DisabledReason: "hot"}}},
		"stopping":      {Slots: []job.Slot{{Device: "CPU"}}, IsStopping: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			run := s.submit()
			d := s.boot()
			beat.Worker = "w1"
			s.sync(d, beat)
			s.pass(d, 0)
			s.wantNoJob()
			s.wantRun(run.ID, work.StateQueued, 0)
		})
	}
}

func TestAWorkerThatFallsSilentLosesItsRunsAtOnce(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		before := time.Now()
		s.beat(d, j.AttemptID)
		after := time.Now()
		if err := d.runPass(s.Context(), before.Add(fleet.WorkerTimeout/2)); err != nil {
			s.Fatal(err)
		}
		s.wantRun(run.ID, work.StateBuilding, 1)
		if err := d.runPass(s.Context(), after.Add(fleet.WorkerTimeout)); err != nil {
			s.Fatal(err)
		}
		got := s.wantRun(run.ID, work.StateQueued, 1)
		if got.Failure == nil || !got.Failure.IsInfrastructureError || got.Losses != 1 || !s.queue.stopped(j.AttemptID) {
			s.Errorf("run: %+v", got)
		}
		s.wantNoJob() // there is no other worker
	})
}

func TestNothingBeginsOnAPausedDeviceUntilItIsResumed(t *testing.T) {
	eachSite(t, func(s *site) {
		admin := accounts.User{Name: "Root", Role: accounts.RoleAdmin}
		d := s.boot()
		if err := s.store.Fleet.PauseDevice(s.Context(), admin, "CPU", ""); err != nil {
			s.Fatal(err)
		}
		run := s.submit()
		s.pass(d, 0)
		s.wantNoJob()
		s.wantRun(run.ID, work.StateQueued, 0)
		if err := s.store.Fleet.ResumeDevice(s.Context(), admin, "CPU"); err != nil {
			s.Fatal(err)
		}
		s.pass(d, 0)
		s.take()
	})
}

func TestAnOutageOfTheDatabaseIsNoSilenceOfWorkers(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		s.beat(d, j.AttemptID)
		back := time.Now().Add(2 * fleet.WorkerTimeout) // until this time, no heartbeat could be stored
		down, cancel := context.WithCancel(s.Context())
		cancel()
		if err := d.runPass(down, back.Add(-time.Second)); err == nil {
			s.Fatal("a pass without a database succeeded")
		}
		for _, after := range []time.Duration{0, fleet.WorkerTimeout / 2} {
			if err := d.runPass(s.Context(), back.Add(after)); err != nil {
				s.Fatal(err)
			}
			s.wantRun(run.ID, work.StateBuilding, 1)
		}
		if err := d.runPass(s.Context(), back.Add(fleet.WorkerTimeout)); err != nil {
			s.Fatal(err)
		}
		s.wantRun(run.ID, work.StateQueued, 1) // the worker has sent no heartbeat since then
	})
}

func TestAResultOnItsWayIsNotTakenForALostRun(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		s.beat(d, j.AttemptID)
		s.pass(d, time.Second)
		s.beat(d) // this heartbeat no longer has the attempt, which has ended on the worker
		s.pass(d, 2*time.Second)
		s.finish(d, j, 10)
		s.pass(d, 2*missingAttemptTimeout)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}

func TestACancelledRunIsStoppedWhereverItIs(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		cancel := func(run work.Run) {
			s.Helper()
			if err := d.Cancel(s.Context(), s.ann, run.ID); err != nil {
				s.Fatal(err)
			}
		}
		waiting := s.submit()
		cancel(waiting)
		s.wantRun(waiting.ID, work.StateCancelled, 0)

		running := s.submit()
		s.pass(d, 0)
		j := s.take()
		s.tell(d, event(j, 1, job.EventAttemptStarted, ""))
		cancel(running)
		if !s.queue.stopped(j.AttemptID) {
			s.Error("the worker was not told")
		}
		s.wantRun(running.ID, work.StateCancelled, 1)
		if err := d.Cancel(s.Context(), s.ann, running.ID); db.KindOf(err) != db.Conflict {
			s.Errorf("cancelled again: %v", err)
		}

		// The announcement was lost: the response to the next heartbeat cancels the attempt.
		if drop := s.beat(d, j.AttemptID); !slices.Equal(drop, []string{j.AttemptID}) {
			s.Errorf("the worker is told to drop %v", drop)
		}
	})
}

func TestAJobThatCannotBeMadeIsAnInfrastructureError(t *testing.T) {
	for name, large := range map[string]bool{"too large": true, "no file": false} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			run := s.submit()
			s.boot()
			if large {
				s.queue.largest = 100
			} else if _, err := s.store.SQL().ExecContext(t.Context(),
				"delete from version_files where path = 'task.h'"); err != nil {
				t.Fatal(err)
			}
			s.wantNoJob()
			got := s.wantRun(run.ID, work.StateFailed, 1)
			if !got.InfrastructureError || got.Failure == nil {
				t.Errorf("failure: %+v", got.Failure)
			}
		})
	}
}
