package evaluator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/profiling"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/taskrun"
	"warpboard/evaluator/toolchain"
)

// fakeSandbox returns these results from its self-test.
type fakeSandbox []job.SelfTestResult

func (f fakeSandbox) SelfTest(context.Context) []job.SelfTestResult { return f }
func (f fakeSandbox) Name() string                                  { return "bubblewrap" }

// fakeBuilder builds nothing; its programs call run.
type fakeBuilder struct {
	build   func(ctx context.Context, req toolchain.BuildRequest) (job.StageResult, error)
	run     func(ctx context.Context, stage fakeStage) (sandbox.Outcome, error)
	prepare func(ctx context.Context, p job.PrecompileJob, place toolchain.Environment) (int, error)
	inspect func(ctx context.Context) error
	close   func() error
	judged  bool // true if a separate judge writes the report
}

// fakeStage is one stage of a fake program.
type fakeStage struct {
	toolchain.StageRequest
	Attempt string
	Place   toolchain.Environment
}

func (f fakeBuilder) Build(ctx context.Context, req toolchain.BuildRequest) (*toolchain.Artifact, job.StageResult,
	error) {
	result := passedBuild()
	var err error
	if f.build != nil {
		result, err = f.build(ctx, req)
	}
	return &toolchain.Artifact{BuildCommands: req.Job.AttemptID}, result, err
}

func passedBuild() job.StageResult {
	now := time.Now()
	return job.StageResult{Stage: job.StageBuild, Status: job.StatusPass, StartedAt: now, EndedAt: now}
}

func (f fakeBuilder) Open(
	_ context.Context, a *toolchain.Artifact, place toolchain.Environment,
) (toolchain.Program, error) {
	return fakeProgram{f, a.BuildCommands, place}, nil
}

func (f fakeBuilder) Inspect(
	ctx context.Context, _ toolchain.BuildRequest, _ string,
) (done toolchain.GeneratedCode, err error) {
	if f.inspect != nil {
		err = f.inspect(ctx)
	}
	return toolchain.GeneratedCode{BuildResult: passedBuild()}, err
}

func (f fakeBuilder) PrecompileTask(ctx context.Context, p job.PrecompileJob, place toolchain.Environment) (int,
	error) {
	if f.prepare == nil {
		return 0, nil
	}
	return f.prepare(ctx, p, place)
}

// OpenReady returns no waiting Python.
func (f fakeBuilder) OpenReady(*toolchain.Artifact, toolchain.Environment) toolchain.Program {
	return nil
}

// LoadKernels finds nothing.
func (f fakeBuilder) LoadKernels(toolchain.KernelCacheKey) []byte { return nil }

func (f fakeBuilder) StoreKernels([]byte, toolchain.KernelCacheKey) {}

func (f fakeBuilder) KeepWarm(ctx context.Context, _ toolchain.Environment, _ int) error {
	<-ctx.Done()
	return ctx.Err()
}

type fakeProgram struct {
	builder fakeBuilder
	attempt string
	place   toolchain.Environment
}

func (p fakeProgram) RunStage(ctx context.Context, req toolchain.StageRequest) (judge.StageEnding, error) {
	if p.builder.run == nil {
		return judge.StageEnding{Outcome: pass(req)}, nil
	}
	outcome, err := p.builder.run(ctx, fakeStage{req, p.attempt, p.place})
	end := judge.StageEnding{Outcome: outcome}
	if p.builder.judged {
		end.JudgeOutcome = &sandbox.Outcome{}
	}
	return end, err
}

func (p fakeProgram) RunWrapped(ctx context.Context, _ toolchain.StageRequest,
	wrapped toolchain.ProcessWrapper) (judge.StageEnding,
	error) {
	outcome, err := wrapped(ctx, sandbox.Spec{DeviceNodes: []string{"/dev/null"}})
	return judge.StageEnding{Outcome: outcome}, err
}
func (p fakeProgram) Next(*toolchain.Artifact) toolchain.Program { return nil }
func (p fakeProgram) PrepareLater()                              {}
func (p fakeProgram) IsWarm() bool                               { return false }
func (p fakeProgram) Close() error {
	if p.builder.close == nil {
		return nil
	}
	return p.builder.close()
}

// pass reports that every case passed, the case with index i in (i+1) × 100 ns.
func pass(req toolchain.StageRequest) sandbox.Outcome {
	say(req, reportOf(req)+"check: pass\n")
	return sandbox.Outcome{WallTime: time.Millisecond}
}

func reportOf(req toolchain.StageRequest) string {
	var b strings.Builder
	kind := "benchmark"
	if req.Mode == "test" {
		kind = "test"
	}
	fmt.Fprintf(&b, "%s-count: %d\n", kind, len(req.Cases))
	for i, c := range req.Cases {
		fmt.Fprintf(&b, "%s.%d.spec: %s\n", kind, i, harness.SpecLine(c))
		if kind == "benchmark" {
			fmt.Fprintf(&b, "benchmark.%d.runs: 3\nbenchmark.%d.mean: %d\n", i, i, (i+1)*100)
		}
		fmt.Fprintf(&b, "%s.%d.status: pass\n", kind, i)
	}
	return b.String()
}

func say(req toolchain.StageRequest, report string) { req.OnResultPipe([]byte(report)) }

// untilKilled is a program that never ends by itself.
func untilKilled(ctx context.Context) (sandbox.Outcome, error) {
	<-ctx.Done()
	return sandbox.Outcome{Cancelled: true, Signal: "SIGKILL"}, nil
}

// passOnSignal passes when released is closed, or ends when it is killed.
func passOnSignal(ctx context.Context, st fakeStage, released <-chan struct{}) (sandbox.Outcome, error) {
	select {
	case <-released:
		return pass(st.StageRequest), nil
	case <-ctx.Done():
		return untilKilled(ctx)
	}
}

// flakyConn loses the first results.
type flakyConn struct {
	realConn
	lose chan struct{} // each item makes one call of PublishResult fail
}

func (f flakyConn) PublishResult(ctx context.Context, r job.Result) error {
	select {
	case <-f.lose:
		return errors.New("the site is away")
	default:
		return f.realConn.PublishResult(ctx, r)
	}
}

// hugeReports makes the first report file larger than a message.
type hugeReports struct{ taskrun.Profiler }

func (h hugeReports) Profile(ctx context.Context, req profiling.ProfileRequest) (job.StageResult, []job.Artifact, error) {
	result, artifacts, err := h.Profiler.Profile(ctx, req)
	for i, a := range artifacts {
		if a.Name == "profile.0.ncu-rep.gz" {
			artifacts[i].Data, artifacts[i].Size = make([]byte, 20_000_000), 20_000_000
		}
	}
	return result, artifacts, err
}
