package toolchain

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain/warm"
)

// slowlyEnding is a fake sandbox. None of its Pythons ends before all of them have been asked to end.
type slowlyEnding struct {
	left   atomic.Int32
	asked  chan struct{}
	killed atomic.Int32
}

func (s *slowlyEnding) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if _, err := spec.ResultPipe.Write([]byte{'w', 0, 0, 0, 0}); err != nil {
		return sandbox.Outcome{}, err
	}
	_, _ = io.Copy(io.Discard, spec.Stdin)
	if s.left.Add(-1) == 0 {
		close(s.asked)
	}
	select {
	case <-s.asked:
	case <-ctx.Done():
		s.killed.Add(1)
	}
	return sandbox.Outcome{}, nil
}

// TestClosingEndsAllPythonsAtOnce checks that Close asks all Pythons to end before it waits for one: a CUDA context
// takes time to end, and the next person's run waits.
func TestClosingEndsAllPythonsAtOnce(t *testing.T) {
	box := &slowlyEnding{asked: make(chan struct{})}
	pool := warm.NewPool(box, nil)
	start := func() *warm.Python {
		box.left.Add(1)
		r, err := pool.StartPython(t.Context(), sandbox.Spec{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p := &pythonProgram{
		runnerSet:        runnerSet{runners: []*warm.Python{start(), start()}},
		judgePython:      start(),
		alternateRunners: []*runnerSet{{runners: []*warm.Python{start(), nil}}, {}},
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n := box.killed.Load(); n > 0 {
		t.Errorf("%d Pythons were killed while others had not been asked to end", n)
	}
}

// stuckBox is a fake sandbox. A process of each of its Pythons hangs in a driver at its end.
type stuckBox struct{}

func (stuckBox) Run(_ context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if _, err := spec.ResultPipe.Write([]byte{'w', 0, 0, 0, 0}); err != nil {
		return sandbox.Outcome{}, err
	}
	_, _ = io.Copy(io.Discard, spec.Stdin)
	return sandbox.Outcome{}, &sandbox.StuckProcessError{Ended: make(chan struct{})}
}

func startStuck(t *testing.T) *warm.Python {
	t.Helper()
	r, err := warm.NewPool(stuckBox{}, nil).StartPython(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCloseReportsStuckProcesses checks that a process that cannot be killed is an error, because it still uses the
// device.
func TestCloseReportsStuckProcesses(t *testing.T) {
	for name, p := range map[string]*pythonProgram{
		"runner":    {runnerSet: runnerSet{runners: []*warm.Python{startStuck(t)}}},
		"judge":     {judgePython: startStuck(t)},
		"alternate": {alternateRunners: []*runnerSet{{runners: []*warm.Python{startStuck(t)}}}},
	} {
		if err := p.Close(); !errors.Is(err, sandbox.ErrProcessStuck) {
			t.Errorf("%s: Close() = %v", name, err)
		}
	}
}

// TestNextReusesNothingBesideAStuckProcess has an alternate Python that ended by itself, and whose process is stuck.
func TestNextReusesNothingBesideAStuckProcess(t *testing.T) {
	first, stuck := startStuck(t), startStuck(t)
	_ = stuck.Stop()
	p := &pythonProgram{
		environment: Environment{AlternateSandboxSlots: []int{1}}, runnerSet: runnerSet{runners: []*warm.Python{first}},
		alternateRunners: []*runnerSet{{runners: []*warm.Python{stuck}}},
	}
	if p.Next(&Artifact{}) != nil {
		t.Error("the Pythons were reused")
	}
	if err := p.Close(); !errors.Is(err, sandbox.ErrProcessStuck) {
		t.Errorf("Close() = %v", err)
	}
}

// TestAStageIsNotRunBesideAStuckProcess has a runner whose Python ended before the stage.
func TestAStageIsNotRunBesideAStuckProcess(t *testing.T) {
	stuck := startStuck(t)
	_ = stuck.Stop()
	p := &pythonProgram{builder: newBuilder(), artifact: &Artifact{}}
	_, err := p.runProcess(t.Context(), &stuck, Environment{}, StageRequest{}, sandbox.Spec{}, warm.Stage{}, nil,
		judge.ProcessCallbacks{})
	if !errors.Is(err, sandbox.ErrProcessStuck) {
		t.Errorf("runProcess() = %v", err)
	}
}

// TestACancelledProcessThatIsStuckIsAnError checks that a cancelled process counts as cancelled only if it has ended.
func TestACancelledProcessThatIsStuckIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, want := range []error{nil, sandbox.ErrProcessStuck} {
		run := func(context.Context, sandbox.Spec) (sandbox.Outcome, error) {
			return sandbox.Outcome{}, errors.Join(context.Canceled, want)
		}
		if _, err := runProcess(ctx, run, sandbox.Spec{}); !errors.Is(err, want) {
			t.Errorf("runProcess() = %v, want %v", err, want)
		}
	}
}
