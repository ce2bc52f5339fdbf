package toolchain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
)

// stopPatience is how long a runner may take to leave by itself.
const stopPatience = 5 * time.Second

// runner is a Python in a sandbox of its own that has imported what tasks need and serves the
// stages of one job. Its methods are not for concurrent use, but for alive.
type runner struct {
	kill    context.CancelFunc
	stdin   *net.UnixConn // requests, and the descriptors that go with them
	control *os.File
	done    chan struct{} // the sandbox is gone; outcome and err are set
	outcome sandbox.Outcome
	err     error
	served  bool // it has the compiled kernels of the job's first stage
}

// startRunner starts a runner, which dies with ctx, and returns without waiting for its imports.
func (b *Builder) startRunner(ctx context.Context, place Place) (*runner, error) {
	stdin, requests, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("make a runner's socket: %w", err)
	}
	control, controlWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a runner's pipe: %w", err), stdin.Close(), requests.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &runner{kill: cancel, stdin: stdin, control: control, done: make(chan struct{})}
	spec := b.runnerSpec(place)
	spec.Stdin, spec.Pipe = requests, controlWrite
	go func() {
		defer close(r.done)
		r.outcome, r.err = b.cfg.Runner.Run(ctx, spec)
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

// runnerSpec is the warm process. No limit on its wall time: it waits for work.
func (b *Builder) runnerSpec(place Place) sandbox.Spec {
	python := b.cfg.Tools.Python
	env := b.pythonEnv(place)
	if off, ok := b.cfg.Runner.(interface{ Off() bool }); !ok || !off.Off() {
		env["WARPBOARD_ALONE"] = "1"
	}
	spec := place.spec(StageRequest{})
	spec.Argv = append([]string{python.Path, "/in/warm.py"}, b.preloads(place)...)
	spec.Env, spec.Files = env, harness.RunnerSources()
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], python.Mounts...)
	return spec
}

// preloads are the modules worth importing before a job is known: torch only where there is a GPU.
func (b *Builder) preloads(place Place) []string {
	names := []string{"numpy"}
	if place.Arch != "" {
		// torch imports the last one, for seconds, when a task asks for deterministic algorithms.
		names = append(names, "torch", "triton", "triton.language", "torch._inductor.config")
	}
	return names
}

// ready waits until the imports are done.
func (r *runner) ready() error {
	f, err := readFrame(r.control)
	if err == nil && f.kind == frameReady {
		return nil
	}
	r.stop()
	if r.err != nil {
		return fmt.Errorf("start a warm Python: %w", r.err)
	}
	return fmt.Errorf("a warm Python ended with exit code %d before it was ready: %s", r.outcome.ExitCode, r.outcome.Stderr)
}

// alive tells whether the runner has not ended.
func (r *runner) alive() bool {
	select {
	case <-r.done:
		return false
	default:
		return true
	}
}

// stop lets the runner leave, or makes it, and waits until nothing of it is left.
func (r *runner) stop() {
	r.stdin.Close()
	go drain(r.control, nil)
	select {
	case <-r.done:
	case <-time.After(stopPatience):
	}
	r.kill()
	<-r.done
}

// request asks for one stage.
type request struct {
	Argv       []string          `json:"argv"`
	Env        map[string]string `json:"env"`
	Files      map[string][]byte `json:"files"`
	Extensions []byte            `json:"extensions"`
	// Wires is how many descriptors come along, which become the stage's from 4 on.
	Wires int `json:"wires"`
	// Report is false for a process that has nothing to report: the runner beside a judge.
	Report bool `json:"report"`
	// Keep has later stages find what this one compiled. What they compile themselves reaches nobody.
	Keep bool `json:"keep"`
}

// ending is what the runner says of a stage that has ended.
type ending struct {
	ExitCode int   `json:"exit_code"`
	Signal   int   `json:"signal"`
	CPU      int64 `json:"cpu_ns"`
	MaxRSS   int64 `json:"max_rss"`
	// Spent tells that the stage left something that cannot be removed: the runner must not serve another one.
	Spent bool `json:"spent"`
	// Kept is what later stages find of compiled kernels; the hash is over the names, sizes and hashes of the files.
	Kept *struct {
		Files  int    `json:"files"`
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	} `json:"kept"`
}

// send asks for a stage; wires go with its first byte.
func (r *runner) send(req request, wires []*os.File) error {
	req.Wires = len(wires)
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if len(wires) > 0 {
		numbers := make([]int, len(wires))
		for i, f := range wires {
			numbers[i] = int(f.Fd())
		}
		n, _, err := r.stdin.WriteMsgUnix(line[:1], unix.UnixRights(numbers...), nil)
		if err != nil {
			return err
		}
		line = line[n:]
	}
	_, err = r.stdin.Write(line)
	return err
}
