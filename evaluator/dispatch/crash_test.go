package dispatch

import (
	"context"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// These tests kill the site at one point of a run by dropping its Dispatcher and Recorder, and go
// on with new ones over the same database and queue.

func TestKilledBeforeTheJobWasPublished(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, _ := s.boot()
		s.queue.before = errCrash
		s.pass(d, 0)
		s.queue.before = nil

		d, r := s.boot()
		s.pass(d, 0)
		s.finish(r, s.take(), 10)
		s.wantRun(run.ID, work.StateDone, 1)
		s.wantBoard(10)
	})
}

func TestKilledAfterTheJobWasPublishedAndBeforeThatWasNoted(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, _ := s.boot()
		s.queue.after = errCrash
		s.pass(d, 0)
		s.queue.after = nil

		d, r := s.boot()
		s.pass(d, 0)
		s.finish(r, s.take(), 10)
		s.wantNoJob()
		s.wantRun(run.ID, work.StateDone, 1)
	})
}

func TestKilledWithItsWorkerInEachStateOfARun(t *testing.T) {
	for _, stage := range []job.Stage{"", job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked, job.StageProfile} {
		t.Run("stage "+string(stage), func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			run := s.submit()
			d, r := s.boot()
			s.pass(d, 0)
			old := s.take()
			r.event(t.Context(), event(old, 1, job.EventTaken, ""))
			if stage != "" {
				r.event(t.Context(), event(old, 2, job.EventStage, stage))
			}
			r.flush(t.Context())

			d, r = s.boot() // the new worker knows nothing of the attempt
			s.pass(d, 0)
			s.wantNoJob()
			s.pass(d, missingFor)
			fresh := s.take()
			if fresh.AttemptID == old.AttemptID || fresh.Secret == old.Secret || fresh.SecretSeed == old.SecretSeed {
				t.Error("the second attempt shares a secret with the first")
			}
			if !s.queue.stopped(old.AttemptID) {
				t.Error("nobody was told to stop the old attempt")
			}
			s.finish(r, old, 1) // it comes after all
			s.finish(r, fresh, 10)
			s.finish(r, fresh, 10) // its acknowledgement was lost
			s.wantRun(run.ID, work.StateDone, 2)
			s.wantBoard(10)
		})
	}
}

func TestKilledWhileTheResultWaits(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, _ := s.boot()
		s.pass(d, 0)
		j := s.take() // its events are lost: nobody listens

		d, r := s.boot()
		s.finish(r, j, 10)
		s.pass(d, stuckFor)
		s.wantNoJob()
		s.wantRun(run.ID, work.StateDone, 1)
		s.wantBoard(10)
	})
}

func TestARemoteWorkerGoesOnWhileTheSiteIsDown(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, _ := s.boot()
		s.pass(d, 0)
		j := s.take()

		d, r := s.boot(j.AttemptID)
		s.wantRun(run.ID, work.StateBuilding, 1)
		s.pass(d, 0)
		s.pass(d, stuckFor)
		s.finish(r, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}

func TestAJobThatTheQueueLostIsSentAgain(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, r := s.boot()
		before := time.Now()
		s.pass(d, 0)
		s.queue.lose()
		s.pass(d, 0)
		s.passAt(d, before.Add(stuckFor/2))
		s.wantNoJob()
		s.pass(d, stuckFor+missingFor)
		s.finish(r, s.take(), 10)
		s.wantRun(run.ID, work.StateDone, 2)
	})
}

// TestAnEmptyQueueIsFilledAgainAtNoCost: the queue was opened without its files. What nobody had taken is
// sent again as the same attempt, and what was taken is not.
func TestAnEmptyQueueIsFilledAgainAtNoCost(t *testing.T) {
	eachSite(t, func(s *site) {
		taken, waiting := s.submit(), s.submit()
		d, r := s.boot()
		s.pass(d, 0)
		j := s.take()
		r.event(t.Context(), event(j, 1, job.EventTaken, ""))
		r.flush(t.Context())
		s.queue.lose()
		s.queue.forgetIDs()
		if err := s.store.Work.QueueMayBeEmpty(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.pass(d, 0)
		s.finish(r, s.take(), 10)
		s.wantNoJob()
		s.finish(r, j, 20)
		s.wantRun(taken.ID, work.StateDone, 1)
		s.wantRun(waiting.ID, work.StateDone, 1)
	})
}

func TestAResultComesAgainUntilItIsStored(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d, r := s.boot()
		s.pass(d, 0)
		j := s.take()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.result(gone, result(j, 10)); err == nil {
			t.Error("a result that was not stored was acknowledged")
		}
		s.finish(r, j, 10)
		s.wantRun(run.ID, work.StateDone, 1)
	})
}
