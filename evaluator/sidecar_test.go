package evaluator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/kernelrun/evaluation"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// precompileTook is the duration that the fake builder reports for compiling kernels in a sidecar. It is charged to the
// request's limit of 60 s.
const precompileTook = 20 * time.Second

// fakeSidecarBuilder is a fake builder that can compile kernels in sidecars. It records its calls, and the number of
// devices in each run's environment.
type fakeSidecarBuilder struct {
	fakeBuilder
	hold       chan struct{}   // the stage of attempt wait runs until this is closed
	wait       string          // ID of the attempt that waits for hold
	fail       bool            // kernels cannot be compiled in a sidecar
	allStarted *sync.WaitGroup // a compilation waits until all have started; nil: it does not wait

	release        func() // closes hold
	opened, closed atomic.Int64
	lastTimeLimit  atomic.Int64 // time limit of the last stage, in ns
	worker         *running

	mu   sync.Mutex
	kept map[toolchain.KernelCacheKey][]byte
	ran  []string
}

func (b *fakeSidecarBuilder) Open(_ context.Context, a *toolchain.Artifact, place toolchain.Environment) (toolchain.Program,
	error) {
	b.opened.Add(1)
	return &sidecarProgram{builder: b, attempt: a.BuildCommands, place: place}, nil
}

func (b *fakeSidecarBuilder) OpenReady(a *toolchain.Artifact, place toolchain.Environment) toolchain.Program {
	b.opened.Add(1)
	return &sidecarProgram{builder: b, attempt: a.BuildCommands, place: place}
}

func (b *fakeSidecarBuilder) LoadKernels(k toolchain.KernelCacheKey) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[k]
}

func (b *fakeSidecarBuilder) StoreKernels(data []byte, k toolchain.KernelCacheKey) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[k] = data
}

func (b *fakeSidecarBuilder) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = append(b.ran, fmt.Sprintf(format, args...))
}

type sidecarProgram struct {
	fakeProgram
	builder *fakeSidecarBuilder
	attempt string
	place   toolchain.Environment
}

func (p *sidecarProgram) Next(a *toolchain.Artifact) toolchain.Program {
	return &sidecarProgram{builder: p.builder, attempt: a.BuildCommands, place: p.place}
}

func (p *sidecarProgram) RunStage(_ context.Context, req toolchain.StageRequest) (judge.StageEnding, error) {
	p.builder.note("%s %s with %d devices and %q", p.attempt, req.Mode, len(p.place.DeviceNodes),
		req.Processes[0].Files[evaluation.CompiledFile])
	if p.attempt == p.builder.wait {
		<-p.builder.hold
	}
	p.builder.lastTimeLimit.Store(int64(req.Timeout))
	if req.Mode == evaluation.ModeCompile {
		if allStarted := p.builder.allStarted; allStarted != nil {
			allStarted.Done()
			allStarted.Wait()
		}
		if p.builder.fail {
			return judge.StageEnding{Outcome: sandbox.Outcome{ExitCode: 1, WallTime: precompileTook}}, nil
		}
		defer p.builder.release()
		fmt.Fprintln(pipe(req.OnResultPipe), `{"compiled":{"custom":"ahead","ref":"of another kernel"}}`)
		return judge.StageEnding{Outcome: sandbox.Outcome{WallTime: precompileTook}}, nil
	}
	fmt.Fprintln(pipe(req.OnResultPipe), `{"stage":"compiling","kernel":"custom"}`+"\n"+`{"report":{"compiled":true}}`)
	if req.Processes[0].Files[evaluation.CompiledFile] == nil {
		fmt.Fprintln(pipe(req.OnResultPipe), `{"compiled":{"custom":"slot"}}`)
	}
	fmt.Fprintln(pipe(req.OnResultPipe), `{"done":true}`)
	return judge.StageEnding{}, nil
}

func (p *sidecarProgram) Close() error { p.builder.closed.Add(1); return nil }

func (b *fakeSidecarBuilder) start(t *testing.T) *fakeSite {
	t.Helper()
	b.hold, b.kept = make(chan struct{}), map[toolchain.KernelCacheKey][]byte{}
	b.release = sync.OnceFunc(func() { close(b.hold) })
	s := newSite(t)
	cfg := evaluator.Config{Builder: b, Slots: []device.Slot{gpu(0)}}
	cfg.Toolchain.Python = &toolchain.Python{Packages: map[string]string{"torch": "2"}}
	b.worker = s.start(cfg)
	return s
}

// publishKernel requests the evaluation of one kernel on the GPU.
func publishKernel(t *testing.T, s *fakeSite, caller, attempt, kind, source string) {
	t.Helper()
	code := map[string]any{"source_code": source, "kernel_type": kind, "io": map[string]any{"args": []any{}}}
	j := evaluationJob(t, evaluateOne(t, code))
	j.Device, j.Caller, j.AttemptID = "H200", caller, attempt
	s.publish(j)
}

func (b *fakeSidecarBuilder) wantRan(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.ran); diff != "" {
		t.Error(diff)
	}
}

func TestAWaitingKernelIsCompiled(t *testing.T) {
	b := &fakeSidecarBuilder{wait: "first"}
	s := b.start(t)
	publishKernel(t, s, "token:1", "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "token:1", "second", "triton", "y = 1") // the first ends when this one is compiled
	s.result("first")
	s.result("second")
	b.wantRan(t, `first test with 2 devices and ""`, `second compile with 0 devices and ""`,
		`second test with 2 devices and "{\"custom\":\"ahead\"}"`)
	if left := time.Duration(b.lastTimeLimit.Load()); left > 40*time.Second || left < 20*time.Second {
		t.Errorf("after a precompilation of %v %v are left", precompileTook, left)
	}
}

func TestAKernelThatFailsInASidecarIsCompiledOnItsSlot(t *testing.T) {
	b := &fakeSidecarBuilder{wait: "first", fail: true}
	s := b.start(t)
	publishKernel(t, s, "token:1", "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "token:1", "second", "cuda", "y = 1")
	s.wait("the second is tried", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 2 })
	b.release()
	s.result("first")
	s.result("second")
	b.wantRan(t, `first test with 2 devices and ""`, `second compile with 0 devices and ""`,
		`second test with 2 devices and ""`)
	if left := time.Duration(b.lastTimeLimit.Load()); left < 41*time.Second {
		t.Errorf("after a precompilation that failed %v are left", left)
	}
}

func TestTwoWaitingKernelsAreCompiledAtTheSameTime(t *testing.T) {
	b := &fakeSidecarBuilder{wait: "first", allStarted: &sync.WaitGroup{}}
	b.allStarted.Add(2)
	s := b.start(t)
	publishKernel(t, s, "token:1", "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "token:1", "second", "triton", "y = 1")
	publishKernel(t, s, "token:1", "third", "triton", "y = 2")
	for _, attempt := range []string{"first", "second", "third"} {
		s.result(attempt)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if compiled := slices.DeleteFunc(b.ran, func(what string) bool { return !strings.Contains(what, " compile ") }); len(compiled) != 2 {
		t.Errorf("compiled in sidecars were %q, want the second and the third", compiled)
	}
}

func TestASidecarRunnerIsKeptAfterAKernelThatDoesNotCompile(t *testing.T) {
	b := &fakeSidecarBuilder{wait: "first", fail: true}
	s := b.start(t)
	publishKernel(t, s, "token:1", "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "token:1", "second", "cuda", "y = 1")
	s.wait("the second is tried", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 2 })
	b.release()
	s.result("first")
	s.result("second")
	if open := b.opened.Load() - b.closed.Load(); open != 2 {
		t.Errorf("%d programs wait for their caller, want one on the slot and one beside it", open)
	}
}

func TestTheSameKernelIsCompiledOnceForEachCaller(t *testing.T) {
	b := &fakeSidecarBuilder{}
	s := b.start(t)
	for i, ask := range []struct{ caller, source string }{{"token:1", "x = 1"}, {"token:1", "x = 1"},
		{"token:1", "x = 2"}, {"token:2", "x = 1"}} {
		attempt := fmt.Sprint("a", i)
		publishKernel(t, s, ask.caller, attempt, "triton", ask.source)
		var out kernelrun.Result
		if err := json.Unmarshal(s.result(attempt).Evaluation, &out); err != nil {
			t.Fatal(err)
		}
		if out.KernelsCached == nil || *out.KernelsCached != (i == 1) {
			t.Errorf("%s: cached %v", attempt, out.KernelsCached)
		}
	}
	b.wantRan(t, `a0 test with 2 devices and ""`, `a1 test with 2 devices and "{\"custom\":\"slot\"}"`,
		`a2 test with 2 devices and ""`, `a3 test with 2 devices and ""`)
}

func TestASidecarRunnerIsKeptForItsCaller(t *testing.T) {
	b := &fakeSidecarBuilder{wait: "first"}
	s := b.start(t)
	publishKernel(t, s, "token:1", "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "token:1", "second", "cuda", "y = 1")
	s.result("first")
	s.result("second")
	if open := b.opened.Load() - b.closed.Load(); open != 2 {
		t.Errorf("%d programs wait for their caller, want one on the slot and one beside it", open)
	}
	b.worker.stop()
	<-b.worker.ended
	if open := b.opened.Load() - b.closed.Load(); open != 0 {
		t.Errorf("%d of %d programs were left", open, b.opened.Load())
	}
}
