package judge_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
)

// dismissing is a judge that ends the turns of two runners, and then ends itself.
func dismissing(t *testing.T, outcome sandbox.Outcome) judge.ProcessFunc {
	dismiss := judging(t, func(d door) {
		for range 2 {
			if number, channel, ok := d.next(); ok {
				d.over(number)
				channel.Close()
			}
		}
	})
	return func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		_, err := dismiss(ctx, files, on)
		return outcome, err
	}
}

// slowToEnd is a runner that closes its output if silent is set, and ends when may is closed.
func slowToEnd(may <-chan struct{}, silent bool, outcome sandbox.Outcome, err error) judge.ProcessFunc {
	return func(ctx context.Context, _ []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		if silent {
			on.OnOutputClosed()
		}
		select {
		case <-may:
			return outcome, err
		case <-ctx.Done():
			return sandbox.Outcome{ExitCode: -1, Signal: "SIGKILL", Cancelled: true}, nil
		}
	}
}

func two(side judge.ProcessFunc) judge.RunnerConfig {
	runners := few(2, side)
	runners.MaxConcurrent, runners.ReturnEarly = 2, true
	return runners
}

// isOver reports whether the life line of left has been closed.
func isOver(t *testing.T, left *judge.LeftProcesses) bool {
	t.Helper()
	line, err := left.LifeLine()
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	fds := []unix.PollFd{{Fd: int32(line.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n > 0
}

// TestAStageDoesNotWaitForProcessesThatAreEnding: they may exit even after the stage's context has ended.
func TestAStageDoesNotWaitForProcessesThatAreEnding(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	may := make(chan struct{})
	end, err := judge.Run(ctx, dismissing(t, sandbox.Outcome{}), two(slowToEnd(may, true, sandbox.Outcome{}, nil)))
	cancel()
	if err != nil || end.LeftProcesses == nil || end.LeftProcesses.HasEnded() || isOver(t, end.LeftProcesses) || end.WallTime == 0 || end.RunnerCount != 2 {
		t.Fatalf("got %+v, %v", end, err)
	}
	close(may)
	if err := end.LeftProcesses.Wait(t.Context()); err != nil || !end.LeftProcesses.HasEnded() ||
		!isOver(t, end.LeftProcesses) {
		t.Errorf("after the end: %v, life line over %v", err, isOver(t, end.LeftProcesses))
	}
	if none := (*judge.LeftProcesses)(nil); !none.HasEnded() || none.Wait(ctx) != nil || !isOver(t, none) {
		t.Error("nothing is left, and it has not ended")
	}
}

func TestAStageWaitsForAProcessThatMayStillPrint(t *testing.T) {
	for name, tt := range map[string]struct {
		judge  sandbox.Outcome
		silent bool
		letGo  bool
	}{
		"it has not closed its output": {sandbox.Outcome{}, false, true},
		"the judge failed":             {sandbox.Outcome{ExitCode: 1}, true, true},
		"its Python is needed":         {sandbox.Outcome{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			runners := two(slowToEnd(nil, tt.silent, sandbox.Outcome{}, nil)) // ends only when it is killed
			runners.ReturnEarly, runners.LingerTime = tt.letGo, time.Millisecond
			end, err := judge.Run(t.Context(), dismissing(t, tt.judge), runners)
			if err != nil || end.LeftProcesses != nil || end.Signal != "SIGKILL" {
				t.Errorf("got %+v, %v", end, err)
			}
		})
	}
}

func TestAProcessThatDoesNotLeaveIsKilledAfterItsStage(t *testing.T) {
	may := make(chan struct{})
	runners := two(func(ctx context.Context, _ []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		on.OnOutputClosed()
		<-ctx.Done() // killed after a millisecond, and slow to die
		<-may
		return sandbox.Outcome{ExitCode: -1, Signal: "SIGKILL", Cancelled: true}, nil
	})
	runners.LingerTime = time.Millisecond
	end, err := judge.Run(t.Context(), dismissing(t, sandbox.Outcome{}), runners)
	if err != nil || end.LeftProcesses == nil || end.Signal != "" {
		t.Fatalf("got %+v, %v", end, err)
	}
	close(may)
	if err := end.LeftProcesses.Wait(t.Context()); !errors.Is(err, judge.ErrKilledLate) ||
		!isOver(t, end.LeftProcesses) {
		t.Errorf("got %v, life line over %v", err, isOver(t, end.LeftProcesses))
	}
}

func TestALifeLineDoesNotEndBeforeAProcessThatCannotBeKilled(t *testing.T) {
	may := make(chan struct{})
	stuck := fmt.Errorf("a test's process: %w", sandbox.ErrProcessStuck)
	end, err := judge.Run(t.Context(), dismissing(t, sandbox.Outcome{}), two(slowToEnd(may, true, sandbox.Outcome{}, stuck)))
	if err != nil {
		t.Fatal(err)
	}
	close(may)
	if err := end.LeftProcesses.Wait(t.Context()); !errors.Is(err, sandbox.ErrProcessStuck) ||
		isOver(t, end.LeftProcesses) {
		t.Errorf("got %v, life line over %v", err, isOver(t, end.LeftProcesses))
	}
}
