package evaluator_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// blocksIn returns a builder for jobs that wait until they are cancelled, in the stage that their attempt ID names.
// began receives the ID when that stage starts.
func blocksIn(began chan<- string) fakeBuilder {
	return fakeBuilder{
		build: func(ctx context.Context, req toolchain.BuildRequest) (job.StageResult, error) {
			result := passedBuild()
			if req.Job.AttemptID == "build" {
				began <- "build"
				<-ctx.Done()
				result.Status = job.StatusCancelled
			}
			return result, nil
		},
		run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
			if st.Mode == st.Attempt {
				say(st.StageRequest, "test-count: 2\ntest.0.status: pass\n")
				began <- st.Attempt
				return untilKilled(ctx)
			}
			return pass(st.StageRequest), nil
		},
	}
}

func TestCancelEndsARunInAnyStage(t *testing.T) {
	s, began := newSite(t), make(chan string, 1)
	s.start(evaluator.Config{Builder: blocksIn(began)})
	left := map[string][]string{
		"build":       {"build cancelled"},
		"test":        {"build pass", "test cancelled"},
		"benchmark":   {"build pass", "benchmark cancelled"},
		"leaderboard": {"build pass", "test pass", "ranked cancelled"},
	}
	for id, want := range left {
		s.publish(aJob(id, modeWith(id)))
		<-began
		s.cancel(id)
		r := s.result(id)
		wantStages(t, r, want...)
		if r.Outcome != job.OutcomeCancelled || r.ScoreNS != nil {
			t.Errorf("%s: outcome %s", id, r.Outcome)
		}
		if (r.UnfinishedRanking != nil) != (id == "leaderboard") {
			t.Errorf("%s: of the ranked stage it says %+v", id, r.UnfinishedRanking)
		}
	}
	if r := s.run(aJob("after", job.ModeRanked)); r.Outcome != job.OutcomePassed {
		t.Errorf("the next run: outcome %s, failure %+v", r.Outcome, r.Failure)
	}
}

func TestCancelReachesARunThatWaitsForItsSlot(t *testing.T) {
	s, began := newSite(t), make(chan string, 1)
	s.start(evaluator.Config{Builder: blocksIn(began), Slots: []device.Slot{gpu(0)}})
	first, second := aJob("test", job.ModeTest), aJob("a2", job.ModeTest)
	first.Device, second.Device = "H200", "H200"
	s.publish(first)
	<-began
	s.publish(second)
	s.wait("second job is built", func() bool { return slices.ContainsFunc(s.events, ended("a2", job.StageBuild)) })
	s.cancel("a2")
	r := s.result("a2")
	wantStages(t, r, "build pass")
	if r.Outcome != job.OutcomeCancelled {
		t.Errorf("outcome %s", r.Outcome)
	}
	s.cancel("test")
	s.result("test")
}

func ended(id string, stage job.Stage) func(job.Event) bool {
	return func(e job.Event) bool { return e.AttemptID == id && e.Type == job.EventStageEnded && e.Stage == stage }
}

func TestCancelThatOvertakesItsJobStillCounts(t *testing.T) {
	s, began := newSite(t), make(chan string, 1)
	s.start(evaluator.Config{Builder: blocksIn(began)})
	s.publish(aJob("test", job.ModeTest))
	<-began // the worker's only slot is busy from now on, so the next job waits in the queue
	s.cancel("late")
	s.publish(aJob("late", job.ModeTest))
	s.cancel("test")
	s.result("test")
	if r := s.result("late"); r.Outcome != job.OutcomeCancelled || len(r.Stages) > 0 {
		t.Errorf("outcome %s, stages %q", r.Outcome, stageNames(r))
	}
}

func TestStoppingWorkerLetsARunOnItsSlotEnd(t *testing.T) {
	s, began, end := newSite(t), make(chan string, 1), make(chan struct{})
	w := s.start(evaluator.Config{Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome,
		error) {
		began <- st.Attempt
		return passOnSignal(ctx, st, end)
	}}})
	s.publish(aJob("a1", job.ModeTest), aJob("a2", job.ModeTest))
	<-began
	w.stop()
	s.wait("heartbeat that says so", func() bool { return s.beats["w1"].IsStopping })
	close(end)
	if r := s.result("a1"); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	s.wait("last heartbeat", func() bool { b := s.beats["w1"]; return b.IsStopping && len(b.Attempts) == 0 })
	s.start(evaluator.Config{Name: "w2"})
	if r := s.result("a2"); r.Machine.Worker != "w2" {
		t.Errorf("the job that was not begun was evaluated by %q", r.Machine.Worker)
	}
}

// TestRunsTooLongForANoticeAreHandedBackAtOnce checks a shutdown notice and a stop signal. Runs that take too long, as
// past runs show, are returned to the site at once, and so are jobs that arrive later. Other runs continue.
func TestRunsTooLongForANoticeAreHandedBackAtOnce(t *testing.T) {
	for name, notice := range map[string]func(w *running, notices chan<- time.Time){
		"a notice":      func(_ *running, notices chan<- time.Time) { notices <- time.Now().Add(time.Minute) },
		"a stop signal": func(w *running, _ chan<- time.Time) { w.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			s, began, end, notices := newSite(t), make(chan string, 3), make(chan struct{}), make(chan time.Time)
			w := s.start(evaluator.Config{
				Slots: []device.Slot{cpu(0), cpu(1), cpu(2)}, StopTimeout: time.Minute,
				WaitForShutdownNotice: func(ctx context.Context) (time.Time, bool) {
					select {
					case at := <-notices:
						return at, true
					case <-ctx.Done():
						return time.Time{}, false
					}
				},
				Builder: fakeBuilder{run: func(ctx context.Context, st fakeStage) (sandbox.Outcome, error) {
					began <- st.Attempt
					return passOnSignal(ctx, st, end)
				}},
			})
			short, long, unknown := aJob("short", job.ModeTest), aJob("long", job.ModeTest),
				aJob("unknown", job.ModeTest)
			short.ExpectedTime, long.ExpectedTime = 20*time.Second, 2*time.Minute
			s.publish(short, long, unknown)
			for range 3 {
				soon(t, "the runs begin", began)
			}
			notice(w, notices)
			r := s.result("long") // the other runs continue
			if r.Outcome != job.OutcomeHandedBack ||
				!strings.Contains(r.Failure.Reason, "runs like this one take about 2m0s") {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			s.publish(aJob("later", job.ModeTest))
			close(end)
			for _, id := range []string{"short", "unknown"} {
				if r := s.result(id); r.Outcome != job.OutcomePassed {
					t.Errorf("%s: outcome %s, failure %+v", id, r.Outcome, r.Failure)
				}
			}
			if err := <-w.ended; err != nil {
				t.Error(err)
			}
			s.start(evaluator.Config{Name: "w2"})
			if r := s.result("later"); r.Machine.Worker != "w2" {
				t.Errorf("what came after the notice was evaluated by %q", r.Machine.Worker)
			}
		})
	}
}

func TestStoppingWorkerHandsBackWhatItCannotEnd(t *testing.T) {
	for _, stuck := range []string{"build", "test"} { // the stage in which the job hangs: without a slot, or on one
		t.Run(stuck, func(t *testing.T) {
			s, began := newSite(t), make(chan string, 1)
			w := s.start(evaluator.Config{Builder: blocksIn(began), StopTimeout: 10 * time.Millisecond})
			s.publish(aJob(stuck, job.ModeTest))
			<-began
			w.stop()
			if err := <-w.ended; err != nil {
				t.Error(err)
			}
			r := s.result(stuck)
			if r.Outcome != job.OutcomeHandedBack || r.CausedByJob || !strings.Contains(r.Failure.Reason, "stopping") {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			// The site makes another attempt; the queue does not deliver this one again.
			s.start(evaluator.Config{Name: "w2"})
			if next := s.run(aJob("another attempt", job.ModeTest)); next.Machine.Worker != "w2" ||
				len(s.resultsOf(stuck)) != 1 {
				t.Errorf("the next attempt is by %q, results of the first: %+v", next.Machine.Worker,
					s.resultsOf(stuck))
			}
		})
	}
}
