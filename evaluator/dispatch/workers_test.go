package dispatch

import (
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

func TestAResultThatContradictsItselfIsTriedAgain(t *testing.T) {
	wrong := 3.0
	for name, spoil := range map[string]func(*job.Result){
		"another score":   func(r *job.Result) { r.ScoreNS = &wrong },
		"no ranked stage": func(r *job.Result) { r.Stages = r.Stages[:3] },
		"a failed stage":  func(r *job.Result) { r.Stages[1].Status = job.StatusFail },
		"no cases":        func(r *job.Result) { r.Stages[3].Cases = nil },
		"no time":         func(r *job.Result) { r.Stages[3].Cases[0].Mean = 0 },
		"a denormal time": func(r *job.Result) { r.Stages[3].Cases[0].Mean, r.ScoreNS = 1.1e-308, nil },
		"a forged spread": func(r *job.Result) { r.Stages[3].Cases[0].StandardDeviation = 1.7e308 },
		"other processes": func(r *job.Result) { r.Stages[3].Cases[0].ProcessMedians = []float64{1, 1, 1, 1, 1} },
		"cancelled there": func(r *job.Result) { r.Outcome = job.OutcomeCancelled },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			run := s.submit()
			d := s.boot()
			s.pass(d, 0)
			bad := result(s.take(), 10)
			spoil(&bad)
			if err := d.StoreResult(t.Context(), bad); err != nil {
				t.Fatal(err)
			}
			got := s.wantRun(run.ID, work.StateQueued, 1)
			if got.Failure == nil || !got.Failure.IsInfrastructureError {
				t.Errorf("failure: %+v", got.Failure)
			}
			s.wantBoard()
		})
	}
}

func TestAFailureOfTheSubmissionIsNotTriedAgain(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	run := s.submit()
	d := s.boot()
	s.pass(d, 0)
	failed := result(s.take(), 10)
	failed.Outcome, failed.Failure = job.OutcomeFailed, &job.Failure{Reason: "The test case 0 failed.", ExitCode: 112}
	if err := d.StoreResult(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	got := s.wantRun(run.ID, work.StateFailed, 1)
	if got.InfrastructureError || got.Failure == nil || got.Failure.ExitCode != 112 || got.ScoreNS != nil {
		t.Errorf("run: %+v, %+v", got, got.Failure)
	}
}

func TestAProfileFollowsOnAnIdleSlot(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		s.sync(d, job.Heartbeat{Worker: "w1", Slots: []job.Slot{{Device: "CPU", CanProfile: true}}})
		ranked := s.submit()
		s.pass(d, 0)
		s.finish(d, s.take(), 10)
		s.wantBoard(10)
		for range 2 {
			s.submit()
		}
		s.pass(d, 0)
		for _, j := range []job.Job{s.take(), s.take()} {
			if j.Mode != job.ModeRanked {
				s.Fatalf("a profile was sent before a run that waits: %+v", j)
			}
			s.pass(d, 0)
			s.wantNoJob()
			s.fail(d, j)
		}
		s.pass(d, 0)
		j := s.take()
		if j.Mode != job.ModeProfile || j.RunID == ranked.ID {
			s.Fatalf("job: %+v", j)
		}
		s.fail(d, j)
		s.wantRun(j.RunID, work.StateFailed, 1)
		s.wantRun(ranked.ID, work.StateDone, 1)
		s.wantBoard(10)
	})
}

func TestAProfileMakesWayForARunAndIsMadeLater(t *testing.T) {
	eachSite(t, func(s *site) {
		d := s.boot()
		s.sync(d, job.Heartbeat{Worker: "w1", Slots: []job.Slot{{Device: "CPU", CanProfile: true}}})
		s.submit()
		s.pass(d, 0)
		s.finish(d, s.take(), 10)
		s.pass(d, 0)
		profile := s.take()
		if profile.Mode != job.ModeProfile {
			s.Fatalf("job: %+v", profile)
		}
		s.tell(d, event(profile, 1, job.EventAttemptStarted, ""))
		s.sync(d, job.Heartbeat{Worker: "w1", Slots: []job.Slot{{Device: "CPU", CanProfile: true}},
			Attempts: []string{profile.AttemptID}})
		s.pass(d, 0)
		if s.queue.stopped(profile.AttemptID) {
			s.Fatal("the profile was stopped while no one waited")
		}
		s.submit()
		s.pass(d, 0)
		s.pass(d, 0)
		if !s.queue.stopped(profile.AttemptID) {
			s.Fatal("the profile goes on while a run waits")
		}
		s.fail(d, s.take())
		s.pass(d, 0)
		if again := s.take(); again.RunID != profile.RunID || again.AttemptID == profile.AttemptID {
			s.Errorf("job: %+v, want another attempt at the profile", again)
		}
		if run, err := s.store.Work.Run(s.Context(), profile.RunID); err != nil || run.Losses != 0 {
			s.Errorf("the profile counts %d losses, %v", run.Losses, err)
		}
	})
}

// fail stores the result of a job whose submission failed.
func (s *site) fail(d *Dispatcher, j job.Job) {
	s.Helper()
	failed := result(j, 10)
	failed.Outcome, failed.Failure, failed.ScoreNS = job.OutcomeFailed, &job.Failure{Reason: "It failed."}, nil
	if err := d.StoreResult(s.Context(), failed); err != nil {
		s.Fatal(err)
	}
}

func TestAForgedResultIsDroppedAndTheRunGoesOn(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	run := s.submit()
	d := s.boot()
	s.pass(d, 0)
	j := s.take()
	forged := result(j, 0.001)
	forged.AttemptSecret = "guess"
	if err := d.StoreResult(t.Context(), forged); err != nil {
		t.Errorf("a forged result will come again: %v", err)
	}
	s.finish(d, j, 10)
	s.wantRun(run.ID, work.StateDone, 1)
	s.wantBoard(10)
}

func TestAFloodOfEventsIsStoredWholeAndInOrder(t *testing.T) {
	eachSite(t, func(s *site) {
		run := s.submit()
		d := s.boot()
		j := s.take()
		const n, at = 3000, 500
		var batch []job.Event
		for i := range n {
			e := event(j, i+1, job.EventLog, job.StageTest)
			e.Stream, e.Text = "stdout", strings.Repeat("x", 100)
			if batch = append(batch, e); len(batch) == at {
				s.tell(d, batch...)
				s.tell(d, batch...) // sent again, as if the response was lost
				batch = nil
			}
		}
		stored, err := s.store.Work.EventsSince(s.Context(), run.SubmissionID, 0, 2*n)
		if err != nil {
			s.Fatal(err)
		}
		for i, e := range stored[1:] {
			if e.Seq != i+1 || e.ID <= stored[i].ID || s.seen.events[i].ID != e.ID {
				s.Fatalf("event %d is stored as %d with id %d, told with id %d", i+1, e.Seq, e.ID, s.seen.events[i].ID)
			}
		}
		if len(stored) != n+1 {
			s.Errorf("%d events are stored", len(stored))
		}
	})
}

func TestAWorkerReceivesTheFilterOfAProfile(t *testing.T) {
	eachSite(t, func(s *site) {
		d, filter := s.boot(), &job.ProfileFilter{Kernel: "regex:mat.*", LaunchSkip: 2, Sections: []string{"Occupancy"}}
		_, _, err := s.store.Submissions.Submit(s.Context(),
			submissions.NewSubmission{User: s.ann, TaskID: s.task.ID, Devices: []string{"CPU"},
				Mode: job.ModeProfile, Source: []byte("// kernel"), ProfileFilter: filter, Via: "test"})
		if err != nil {
			s.Fatal(err)
		}
		s.pass(d, 0)
		if j := s.take(); !j.ProfileFilter.Equal(filter) {
			s.Errorf("the job has the filter %+v", j.ProfileFilter)
		}
	})
}
