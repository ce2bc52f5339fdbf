package evaluator_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	kernels "warpboard/evaluator/kernel"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// benchBuilder has Pythons that compile, remembers what it is told to, and notes what runs where.
type benchBuilder struct {
	fakeBuilder
	hold chan struct{} // a stage of "wait" runs until this is closed
	wait string        // an attempt
	fail bool          // nothing can be compiled ahead

	mu   sync.Mutex
	kept map[string][]byte
	ran  []string
}

func (b *benchBuilder) Open(_ context.Context, a *toolchain.Artifact, place toolchain.Place) (toolchain.Program, error) {
	return &benchProgram{builder: b, attempt: a.Command, place: place}, nil
}

func (b *benchBuilder) OpenReady(a *toolchain.Artifact, place toolchain.Place) toolchain.Program {
	return &benchProgram{builder: b, attempt: a.Command, place: place}
}

func (b *benchBuilder) Recall(text, arch string) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[arch+text]
}

func (b *benchBuilder) Remember(text, arch string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept[arch+text] = data
}

func (b *benchBuilder) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = append(b.ran, fmt.Sprintf(format, args...))
}

type benchProgram struct {
	fakeProgram
	builder *benchBuilder
	attempt string
	place   toolchain.Place
}

func (p *benchProgram) Next(a *toolchain.Artifact) toolchain.Program {
	return &benchProgram{builder: p.builder, attempt: a.Command, place: p.place}
}

func (p *benchProgram) RunStage(_ context.Context, req toolchain.StageRequest) (sandbox.Outcome, error) {
	p.builder.note("%s %s with %d devices and %q", p.attempt, req.Mode, len(p.place.Device), req.Files[kernels.CompiledFile])
	if p.attempt == p.builder.wait {
		<-p.builder.hold
	}
	if req.Mode == kernels.ModeCompile {
		if p.builder.fail {
			return sandbox.Outcome{ExitCode: 1}, nil
		}
		defer close(p.builder.hold)
		fmt.Fprintln(pipe(req.OnPipe), `{"compiled":"YWhlYWQ="}`)
		return sandbox.Outcome{}, nil
	}
	fmt.Fprintln(pipe(req.OnPipe), `{"stage":"compiling","kernel":"custom"}`+"\n"+`{"report":{"compiled":true}}`)
	if req.Files == nil {
		fmt.Fprintln(pipe(req.OnPipe), `{"compiled":"c2xvdA=="}`)
	}
	fmt.Fprintln(pipe(req.OnPipe), `{"done":true}`)
	return sandbox.Outcome{}, nil
}

func (p *benchProgram) Close() error { return nil }

func (b *benchBuilder) start(t *testing.T) *site {
	t.Helper()
	b.hold, b.kept = make(chan struct{}), map[string][]byte{}
	s := newSite(t)
	cfg := evaluator.Config{Builder: b, Slots: []device.Slot{gpu(0)}}
	cfg.Tools.Python = &toolchain.Python{Packages: map[string]string{"torch": "2"}}
	s.start(cfg)
	return s
}

// publishKernel asks for the evaluation of one kernel on the GPU.
func publishKernel(t *testing.T, s *site, attempt, kind, source string) {
	t.Helper()
	code := map[string]any{"source_code": source, "kernel_type": kind, "io": map[string]any{"args": []any{}}}
	j := evaluationJob(t, evaluateOne(t, code))
	j.Device, j.Caller, j.AttemptID = "H200", "token:1", attempt
	s.publish(j)
}

func (b *benchBuilder) wantRan(t *testing.T, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if diff := cmp.Diff(want, b.ran); diff != "" {
		t.Error(diff)
	}
}

func TestAKernelThatWaitsForItsSlotIsCompiledMeanwhile(t *testing.T) {
	b := &benchBuilder{wait: "first"}
	s := b.start(t)
	publishKernel(t, s, "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "second", "triton", "y = 1") // its compilation lets the first one end
	s.result("first")
	s.result("second")
	b.wantRan(t, `first test with 2 devices and ""`, `second compile with 0 devices and ""`, `second test with 2 devices and "ahead"`)
}

func TestWhatDoesNotCompileBesideItsSlotCompilesThere(t *testing.T) {
	b := &benchBuilder{wait: "first", fail: true}
	s := b.start(t)
	publishKernel(t, s, "first", "torch", "x = 1")
	s.wait("the first runs", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 1 })
	publishKernel(t, s, "second", "cuda", "y = 1")
	s.wait("the second is tried", func() bool { b.mu.Lock(); defer b.mu.Unlock(); return len(b.ran) == 2 })
	close(b.hold)
	s.result("first")
	s.result("second")
	b.wantRan(t, `first test with 2 devices and ""`, `second compile with 0 devices and ""`, `second test with 2 devices and ""`)
}

func TestTheSameKernelIsCompiledOnce(t *testing.T) {
	b := &benchBuilder{}
	s := b.start(t)
	for i, source := range []string{"x = 1", "x = 1", "x = 2"} {
		attempt := fmt.Sprint("a", i)
		publishKernel(t, s, attempt, "triton", source)
		s.result(attempt)
	}
	b.wantRan(t, `a0 test with 2 devices and ""`, `a1 test with 2 devices and "slot"`, `a2 test with 2 devices and ""`)
}
