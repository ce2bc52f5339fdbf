package work_test

import (
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// workerOf sends a heartbeat of a worker with this many CPU slots.
func workerOf(t *testing.T, s *models.Store, name string, slots int) {
	t.Helper()
	h := job.Heartbeat{Worker: name, WorkerStartedAt: time.Now()}
	for i := range slots {
		h.Slots = append(h.Slots, job.Slot{Index: i, Device: "CPU"})
	}
	modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(), h))
}

func next(t *testing.T, s *models.Store, ask job.WorkRequest) *work.Attempt {
	t.Helper()
	return modelstest.Got[*work.Attempt](t)(s.Work.StartNextAttempt(t.Context(), ask, time.Now()))
}

// TestAskingAtOnceNoWorkerGetsAnothersJob checks that each run or evaluation starts once, even if many workers request
// work at the same time.
func TestAskingAtOnceNoWorkerGetsAnothersJob(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		const workers, jobs = 6, 12
		for range jobs {
			w.Submit(t, s, w.Ann)
		}
		var asking sync.WaitGroup
		var mu sync.Mutex
		begun := map[int64]int{}
		for i := range workers {
			name := string(rune('a' + i))
			workerOf(t, s, name, jobs)
			asking.Go(func() {
				var held []string
				for {
					a, err := s.Work.StartNextAttempt(t.Context(), job.WorkRequest{Worker: name, Device: "CPU", Attempts: held}, time.Now())
					if err != nil {
						t.Error(err)
						return
					}
					if a == nil {
						return
					}
					held = append(held, a.ID)
					mu.Lock()
					begun[a.RunID]++
					mu.Unlock()
				}
			})
		}
		asking.Wait()
		if len(begun) != jobs {
			t.Errorf("%d of %d runs were begun", len(begun), jobs)
		}
		for run, n := range begun {
			if n != 1 {
				t.Errorf("run %d was begun %d times", run, n)
			}
		}
	})
}

// TestAWorkerGetsWorkOfItsDevicesAloneUntilItIsRevoked checks that a worker gets work only for its devices, none before
// its first heartbeat, and none after its credential was revoked.
func TestAWorkerGetsWorkOfItsDevicesAloneUntilItIsRevoked(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		w.Submit(t, s, w.Ann)
		for name, device := range map[string]string{"mine": "CPU", "other": "H200", "revoked": "CPU", "silent": "CPU"} {
			_, _, err := s.Fleet.CreateCredential(ctx, w.Admin, name, []string{device})
			modelstest.Check(t, err)
			if name != "silent" {
				workerOf(t, s, name, 1)
			}
		}
		modelstest.Check(t, s.Fleet.RevokeCredential(ctx, w.Admin, "revoked"))
		for _, name := range []string{"other", "revoked", "silent", "unknown"} {
			if a := next(t, s, job.WorkRequest{Worker: name, Device: "CPU"}); a != nil {
				t.Errorf("%s gets %+v", name, a)
			}
		}
		if a := next(t, s, job.WorkRequest{Worker: "mine", Device: "CPU"}); a == nil || a.Worker != "mine" || a.ReceivedAt != nil {
			t.Errorf("it gets %+v", a)
		}
	})
}

// TestAThiefOfACredentialGetsNoMoreThanItsSlotsCanHold checks that the number of slots limits the work of a worker,
// whatever attempts the worker reports.
func TestAThiefOfACredentialGetsNoMoreThanItsSlotsCanHold(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		for range 5 {
			w.Submit(t, s, w.Ann)
		}
		workerOf(t, s, "w1", 1)
		var held []string
		for range 10 {
			if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "CPU", Attempts: held}); a != nil {
				held = append(held, a.ID)
			}
		}
		if len(held) != 2 {
			t.Errorf("one slot has %d jobs", len(held))
		}
	})
}

func TestJobsThatAreBuiltAreInNoOthersWay(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		for range 5 {
			w.Submit(t, s, w.Ann)
		}
		workerOf(t, s, "w1", 1)
		var held []string
		for building := range 4 {
			if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "CPU", Attempts: held, BuildingCount: building}); a != nil {
				held = append(held, a.ID)
			}
		}
		if len(held) != 4 {
			t.Errorf("a slot has %d jobs, with three that are built beside it", len(held))
		}
		if a := next(t, s, job.WorkRequest{Worker: "w1", Device: "CPU", Attempts: held, BuildingCount: 2}); a != nil {
			t.Errorf("a slot has a third job that is not built: %+v", a)
		}
	})
}

// TestBriefEvaluationsAreSentWhileOthersWait checks that a worker gets a third and a fourth evaluation while two are on
// it if the caller's last ones were brief, because a slot can end some while others are compiled. It gets no run then,
// and nothing if one of the two takes long, or if they are not those of the slot's last caller.
func TestBriefEvaluationsAreSentWhileOthersWait(t *testing.T) {
	for _, tt := range []struct {
		then   string
		later  time.Duration
		took   int // seconds of the caller's last evaluations
		caller string
		want   int
	}{
		{"an evaluation", 0, 1, "token:ann", 4},
		{"an evaluation", 0, 3, "token:ann", 2},
		{"an evaluation", 0, 1, "token:ben", 2},
		{"a run", 0, 1, "token:ann", 2},
		{"an evaluation", time.Minute, 1, "token:ann", 2},
	} {
		modelstest.Each(t, func(t *testing.T, s *models.Store) {
			w := modelstest.NewWorld(t, s)
			submit := func() work.Evaluation {
				return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{
					Caller: "ann", Owner: "token:ann", Kind: "evaluate", Device: "CPU", Request: []byte(`{}`)}))
			}
			ended(t, s, submit(), tt.took)
			workerOf(t, s, "w1", 1)
			ask := job.WorkRequest{Worker: "w1", Device: "CPU", Caller: tt.caller}
			for _, what := range []string{"an evaluation", "an evaluation", tt.then, tt.then, tt.then} {
				if what == "a run" {
					w.Submit(t, s, w.Ann)
				} else {
					submit()
				}
				at := time.Now()
				if len(ask.Attempts) == 2 {
					at = at.Add(tt.later)
				}
				if a := modelstest.Got[*work.Attempt](t)(s.Work.StartNextAttempt(t.Context(), ask, at)); a != nil {
					ask.Attempts, ask.IsSlotBusy = append(ask.Attempts, a.ID), true
				}
			}
			if len(ask.Attempts) != tt.want {
				t.Errorf("%+v: %d are in flight", tt, len(ask.Attempts))
			}
		})
	}
}

// TestASlotLeavesAttemptsToTheOthers checks that a slot gets no more attempts if it has two beyond its share, and that
// another slot of the worker gets them.
func TestASlotLeavesAttemptsToTheOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		workerOf(t, s, "w1", 4)
		for range 6 {
			submitted(t, s, "ann")
		}
		ask := job.WorkRequest{Worker: "w1", Device: "CPU"}
		for range 4 {
			ask.Attempts = append(ask.Attempts, next(t, s, ask).ID)
		}
		ask.IsSlotBusy = true
		for _, tt := range []struct{ slotJobs, want int }{{4, 4}, {3, 5}} {
			ask.SlotJobCount = tt.slotJobs
			if a := next(t, s, ask); a != nil {
				ask.Attempts = append(ask.Attempts, a.ID)
			}
			if len(ask.Attempts) != tt.want {
				t.Errorf("a slot with %d asks: the worker has %d, want %d", tt.slotJobs, len(ask.Attempts), tt.want)
			}
		}
	})
}

// fullWorker makes a worker that has had six attempts of one caller for some time, and returns the request of a busy
// slot.
func fullWorker(t *testing.T, s *models.Store, slots int, age time.Duration) job.WorkRequest {
	t.Helper()
	workerOf(t, s, "w1", slots)
	ask := job.WorkRequest{Worker: "w1", Device: "CPU", IsSlotBusy: true}
	for range 6 {
		ask.Attempts = append(ask.Attempts, begun(t, s, submitted(t, s, "ann")).ID)
	}
	modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(),
		"update attempts set taken_at = $1", db.NormalizeTime(time.Now().Add(-age)))))
	return ask
}

// TestAFullWorkerGetsWorkOfOthers checks that evaluations of one caller, which were all sent while they were being
// built, keep another person's run from a worker for some seconds only, that the worker gets no more than this run, and
// nothing without a slot.
func TestAFullWorkerGetsWorkOfOthers(t *testing.T) {
	for _, tt := range []struct {
		slots int
		age   time.Duration
		want  int // runs that the worker gets
	}{{1, 10 * time.Second, 0}, {1, 20 * time.Second, 1}, {0, 20 * time.Second, 0}} {
		modelstest.Each(t, func(t *testing.T, s *models.Store) {
			w := modelstest.NewWorld(t, s)
			ask := fullWorker(t, s, tt.slots, tt.age)
			submitted(t, s, "ann")
			w.Submit(t, s, w.Ben)
			w.Submit(t, s, w.Ben)
			got := 0
			for range 3 {
				if a := next(t, s, ask); a != nil {
					got++
					ask.Attempts = append(ask.Attempts, a.ID)
				}
			}
			if got != tt.want {
				t.Errorf("%+v: the worker gets %d", tt, got)
			}
		})
	}
}

// TestAFullWorkerGetsWorkOfFewOthers checks that a full worker does not get work of any number of callers.
func TestAFullWorkerGetsWorkOfFewOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ask := fullWorker(t, s, 1, 20*time.Second)
		for i := range 20 {
			submitted(t, s, string(rune('a'+i)))
		}
		got := 0
		for a := next(t, s, ask); a != nil; a = next(t, s, ask) {
			got++
			ask.Attempts = append(ask.Attempts, a.ID)
		}
		if got != 7 {
			t.Errorf("the worker gets work of %d others, want 7", got)
		}
	})
}

// TestIdleSlotsComeBeforeBusyOnes checks that a worker gets the next job for a busy slot only while no slot is idle.
func TestIdleSlotsComeBeforeBusyOnes(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		for range 4 {
			w.Submit(t, s, w.Ann)
		}
		workerOf(t, s, "w1", 1)
		workerOf(t, s, "w2", 1)
		first := next(t, s, job.WorkRequest{Worker: "w1", Device: "CPU"})
		ahead := job.WorkRequest{Worker: "w1", Device: "CPU", IsSlotBusy: true, Attempts: []string{first.ID}}
		if a := next(t, s, ahead); a != nil {
			t.Errorf("a busy slot gets what an idle one could run: %+v", a)
		}
		if a := next(t, s, job.WorkRequest{Worker: "w2", Device: "CPU"}); a == nil {
			t.Error("the idle slot gets nothing")
		}
		if a := next(t, s, ahead); a == nil {
			t.Error("nothing is built ahead")
		}
		if a := next(t, s, job.WorkRequest{Worker: "w2", Device: "CPU", IsSlotBusy: true}); a == nil || a.Number != 1 {
			t.Errorf("a job that did not arrive is not sent again: %+v", a)
		}
	})
}
