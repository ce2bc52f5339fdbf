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

// stopTimeout is how long a Python may take to leave when it is asked to.
const stopTimeout = 5 * time.Second

// Sandbox runs one untrusted process to its end; *sandbox.Sandbox is the real one.
type Sandbox interface {
	Run(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error)
}

// Python is an interpreter in its own sandbox with the modules of tasks imported. It serves the stages of one job, each in a
// fork. Its methods are not for concurrent use, except Alive.
type Python struct {
	kill    context.CancelFunc
	stdin   *net.UnixConn // requests, and the descriptors that go with them
	control *os.File
	done    chan struct{} // the sandbox is gone; outcome and err are set
	outcome sandbox.Outcome
	err     error
	served  bool // it has the compiled kernels of the job's first stage
}

// start starts a Python, which dies with ctx, and returns without waiting for its imports.
func start(ctx context.Context, box Sandbox, spec sandbox.Spec) (*Python, error) {
	stdin, requests, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make a warm Python's socket: %w", err)
	}
	control, controlWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a warm Python's pipe: %w", err), stdin.Close(), requests.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &Python{kill: cancel, stdin: stdin, control: control, done: make(chan struct{})}
	spec.Stdin, spec.Pipe = requests, controlWrite
	go func() {
		defer close(r.done)
		r.outcome, r.err = box.Run(ctx, spec)
		requests.Close()
		controlWrite.Close()
	}()
	return r, nil
}

// socketPair makes a stream socket: this process's end, and the end for another one.
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

// ready waits until the imports are done.
func (r *Python) ready() error {
	f, err := readFrame(r.control)
	if err == nil && f.kind == frameReady {
		return nil
	}
	r.Stop()
	if r.err != nil {
		return fmt.Errorf("start a warm Python: %w", r.err)
	}
	return fmt.Errorf("a warm Python ended with exit code %d before it was ready: %s", r.outcome.ExitCode, r.outcome.Stderr)
}

// Alive reports whether the Python has not ended.
func (r *Python) Alive() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// Stop lets the Python leave, or makes it, and waits until nothing of it is left.
func (r *Python) Stop() {
	r.stdin.Close()
	go func() {
		defer r.control.Close()
		_, _ = io.Copy(io.Discard, r.control) // a full pipe would stop its writer
	}()
	select {
	case <-r.done:
	case <-time.After(stopTimeout):
	}
	r.kill()
	<-r.done
}

// Fresh prepares the Python for another job of the same person, which finds nothing that this one compiled: several people
// may share a token, and one's kernel could leave another machine code for another's.
func (r *Python) Fresh() { r.served = false }

// The types of frames; warm.py in the harness's runner programs describes them.
const (
	frameReady  = 'w'
	frameStdout = 'o'
	frameStderr = 'e'
	frameResult = 'r'
	frameEnded  = 'x'
)

// maxFrame is above what warm.py ever sends at once.
const maxFrame = 1 << 20

type frame struct {
	kind byte
	data []byte
}

// readFrame reads one frame; io.EOF means that the Python is gone.
func readFrame(from io.Reader) (frame, error) {
	var head [5]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return frame{}, io.EOF
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxFrame {
		return frame{}, fmt.Errorf("the warm Python sent a frame of %d bytes", size)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(from, data); err != nil {
		return frame{}, io.EOF
	}
	return frame{kind: head[0], data: data}, nil
}
