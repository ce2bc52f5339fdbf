package toolchain

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/sandbox"
)

// stopPatience is how long a runner may take to leave by itself.
const stopPatience = 5 * time.Second

// runner is a Python in a sandbox of its own that has imported what tasks need and serves the
// stages of one job. Its methods are not for concurrent use, but for alive.
type runner struct {
	kill    context.CancelFunc
	stdin   *os.File
	control *os.File
	done    chan struct{} // the sandbox is gone; outcome and err are set
	outcome sandbox.Outcome
	err     error
}

// startRunner starts a runner, which dies with ctx, and returns without waiting for its imports.
func (b *Builder) startRunner(ctx context.Context, place Place) (*runner, error) {
	stdinRead, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a runner's pipes: %w", err)
	}
	control, controlWrite, err := os.Pipe()
	if err != nil {
		stdinRead.Close()
		stdin.Close()
		return nil, fmt.Errorf("make a runner's pipes: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	r := &runner{kill: cancel, stdin: stdin, control: control, done: make(chan struct{})}
	spec := b.runnerSpec(place)
	spec.Stdin, spec.Pipe = stdinRead, controlWrite
	go func() {
		defer close(r.done)
		r.outcome, r.err = b.cfg.Runner.Run(ctx, spec)
		stdinRead.Close()
		controlWrite.Close()
	}()
	return r, nil
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
}

// ending is what the runner says of a stage that has ended.
type ending struct {
	ExitCode int   `json:"exit_code"`
	Signal   int   `json:"signal"`
	CPU      int64 `json:"cpu_ns"`
	MaxRSS   int64 `json:"max_rss"`
}

func (r *runner) send(req request) error {
	line, err := json.Marshal(req)
	if err != nil {
		return err
	}
	_, err = r.stdin.Write(append(line, '\n'))
	return err
}
