package warm

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"

	"warpboard/evaluator/sandbox"
)

// stuckBox is a sandbox whose processes cannot be killed. Its Pythons report the end of a stage if stageEnd is set.
type stuckBox struct{ stageEnd string }

func (b stuckBox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	frames := []byte{framePythonReady, 0, 0, 0, 0}
	if b.stageEnd != "" {
		frames = append(append(frames, frameStageEnded, 0, 0, 0, byte(len(b.stageEnd))), b.stageEnd...)
	}
	if _, err := spec.ResultPipe.Write(frames); err != nil {
		return sandbox.Outcome{}, err
	}
	if b.stageEnd != "" {
		_, _ = io.Copy(io.Discard, spec.Stdin)
		return sandbox.Outcome{}, sandbox.ErrProcessStuck
	}
	<-ctx.Done()
	return sandbox.Outcome{}, sandbox.ErrProcessStuck
}

// TestAStuckProcessIsAnErrorOfACutStage checks that a process that does not die is an infrastructure error, even if the
// stage was cancelled: otherwise the next person's run would run beside it under the same user ID.
func TestAStuckProcessIsAnErrorOfACutStage(t *testing.T) {
	python, err := NewPool(stuckBox{}, slog.New(slog.DiscardHandler)).StartPython(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := python.Run(ctx, Stage{Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, sandbox.ErrProcessStuck) {
		t.Errorf("a cancelled stage gave %v", err)
	}
}

// TestAStuckProcessIsAnErrorOfAStageThatPassed has a Python that must be stopped after a stage without fault.
func TestAStuckProcessIsAnErrorOfAStageThatPassed(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	python, err := NewPool(stuckBox{`{"spent": true}`}, log).StartPython(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := python.Run(t.Context(), Stage{Log: log}); !errors.Is(err, sandbox.ErrProcessStuck) {
		t.Errorf("Run() = %v", err)
	}
}

// killedBox is a sandbox whose processes are killed because the machine has no more memory.
type killedBox struct{}

func (killedBox) Run(_ context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if _, err := spec.ResultPipe.Write([]byte{framePythonReady, 0, 0, 0, 0}); err != nil {
		return sandbox.Outcome{}, err
	}
	return sandbox.Outcome{MemoryPeak: 1 << 30}, sandbox.ErrMachineMemory
}

// TestTheMemoryOfAStageIsKnownWhenTheMachineHasNoMore checks that the error comes with the outcome, which shows whether
// the stage used too much.
func TestTheMemoryOfAStageIsKnownWhenTheMachineHasNoMore(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	python, err := NewPool(killedBox{}, log).StartPython(t.Context(), sandbox.Spec{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := python.Run(t.Context(), Stage{Log: log})
	if !errors.Is(err, sandbox.ErrMachineMemory) || o.MemoryPeak != 1<<30 {
		t.Errorf("Run() = %+v, %v", o, err)
	}
}
