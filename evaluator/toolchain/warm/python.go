package warm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/sandbox"
)

// stopTimeout limits the wait for a Python to exit after the end of its input.
const stopTimeout = 5 * time.Second

// Sandbox runs one untrusted process to its end. The implementation is *sandbox.Sandbox.
type Sandbox interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)
}

// Python is an interpreter in its own sandbox that has imported the modules that tasks use. It runs the stages of one
// job, each in a fork. Only IsAlive is safe for concurrent use.
type Python struct {
	kill          context.CancelFunc
	stdin         *net.UnixConn // requests and their descriptors
	controlSocket *os.File
	// the prepared process is only for a stage that uses one stream
	preparedForOneStream bool
	stagesToOneStream    int // number of stages for which none is prepared for one stream

	ended   chan struct{} // closed when the sandbox has ended; outcome and err are set then
	outcome sandbox.Outcome
	err     error
}

// startPython starts a Python, which ends with ctx. It does not wait for the imports.
func startPython(ctx context.Context, box Sandbox, spec sandbox.Spec) (*Python, error) {
	stdin, requests, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make a warm Python's socket: %w", err)
	}
	control, controlWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a warm Python's pipe: %w", err), stdin.Close(), requests.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Python{kill: cancel, stdin: stdin, controlSocket: control, ended: make(chan struct{})}
	spec.Stdin, spec.ResultPipe = requests, controlWrite
	go func() {
		defer close(r.ended)
		r.outcome, r.err = box.Run(ctx, spec)
		requests.Close()
		controlWrite.Close()
	}()
	return r, nil
}

// socketPair returns the two ends of a stream socket: one for this process, and one to pass to another process.
func socketPair() (*net.UnixConn, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "requests"), os.NewFile(uintptr(ends[1]), "requests")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn.(*net.UnixConn), theirs, nil
}

// waitUntilReady waits until the imports are done.
func (r *Python) waitUntilReady() error {
	f, err := readFrame(r.controlSocket)
	if err == nil && f.kind == framePythonReady {
		return nil
	}
	_ = r.Stop() // r.err has its error, and others
	if r.err != nil {
		return fmt.Errorf("start a warm Python: %w", r.err)
	}
	return fmt.Errorf("a warm Python ended with exit code %d before it was ready: %s", r.outcome.ExitCode, r.outcome.Stderr)
}

// IsAlive reports whether the Python has not ended.
func (r *Python) IsAlive() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// Stop asks the Python to exit, kills it after stopTimeout, and returns when no process of it is left. The error is a
// sandbox.ErrProcessStuck if one cannot be killed. Later calls return it again.
func (r *Python) Stop() error {
	r.stdin.Close()
	go func() {
		defer r.controlSocket.Close()
		_, _ = io.Copy(io.Discard, r.controlSocket) // a full pipe would block its writer
	}()
	select {
	case <-r.ended:
	case <-time.After(stopTimeout):
	}
	r.kill()
	<-r.ended
	if errors.Is(r.err, sandbox.ErrProcessStuck) {
		return r.err
	}
	return nil
}

// Types of frames, which warm.py in the harness's runner programs describes.
const (
	framePythonReady  = 'w'
	frameStdout       = 'o'
	frameStderr       = 'e'
	frameResult       = 'r'
	frameOutputClosed = 's'
	frameStageEnded   = 'x'
)

// maxFrameBytes exceeds the largest frame that warm.py sends.
const maxFrameBytes = 1 << 20

type frame struct {
	kind byte
	data []byte
}

// readFrame reads one frame. io.EOF means that the Python has ended.
func readFrame(from io.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return frame{}, io.EOF
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrameBytes {
		return frame{}, fmt.Errorf("the warm Python sent a frame of %d bytes", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return frame{}, io.EOF
	}
	return frame{kind: head[0], data: data}, nil
}
