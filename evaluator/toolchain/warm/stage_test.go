package warm

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"warpboard/evaluator/sandbox"
)

// stuckBox is a sandbox whose processes cannot be killed.
type stuckBox struct{}

func (stuckBox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
	if _, err := spec.ResultPipe.Write([]byte{framePythonReady, 0, 0, 0, 0}); err != nil {
		return sandbox.Outcome{}, err
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
