package judge_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/internal/test/tier"
)

// door is the judge's descriptor 4, the other end of the judgeSocket, as the judge's programs use it.
type door struct {
	t  *testing.T
	fd int
}

// next returns the number of the next runner and its channel. It returns false if there are no more runners.
func (d door) next() (int, *os.File, bool) {
	d.t.Helper()
	word, rights := make([]byte, 4), make([]byte, unix.CmsgSpace(12))
	n, oobn, _, _, err := unix.Recvmsg(d.fd, word, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return 0, nil, false
	}
	messages, err := unix.ParseSocketControlMessage(rights[:oobn])
	if err != nil || len(messages) != 1 {
		d.t.Errorf("%d messages: %v", len(messages), err)
		return 0, nil, false
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 3 {
		d.t.Errorf("%d descriptors: %v", len(fds), err)
		return 0, nil, false
	}
	unix.Close(fds[1])
	unix.Close(fds[2])
	return int(binary.LittleEndian.Uint32(word)), os.NewFile(uintptr(fds[0]), "channel"), true
}

func (d door) over(number int) {
	unix.Write(d.fd, binary.LittleEndian.AppendUint32(nil, uint32(number)))
}

// judging is a judge that calls does. When ctx ends, its door is shut down, as if its process were killed.
func judging(t *testing.T, does func(door)) judge.ProcessFunc {
	return func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		fd, err := unix.Dup(int(files[0].Fd()))
		if err != nil {
			return sandbox.Outcome{}, err
		}
		defer unix.Close(fd)
		defer context.AfterFunc(ctx, func() { unix.Shutdown(fd, unix.SHUT_RDWR) })()
		on.OnStarted()
		does(door{t, fd})
		return sandbox.Outcome{}, nil
	}
}

// obedient is a runner that ends when its channel ends or has data, or when ctx ends.
func obedient(ctx context.Context, files []*os.File, _ judge.ProcessCallbacks) (sandbox.Outcome, error) {
	fd := int(files[0].Fd())
	defer context.AfterFunc(ctx, func() { unix.Shutdown(fd, unix.SHUT_RDWR) })()
	unix.Read(fd, make([]byte, 1))
	return sandbox.Outcome{Stdout: "left"}, nil
}

func few(n int, side judge.ProcessFunc) judge.RunnerConfig {
	return judge.RunnerConfig{NextRunner: func(_ context.Context, number int) judge.ProcessFunc {
		if number >= n {
			return nil
		}
		return side
	}}
}

func TestARunnerStartsWhenTheOneBeforeIsGone(t *testing.T) {
	var numbers []int
	alive := make(chan struct{}, 1)
	runner := func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
		select {
		case alive <- struct{}{}:
		default:
			t.Error("two live at the same time")
		}
		defer func() { <-alive }()
		return obedient(ctx, files, on)
	}
	end, err := judge.Run(t.Context(), judging(t, func(d door) {
		for number, channel, ok := d.next(); ok; number, channel, ok = d.next() {
			numbers = append(numbers, number)
			d.over(number)
			channel.Write([]byte("e"))
			io.Copy(io.Discard, channel) // waits for the end of the runner
			channel.Close()
		}
	}), few(3, runner))
	if err != nil || len(numbers) != 3 || numbers[0] != 0 || numbers[2] != 2 || end.RunnerCount != 3 ||
		end.Stdout != "left" {
		t.Errorf("got %v, %+v, %v", numbers, end, err)
	}
}

func TestRunnersThatAreComparedLiveTogether(t *testing.T) {
	runners := few(2, obedient)
	runners.MaxConcurrent = 2
	end, err := judge.Run(t.Context(), judging(t, func(d door) {
		_, first, _ := d.next()
		_, second, ok := d.next() // while the first runner is running
		if !ok {
			t.Error("there is no second one")
		}
		first.Close()
		second.Close()
	}), runners)
	if err != nil || end.RunnerCount != 2 {
		t.Errorf("got %+v, %v", end, err)
	}
}

func TestARunnerThatDoesNotLeaveIsKilledWhenItsTurnIsOver(t *testing.T) {
	stubborn := func(ctx context.Context, _ []*os.File, _ judge.ProcessCallbacks) (sandbox.Outcome, error) {
		<-ctx.Done()
		return sandbox.Outcome{ExitCode: -1, Cancelled: true}, nil
	}
	taken := 0
	end, err := judge.Run(t.Context(), judging(t, func(d door) {
		for number, channel, ok := d.next(); ok; number, channel, ok = d.next() {
			taken++
			d.over(number)
			io.Copy(io.Discard, channel) // returns when the runner has been killed
			channel.Close()
		}
	}), few(2, stubborn))
	if err != nil || taken != 2 || end.RunnerKilledFirst || end.JudgeOutcome.Cancelled {
		t.Errorf("%d taken, %+v, %v", taken, end, err)
	}
}

func TestTheFirstFailingRunnerIsTheStagesEnding(t *testing.T) {
	endings := []sandbox.Outcome{{}, {ExitCode: 139, Signal: "SIGSEGV", Stderr: "second"}, {Stderr: "third"}}
	runners := judge.RunnerConfig{NextRunner: func(_ context.Context, number int) judge.ProcessFunc {
		if number == len(endings) {
			return nil
		}
		return func(context.Context, []*os.File, judge.ProcessCallbacks) (sandbox.Outcome, error) {
			return endings[number], nil
		}
	}}
	end, err := judge.Run(t.Context(), judging(t, func(d door) {
		for _, channel, ok := d.next(); ok; _, channel, ok = d.next() {
			channel.Close()
		}
	}), runners)
	if err != nil || end.Signal != "SIGSEGV" || end.Stderr != "second" {
		t.Errorf("got %+v, %v", end, err)
	}
}

func TestTheJudgeDoesNotWaitForAMissingRunner(t *testing.T) {
	broken := errors.New("no sandbox")
	for name, tt := range map[string]struct {
		judge   judge.ProcessFunc
		runners judge.RunnerConfig
		err     error
	}{
		"the judge ends first": {judging(t, func(d door) { d.next() }),
			judge.RunnerConfig{NextRunner: func(ctx context.Context, number int) judge.ProcessFunc {
				if number == 0 {
					return obedient
				}
				<-ctx.Done()
				return nil
			}}, nil},
		"the sandbox fails": {judging(t, func(d door) { d.next(); d.next() }),
			judge.One(func(context.Context, []*os.File, judge.ProcessCallbacks) (sandbox.Outcome, error) {
				return sandbox.Outcome{},
					broken
			}), broken},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), tier.Patience())
			defer cancel()
			if _, err := judge.Run(ctx, tt.judge, tt.runners); !errors.Is(err, tt.err) || ctx.Err() != nil {
				t.Errorf("got %v, %v", err, ctx.Err())
			}
		})
	}
}

// TestAStageThatUsesMoreThanItsShareOfTheMachineIsAtItsLimit has a runner that is killed because the machine has no more
// memory: an infrastructure error, unless all processes of the stage used more than their share together.
func TestAStageThatUsesMoreThanItsShareOfTheMachineIsAtItsLimit(t *testing.T) {
	for share, want := range map[int64]error{0: sandbox.ErrMachineMemory, 29: nil, 30: nil, 31: sandbox.ErrMachineMemory} {
		runners := judge.RunnerConfig{MaxConcurrent: 2, MemoryShare: share}
		runners.NextRunner = func(_ context.Context, number int) judge.ProcessFunc {
			if number > 1 {
				return nil
			}
			return func(ctx context.Context, files []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
				if number == 0 {
					_, err := obedient(ctx, files, on)
					return sandbox.Outcome{Cancelled: true, MemoryPeak: 14}, err
				}
				return sandbox.Outcome{Signal: "SIGKILL", ExceededLimit: "memory", MemoryPeak: 14}, sandbox.ErrMachineMemory
			}
		}
		end, err := judge.Run(t.Context(), func(ctx context.Context, _ []*os.File, on judge.ProcessCallbacks) (sandbox.Outcome, error) {
			on.OnStarted()
			<-ctx.Done()
			return sandbox.Outcome{Cancelled: true, MemoryPeak: 2}, nil
		}, runners)
		if !errors.Is(err, want) || end.ExceededLimit != "memory" {
			t.Errorf("share of %d: %+v, %v", share, end, err)
		}
	}
}
