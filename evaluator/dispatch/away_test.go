package dispatch

import (
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// watchFor makes one pass of the dispatcher per second, starting at from, as Run does. No heartbeats arrive in this
// time.
func (s *site) watchFor(d *Dispatcher, from time.Time, seconds int) {
	s.Helper()
	for i := range seconds {
		now := from.Add(time.Duration(i) * time.Second)
		d.lossDetector.beginPass(now)
		if err := d.runPass(s.Context(), now); err != nil {
			s.Fatal(err)
		}
	}
}

func TestFrozenSiteTakesNothingBackFromHealthyWorkers(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		s.beat(d, j.AttemptID)
		begun := time.Now()
		s.watchFor(d, begun, 2)
		// The process is suspended. After it continues, it makes a pass before it reads a heartbeat.
		thawed := begun.Add(2 * fleet.WorkerTimeout)
		s.watchFor(d, thawed, 2)
		s.wantRun(run.ID, work.StateBuilding, 1)
		if s.queue.stopped(j.AttemptID) {
			s.Error("a healthy worker was told to stop")
		}
		// A worker that stays silent still loses its run, but the loss does not count against the run.
		s.watchFor(d, thawed.Add(2*time.Second), int(fleet.WorkerTimeout/time.Second))
		if run := s.wantRun(run.ID, work.StateQueued, 1); run.Losses != 0 || run.Retries != 1 {
			s.Errorf("%d losses count of %d", run.Losses, run.Retries)
		}
	})
}

func TestResultThatWaitsForAFrozenSiteIsNotTakenForALostRun(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		s.beat(d, j.AttemptID)
		s.beat(d) // this heartbeat no longer has the attempt, which has ended on the worker
		begun := time.Now()
		s.watchFor(d, begun, 2)
		s.watchFor(d, begun.Add(fleet.WorkerTimeout), 2)
		s.finish(d, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}

// TestDatabaseThatTakesNoWritesIsNoSilenceOfWorkers blocks writes to the database, like a backup or a full disk, while
// reads work. Heartbeats cannot be stored then, so the dispatcher must not requeue the runs of workers.
func TestDatabaseThatTakesNoWritesIsNoSilenceOfWorkers(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	run := s.submit()
	d := s.boot()
	d.lossDetector.slowWriteTime = 20 * time.Millisecond
	s.pass(d, 0)
	j := s.take()
	s.beat(d, j.AttemptID)
	begun := time.Now()
	held, err := s.store.SQL().BeginTx(t.Context(), nil) // blocks other writers, because SQLite has only one
	if err != nil {
		t.Fatal(err)
	}
	// Long enough for the pass to begin, even on a busy machine.
	time.AfterFunc(2*time.Second, func() { _ = held.Rollback() })
	if err := d.runPass(t.Context(), begun.Add(fleet.WorkerTimeout)); err != nil {
		t.Fatal(err)
	}
	s.wantRun(run.ID, work.StateBuilding, 1)
	if err := d.runPass(t.Context(), begun.Add(fleet.WorkerTimeout+time.Second)); err != nil {
		t.Fatal(err)
	}
	s.wantRun(run.ID, work.StateBuilding, 1)
}

func TestRepeatedKillsOfTheSiteDoNotFailARun(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		kills := 2 * work.MaxLosses
		for range kills {
			d := s.boot()
			s.pass(d, longEnough)
			j := s.take()
			s.tell(d, event(j, 1, job.EventAttemptStarted, ""))
			d = s.boot() // a new site with a new embedded worker
			s.pass(d, 0)
			s.pass(d, missingAttemptTimeout)
			lost, err := s.store.Work.Run(s.Context(), run.ID)
			if err != nil || lost.State.IsFinal() {
				s.Fatalf("the run is %s, %v: %+v", lost.State, err, lost.Failure)
			}
		}
		got, err := s.store.Work.Run(s.Context(), run.ID)
		if err != nil || got.Losses != 0 || got.Retries != kills {
			s.Errorf("%d losses count of %d, want 0 of %d", got.Losses, got.Retries, kills)
		}
	})
}

// TestRestartsOfWorkersByTheirOperatorDoNotFailARun restarts workers during a run: several workers that announce their
// stop but are killed before they hand the run back, and one worker that is killed several times.
func TestRestartsOfWorkersByTheirOperatorDoNotFailARun(t *testing.T) {
	for name, test := range map[string]struct {
		workers []string
		orderly bool
		losses  int
	}{
		"stopped": {[]string{"w1", "w2", "w3", "w4"}, true, 0},
		"killed":  {[]string{"w1", "w1", "w1", "w1"}, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			eachSite(t, func(s *site) {
				run := s.submit()
				d := s.boot()
				for i, worker := range test.workers {
					beat := job.Heartbeat{
						Worker:          worker,
						WorkerStartedAt: time.Now(),
						Slots:           []job.Slot{{Device: "CPU"}},
					}
					s.sync(d, beat)
					at := time.Duration(i+1) * longEnough
					s.pass(d, at)
					j := s.takeAs(worker)
					beat.Attempts, beat.IsStopping = []string{j.AttemptID}, test.orderly
					s.sync(d, beat)
					s.pass(d, at)
					beat.Attempts, beat.IsStopping = nil, false // heartbeat of the restarted worker
					s.sync(d, beat)
					s.pass(d, at)
					s.pass(d, at+missingAttemptTimeout)
				}
				if got := s.wantRun(run.ID, work.StateQueued, len(test.workers)); got.Losses != test.losses {
					s.Errorf("%d losses count", got.Losses)
				}
			})
		})
	}
}

// longEnough is longer than the pause before any retry.
const longEnough = time.Hour

func TestTwoBrokenWorkersDoNotFailARunAtOnce(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		other := job.Heartbeat{Worker: "w2", WorkerStartedAt: time.Now(), Slots: []job.Slot{{Device: "CPU"}}}
		s.sync(d, other)
		fail := func(worker string) {
			s.Helper()
			lost := result(s.takeAs(worker), 1)
			lost.Outcome, lost.Failure, lost.Machine.Worker = job.OutcomeLost,
				&job.Failure{Reason: "The disk is full.", IsInfrastructureError: true}, worker
			if err := d.StoreResult(s.Context(), lost); err != nil {
				s.Fatal(err)
			}
		}
		fail("w1")
		for range 20 {
			s.pass(d, 0)
		}
		s.wantNoJob() // the retry waits for a pause
		s.pass(d, 2*time.Second)
		s.wantNoJob() // reserved for the other worker, which has not lost the run
		fail("w2")
		s.pass(d, 2*time.Second)
		s.wantNoJob() // the second retry waits longer
		s.pass(d, longEnough)
		s.take() // all workers have lost the run, so each of them may get it
		if run := s.wantRun(run.ID, work.StateQueued, 3); run.Losses != 0 {
			s.Errorf("%d losses count", run.Losses)
		}
	})
}

func TestRunThatIsHandedBackIsSentToAnotherWorkerAtOnce(t *testing.T) {
	eachSite(t, func(s *site) {
		run, e := s.submit(), s.evaluate("token:1")
		d := s.boot()
		s.pass(d, 0)
		first := map[bool]job.Job{}
		for _, j := range []job.Job{s.take(), s.take()} {
			first[j.EvaluationID != ""] = j
			s.beat(d, j.AttemptID)
			back := job.Result{RunID: j.RunID, EvaluationID: j.EvaluationID, AttemptID: j.AttemptID,
				AttemptSecret: j.AttemptSecret,
				Outcome:       job.OutcomeHandedBack, Machine: job.Machine{Worker: "w1"},
				Failure: &job.Failure{Reason: "Worker w1 is stopping.", IsInfrastructureError: true}}
			if err := d.StoreResult(s.Context(), back); err != nil {
				s.Fatal(err)
			}
		}
		s.pass(d, 0)
		for range 2 {
			j := s.take()
			if old := first[j.EvaluationID != ""]; j.AttemptID == old.AttemptID ||
				j.AttemptSecret == old.AttemptSecret {
				s.Errorf("the second attempt is %+v", j)
			}
		}
		if run := s.wantRun(run.ID, work.StateQueued, 2); run.Losses != 0 || run.Retries != 0 {
			s.Errorf("%d losses count of %d", run.Losses, run.Retries)
		}
		if e := s.wantEvaluation(e.ID, work.EvaluationSubmitted); e.Retries != 0 {
			s.Errorf("the evaluation counts %d", e.Retries)
		}
	})
}
