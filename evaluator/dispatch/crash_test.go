package dispatch

import (
	"context"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// These tests kill the site at one point of a run by dropping its Dispatcher, and go
// on with new ones over the same database and queue.

func TestKilledBeforeTheJobHadArrived(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		s.boot()
		lost, ok := s.ask("w1")
		if !ok {
			s.Fatal("there is no job")
		}
		d := s.boot()
		j := s.take()
		if j.AttemptID != lost.AttemptID {
			s.Errorf("attempt %s is sent, want %s again", j.AttemptID, lost.AttemptID)
		}
		s.wantNoJob()
		s.finish(d, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
		s.wantBoard(10)
	})
}

func TestKilledWithItsWorkerInEachStateOfARun(t *testing.T) {
	for _, stage := range []job.Stage{"", job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked,
		job.StageProfile} {
		t.Run("stage "+string(stage), func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			run := s.submit()
			d := s.boot()
			s.pass(d, 0)
			old := s.take()
			s.tell(d, event(old, 1, job.EventAttemptStarted, ""))
			if stage != "" {
				s.tell(d, event(old, 2, job.EventStageStarted, stage))
			}

			d = s.boot() // the restarted worker does not have the attempt
			s.pass(d, 0)
			s.wantNoJob()
			s.pass(d, missingAttemptTimeout)
			fresh := s.take()
			if fresh.AttemptID == old.AttemptID || fresh.AttemptSecret == old.AttemptSecret ||
				fresh.SecretSeed == old.SecretSeed {
				t.Error("the second attempt shares a secret with the first")
			}
			if !s.queue.stopped(old.AttemptID) {
				t.Error("no one was told to stop the old attempt")
			}
			s.finish(d, old, 1) // the result of the old attempt arrives late
			s.finish(d, fresh, 10)
			s.finish(d, fresh, 10) // sent again, as if its acknowledgement was lost
			s.wantRun(run.ID, work.StateDone, 2)
			s.wantBoard(10)
		})
	}
}

func TestKilledWhileTheResultWaits(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take() // the events of the attempt are lost, because the site is down

		d = s.boot()
		s.finish(d, j, 10)
		s.pass(d, 2*missingAttemptTimeout)
		s.wantNoJob()
		s.wantRun(run.ID, work.StateDone, 1)
		s.wantBoard(10)
	})
}

func TestARemoteWorkerGoesOnWhileTheSiteIsDown(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()

		d = s.boot(j.AttemptID)
		s.wantRun(run.ID, work.StateBuilding, 1)
		s.pass(d, 0)
		s.pass(d, 2*missingAttemptTimeout)
		s.finish(d, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}

// TestAJobThatNeverArrivesIsAnotherWorkersAtNoCost loses the response with a job. The worker sends heartbeats without
// the attempt, so another worker must get the run, and no loss may count.
func TestAJobThatNeverArrivesIsAnotherWorkersAtNoCost(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.ask("w1")
		s.sync(d, job.Heartbeat{Worker: "w2", Slots: []job.Slot{{Device: "CPU"}}})
		s.pass(d, time.Second)
		s.pass(d, missingAttemptTimeout/2)
		s.wantRun(run.ID, work.StateQueued, 1)
		if _, ok := s.ask("w2"); ok {
			s.Error("another worker gets it as well")
		}
		s.pass(d, time.Second+missingAttemptTimeout)
		s.finish(d, s.takeAs("w2"), 10)
		if run := s.wantRun(run.ID, work.StateDone, 2); run.Losses != 0 || run.Retries != 0 {
			s.Errorf("%d losses count of %d", run.Losses, run.Retries)
		}
	})
}

func TestAResultComesAgainUntilItIsStored(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		s.pass(d, 0)
		j := s.take()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.StoreResult(gone, result(j, 10)); err == nil {
			t.Error("a result that was not stored was acknowledged")
		}
		s.finish(d, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}
