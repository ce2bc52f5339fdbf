package toolchain

import (
	"context"
	"io"
	"sync/atomic"
	"testing"

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
