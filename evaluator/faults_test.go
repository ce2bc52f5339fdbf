package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/toolchain"
)

func TestWorkerWhoseSandboxDoesNotHoldTakesNoJobs(t *testing.T) {
	s := newSite(t)
	s.publish(aJob("a1", job.ModeTest))
	bad := s.start(evaluator.Config{Name: "bad", Sandbox: fakeSandbox{
		{Name: "network", Passed: true}, {Name: "host uid", Detail: "the child is root on the host"},
	}})
	s.wait("heartbeat with the reason", func() bool {
		return strings.Contains(s.beats["bad"].NoJobsReason, "host uid (the child is root on the host)")
	})
	s.start(evaluator.Config{Name: "good"})
	if r := s.result("a1"); r.Machine.Worker != "good" {
		t.Errorf("evaluated by %q", r.Machine.Worker)
	}
	bad.stop()
	if err := <-bad.ended; !errors.Is(err, evaluator.ErrSelfTest) ||
		!strings.Contains(err.Error(), "took no jobs: host uid (the child is root on the host)") {
		t.Errorf("it ended with %v", err)
	}
}

// errCompilerGone is the infrastructure error of a fake build for an attempt whose ID begins with broken.
var errCompilerGone = errors.New("nvcc is not installed")

func broken(_ context.Context, req toolchain.BuildRequest) (job.StageResult, error) {
	if strings.HasPrefix(req.Job.AttemptID, "broken") {
		return job.StageResult{}, errCompilerGone
	}
	return passedBuild(), nil
}

func TestAnInfrastructureErrorLosesTheAttempt(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{build: broken,
		run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			if st.Attempt == "sandbox" && st.Mode == "leaderboard" {
				return sandbox.Outcome{}, errors.New("bubblewrap did not start")
			}
			return pass(st.StageRequest), nil
		}}})
	old := aJob("old", job.ModeTest)
	old.MessageVersion = job.MessageVersion + 1
	for _, c := range []struct {
		job    job.Job
		reason string
	}{
		{aJob("broken", job.ModeRanked),
			"Worker w1 could not evaluate the run in its build stage: Nvcc is not installed."},
		{aJob("sandbox", job.ModeRanked),
			"Worker w1 could not evaluate the run in its ranked stage: Bubblewrap did not start."},
		{old, fmt.Sprintf("Worker w1 could not evaluate the run: The job has version %d and this worker reads version %d: update the older one.", job.MessageVersion+1, job.MessageVersion)},
	} {
		r := s.run(c.job)
		if r.Outcome != job.OutcomeLost || r.Failure == nil || !r.Failure.IsInfrastructureError ||
			r.Failure.Reason != c.reason {
			t.Errorf("outcome %s, failure %+v, want %q", r.Outcome, r.Failure, c.reason)
		}
		if r := s.run(aJob("after "+c.job.AttemptID, job.ModeTest)); r.Outcome != job.OutcomePassed {
			t.Errorf("the next run: %s, %+v", r.Outcome, r.Failure)
		}
	}
}

func TestSlotThatFailsAgainAndAgainIsOutOfService(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{build: broken}})
	for i := range 3 {
		j := aJob(fmt.Sprint("broken", i), job.ModeTest)
		j.RunID = int64(1 + i)
		s.run(j)
	}
	s.wait("heartbeat with the reason", func() bool {
		return strings.Contains(s.beats["w1"].Slots[0].DisabledReason, "nvcc is not installed")
	})
	s.publish(aJob("a1", job.ModeTest))
	s.start(evaluator.Config{Name: "w2"})
	if r := s.result("a1"); r.Machine.Worker != "w2" {
		t.Errorf("evaluated by %q", r.Machine.Worker)
	}
}

func TestSlotWithAnUnkillableProcessIsOutOfService(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(context.Context, fakeStage) (sandbox.Outcome, error) {
		return sandbox.Outcome{}, fmt.Errorf("run: %w", sandbox.ErrProcessStuck)
	}}})
	if r := s.run(aJob("a1", job.ModeTest)); r.Outcome != job.OutcomeLost {
		t.Errorf("outcome %s", r.Outcome)
	}
	s.wait("slot out of service", func() bool { return s.beats["w1"].Slots[0].DisabledReason != "" })
}

// TestSlotWithAProcessStuckAtTheEndIsOutOfService has processes that cannot be killed although the run passed or was
// cancelled.
func TestSlotWithAProcessStuckAtTheEndIsOutOfService(t *testing.T) {
	stuck, began := func() error { return &sandbox.StuckProcessError{Ended: make(chan struct{})} }, make(chan bool, 1)
	for name, builder := range map[string]fakeBuilder{
		"passed": {close: stuck},
		"cancelled": {run: func(ctx context.Context, _ fakeStage) (sandbox.Outcome, error) {
			began <- true
			<-ctx.Done()
			return sandbox.Outcome{}, stuck()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.start(evaluator.Config{Builder: builder})
			s.publish(aJob("a1", job.ModeTest))
			if name == "cancelled" {
				<-began
				s.cancel("a1")
			}
			s.result("a1")
			s.wait("slot out of service", func() bool { return s.beats["w1"].Slots[0].DisabledReason != "" })
		})
	}
}

func TestASlotThatFailsItsCheckAfterAFailureIsOutOfService(t *testing.T) {
	s := newSite(t)
	var probed atomic.Int32
	s.start(evaluator.Config{
		Slots: []device.Slot{gpu(0)},
		Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
			if st.Attempt == "good" {
				return pass(st.StageRequest), nil
			}
			return sandbox.Outcome{Signal: "SIGSEGV"}, nil
		}},
		ProbeDevice: func(_ context.Context, slot device.Slot) error {
			if probed.Add(1) == 1 {
				return nil
			}
			return fmt.Errorf("GPU %d gave a wrong sum", slot.Index)
		},
	})
	for id, probes := range map[string]int32{"good": 0} {
		r := s.run(onGPU(aJob(id, job.ModeTest)))
		if r.Outcome != job.OutcomePassed || probed.Load() != probes {
			t.Errorf("%s: outcome %s, %d probes", id, r.Outcome, probed.Load())
		}
	}
	for _, id := range []string{"crash 1", "crash 2"} {
		if r := s.run(onGPU(aJob(id, job.ModeTest))); r.Outcome != job.OutcomeFailed {
			t.Errorf("%s: outcome %s", id, r.Outcome)
		}
	}
	s.wait("slot out of service", func() bool {
		return strings.Contains(s.beats["w1"].Slots[0].DisabledReason,
			"GPU 0 gave a wrong sum")
	})
}

func onGPU(j job.Job) job.Job {
	j.Device = "H200"
	return j
}

func TestPanicCostsOneRun(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		if st.Attempt == "panic" {
			panic("index out of range")
		}
		return pass(st.StageRequest), nil
	}}})
	if r := s.run(aJob("panic", job.ModeTest)); r.Outcome != job.OutcomeLost || !r.Failure.IsInfrastructureError {
		t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
	}
	if r := s.run(aJob("next", job.ModeTest)); r.Outcome != job.OutcomePassed {
		t.Errorf("the next run: %s, %+v", r.Outcome, r.Failure)
	}
}

func TestResultIsHandedOverWhenTheSiteIsBack(t *testing.T) {
	s := newSite(t)
	conn := flakyConn{s.dial("w1"), make(chan struct{}, 1)}
	conn.lose <- struct{}{}
	s.start(evaluator.Config{Conn: conn})
	if r := s.run(aJob("a1", job.ModeTest)); r.Outcome != job.OutcomePassed {
		t.Errorf("outcome %s", r.Outcome)
	}
	if len(conn.lose) > 0 {
		t.Error("no result was lost: this tested nothing")
	}
}

func TestResultOfAnySizeIsHandedOver(t *testing.T) {
	s := newSite(t)
	s.start(evaluator.Config{Builder: fakeBuilder{run: func(_ context.Context, st fakeStage) (sandbox.Outcome, error) {
		for i := range 100 {
			say(st.StageRequest, fmt.Sprintf("benchmark.%d.message: %s\n", i, strings.Repeat("\x01", 60<<10)))
		}
		out := pass(st.StageRequest)
		out.Stdout = strings.Repeat("\x02", 2*queue.MaxMessage)
		return out, nil
	}}})
	j := aJob("a1", job.ModeBenchmark)
	j.Task.HasOwnHarness = true // such a harness may report more cases than the job has
	r := s.run(j)
	wantStages(t, r, "build pass", "benchmark pass")
	if got := r.Stages[1].Cases[0].Mean; got != 100 {
		t.Errorf("mean of case 0 is %v", got)
	}
	if !strings.Contains(r.Stages[1].Stdout, "bytes cut") {
		t.Errorf("stdout of %d bytes has no note of the cut", len(r.Stages[1].Stdout))
	}
}

func TestRunEndsWithAnErrorWhenTheWorkerIsRevoked(t *testing.T) {
	var revoked atomic.Bool
	address := sandboxtest.Addr(t)
	q, err := queue.OpenQueue(t.Context(),
		queue.Config{ListenAddress: address, Authorize: func(string, string) ([]string, bool, error) {
			return []string{"CPU"}, !revoked.Load(), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	conn, err := queue.ConnectWorker(t.Context(), queue.WorkerConfig{URL: "nats://" + address, Name: "w1", Secret: "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	w := evaluator.NewWorker(evaluator.Config{
		Name: "w1", Conn: conn, Builder: fakeBuilder{}, Sandbox: fakeSandbox{}, Slots: []device.Slot{cpu(0)},
	})
	ended := make(chan error)
	go func() { ended <- w.Run(t.Context()) }()
	revoked.Store(true)
	q.DisconnectWorker("w1")
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "w1") {
		t.Errorf("error is %v", err)
	}
}
