package toolchain

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/tasks"
)

// tools is found once, because asking compilers for their versions takes time.
var tools = sync.OnceValue(func() Toolchain { return FindToolchain(context.Background()) })

// cacheDir is shared by the tests that do not depend on an empty cache.
var cacheDir string

// firstUID is the first UID for the tests' programs.
var firstUID int

func TestMain(m *testing.M) {
	first, _, err := sandboxtest.Reserve() // no other test process gets these user IDs
	if err != nil {
		panic(err)
	}
	firstUID = first
	dir, err := os.MkdirTemp("", "toolchain-test-")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// newBuilder returns a builder on the real sandbox.
func newBuilder() *Builder {
	return NewBuilder(Config{Toolchain: tools(), Runner: newSandbox(), ObjectDir: cacheDir})
}

// newSpiedBuilder returns a builder with its own cache that records its commands.
func newSpiedBuilder(t *testing.T) (*Builder, *spyRunner) {
	t.Helper()
	return newSpiedBuilderOn(t, newSandbox())
}

func newSpiedBuilderOn(t *testing.T, runner ProcessRunner) (*Builder, *spyRunner) {
	t.Helper()
	spy := &spyRunner{ProcessRunner: runner}
	return NewBuilder(Config{Toolchain: tools(), Runner: spy, ObjectDir: t.TempDir()}), spy
}

func cpu() Environment {
	run := sandbox.DefaultRunLimits()
	run.Memory, run.TmpBytes = 1<<30, 256<<20
	return Environment{SandboxSlot: 0, JudgeSandboxSlot: 8, BuildLimits: sandbox.DefaultBuildLimits(), RunLimits: run}
}

// read returns a file of the harness's testdata.
func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "harness", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func cases(lines ...string) []tasks.Case {
	var out []tasks.Case
	for _, line := range lines {
		var c tasks.Case
		for part := range strings.SplitSeq(line, "; ") {
			name, value, _ := strings.Cut(part, ": ")
			c = append(c, tasks.Arg{Name: name, Value: value})
		}
		out = append(out, c)
	}
	return out
}

// cppJob returns the C++ task of testdata with one of its submissions.
func cppJob(t *testing.T, submission string) job.Job {
	return job.Job{
		Task: tasks.Definition{
			Protocol: tasks.ProtocolEval, Lang: tasks.LangCPP, RankingBy: tasks.RankGeometricMean,
			Files: []tasks.File{
				{Name: "task.h", Source: "task.h"}, {Name: "reference.h", Source: "reference.h"},
				{Name: "submission.cpp", Source: tasks.SubmissionSource},
			},
			// -O0, because no test needs fast programs, and compiling takes two thirds of the tests' time.
			Config: tasks.BuildConfig{Sources: []string{"submission.cpp"}, CompileFlags: []string{"-O0"}},
			Tests: cases("seed: 1; size: 100; scale: 2.5; kind: plain",
				"seed: 2; size: 1000; scale: -1e-05; kind: shifted_by_1"),
		},
		Sources: map[string][]byte{
			"task.h": read(t, "cpp/task.h"), "reference.h": read(t, "cpp/reference.h"),
			"submission.cpp": read(t, "cpp/"+submission),
		},
	}
}

// pyJob returns the NumPy task of testdata with one of its submissions.
func pyJob(t *testing.T, submission string) job.Job {
	return job.Job{
		Task: tasks.Definition{
			Protocol: tasks.ProtocolEval, Lang: tasks.LangPython, RankingBy: tasks.RankLastCase,
			Files: []tasks.File{
				{Name: "reference.py", Source: "reference.py"},
				{Name: "submission.py", Source: tasks.SubmissionSource},
			},
			Tests: cases("seed: 1; size: 100; kind: up", "seed: 2; size: 1000; kind: down; scale: 0.5"),
		},
		Sources: map[string][]byte{
			"reference.py": read(t, "py/reference.py"), "submission.py": read(t, "py/"+submission),
		},
	}
}

// mustBuild builds a job, and fails the test if that fails.
func mustBuild(t *testing.T, b *Builder, j job.Job) (*Artifact, job.StageResult) {
	t.Helper()
	a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Environment: cpu()})
	if err != nil {
		t.Fatal(err)
	}
	if a == nil {
		t.Fatalf("build: %s: %+v\n%s", result.Status, result.Failure, result.Stderr)
	}
	return a, result
}

// mustOpen opens an artifact, and closes it at the end of the test.
func mustOpen(t *testing.T, b *Builder, a *Artifact) Program {
	t.Helper()
	p, err := b.Open(t.Context(), a, cpu())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// turns opens programs one after the other, in the Pythons of the previous one if these are alive.
type turns struct {
	builder *Builder
	place   Environment
	last    Program
}

func newTurns(t *testing.T, b *Builder, place Environment) *turns {
	r := &turns{builder: b, place: place}
	t.Cleanup(func() {
		if r.last != nil {
			r.last.Close()
		}
	})
	return r
}

// open closes the previous program and opens the next artifact.
func (r *turns) open(t *testing.T, a *Artifact) Program {
	t.Helper()
	if r.last != nil {
		next := r.last.Next(a)
		if err := r.last.Close(); err != nil {
			t.Error(err)
		}
		if r.last = next; next != nil {
			return next
		}
	}
	// Not t.Context(): that of a subtest ends before the next subtest begins.
	p, err := r.builder.Open(context.Background(), a, r.place)
	if err != nil {
		t.Fatal(err)
	}
	r.last = p
	return p
}

// stageRun is the outcome of one stage.
type stageRun struct {
	status  job.Status
	failure job.Failure
	cases   []job.CaseResult
	outcome judge.StageEnding
}

// runStage runs one stage and judges it like the pipeline.
func runStage(t *testing.T, p Program, req StageRequest, want int) stageRun {
	t.Helper()
	if req.Timeout == 0 {
		req.Timeout = time.Minute
	}
	parser := harness.NewParser(nil)
	req.OnResultPipe = func(b []byte) { parser.Write(b) }
	outcome, err := p.RunStage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	parser.Close()
	status, failure := harness.StageVerdict(outcome, req.Timeout, parser, req.Cases[:want])
	r := stageRun{status: status, cases: harness.FinishCases(parser.Cases(), status), outcome: outcome}
	if failure != nil {
		r.failure = *failure
	}
	return r
}

func buildAndRun(t *testing.T, j job.Job, req StageRequest) stageRun {
	t.Helper()
	b := newBuilder()
	a, _ := mustBuild(t, b, j)
	return runStage(t, mustOpen(t, b, a), req, len(req.Cases))
}
