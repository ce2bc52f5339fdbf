package judge

import (
	"context"
	"errors"
	"fmt"
	"os"

	"warpboard/evaluator/sandbox"
)

// ErrKilledLate means that a process did not exit after its stage and had to be killed, so its device must be checked.
var ErrKilledLate = errors.New("a process did not leave after its stage")

// LeftProcesses are the processes of a stage that had not exited when Run returned. They make no more calls. nil means
// that there are none.
type LeftProcesses struct {
	gone, alive *os.File // ends of a pipe that closes when all processes have exited
	allEnded    chan struct{}
	err         error
}

func newLeftProcesses() (*LeftProcesses, error) {
	gone, alive, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a stage's life line: %w", err)
	}
	return &LeftProcesses{gone: gone, alive: alive, allEnded: make(chan struct{})}, nil
}

// recordAllEnded records that the processes have ended. The pipe stays open if one of them could not be killed.
func (l *LeftProcesses) recordAllEnded(err error) {
	l.err = err
	if !errors.Is(err, sandbox.ErrProcessStuck) {
		l.alive.Close()
	}
	close(l.allEnded)
}

// Wait waits until none of the processes is left. The error is ErrKilledLate, an infrastructure error, or ctx's cause.
func (l *LeftProcesses) Wait(ctx context.Context) error {
	if l == nil {
		return nil
	}
	select {
	case <-l.allEnded:
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// HasEnded reports whether all of the processes have exited, so that Wait returns at once.
func (l *LeftProcesses) HasEnded() bool {
	if l == nil {
		return true
	}
	select {
	case <-l.allEnded:
		return true
	default:
		return false
	}
}

// LifeLine returns a pipe for a judge. Reading it blocks until all of the processes have exited, and then returns the
// end of the file. The caller closes it.
func (l *LeftProcesses) LifeLine() (*os.File, error) {
	if l == nil {
		return os.Open(os.DevNull)
	}
	return duplicateFile(l.gone)
}
