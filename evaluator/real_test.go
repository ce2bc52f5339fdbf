package evaluator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/taskrun"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// tools returns this machine's toolchain; finding it takes a moment.
var tools = sync.OnceValue(func() toolchain.Toolchain { return toolchain.FindToolchain(context.Background()) })

// cache is the directory of compiled harness objects that the tests share.
var cache string

func TestMain(m *testing.M) {
	var err error
	if firstUID, _, err = sandboxtest.Reserve(); err != nil { // no other test process gets these user IDs
		panic(err)
	}
	var remove func()
	if cache, remove, err = sandboxtest.Objects(); err != nil {
		panic(err)
	}
	code := m.Run()
	evaluations.close()
	remove()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// firstUID distinguishes the programs of these tests from those of other tests on the machine.
var firstUID int

// tested is a sandbox whose first worker runs the self-test for all: it takes half a second.
type tested struct{ *sandbox.Sandbox }

func (s tested) SelfTest(ctx context.Context) []job.SelfTestResult {
	selfTest.once.Do(func() { selfTest.lines = s.Sandbox.SelfTest(context.WithoutCancel(ctx)) })
	return slices.Clone(selfTest.lines)
}

var selfTest struct {
	once  sync.Once
	lines []job.SelfTestResult
}

// realConfig returns the configuration of a worker with nothing faked: this machine's CPU, bubblewrap, and g++.
func realConfig(t testing.TB) evaluator.Config {
	t.Helper()
	return realConfigWith(t, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { return r })
}

// realConfigWith is realConfig with a wrapper around the builder's sandbox.
func realConfigWith(t testing.TB, between func(toolchain.ProcessRunner) toolchain.ProcessRunner) evaluator.Config {
	t.Helper()
	cfg, err := configIn(t.TempDir(),
		slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})), between)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func configIn(root string, log *slog.Logger, between func(toolchain.ProcessRunner) toolchain.ProcessRunner) (evaluator.Config,
	error) {
	box := sandbox.New(sandbox.Config{BuildNice: 1, RunDir: root, FirstUID: firstUID, Log: log})
	slots, err := device.Detect(context.Background(), device.Options{CPUSlots: 1, Log: log})
	return evaluator.Config{
		Sandbox: tested{box}, Slots: slices.DeleteFunc(slots, device.Slot.IsGPU), Toolchain: tools(), Log: log,
		MeasureConfig: taskrun.MeasureConfig{MaxProcesses: 2}, // two instead of five or more keep tests quick
		// with the race detector, 100 heartbeats a second take a seventh of a processor
		HeartbeatEvery: 200 * time.Millisecond,
		Builder: toolchain.NewBuilder(toolchain.Config{
			Toolchain: tools(),
			Runner:    between(box),
			ObjectDir: cache,
			Log:       log,
		}),
	}, err
}

// example returns a job for a built-in task with the given submission.
func example(t testing.TB, task, id string, mode job.Mode, submission []byte) job.Job {
	t.Helper()
	bundles, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(bundles, func(b *tasks.Bundle) bool { return b.Name == task })
	sources, err := bundles[i].ProgramFiles(tasks.Submission{Source: submission})
	if err != nil {
		t.Fatal(err)
	}
	def := bundles[i].Definition
	return job.Job{
		MessageVersion: job.MessageVersion, RunID: 1, AttemptID: id, AttemptSecret: "secret of " + id, Device: "CPU", Mode: mode,
		TaskHash: bundles[i].ContentHash(), Task: def, Sources: sources, SecretSeed: 4242, EnqueuedAt: time.Now(),
	}
}

// solution returns the first correct or wrong submission of a built-in task.
func solution(t testing.TB, task string, correct bool) []byte {
	t.Helper()
	all, err := tasks.ExampleSolutions(task)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(s tasks.Solution) bool { return s.ShouldPass == correct })
	return all[i].Source
}

const vectorAdd = "vectoradd_cpp"

func TestCorrectAndWrongSubmissionsInARealSandboxWithARealCompiler(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	right := example(t, vectorAdd, "right", job.ModeRanked, solution(t, vectorAdd, true))
	right.Task.Benchmarks = right.Task.Benchmarks[:1]
	r := s.run(right)
	wantStages(t, r, "build pass", "test pass", "ranked pass")
	if r.Outcome != job.OutcomePassed || r.ScoreNS == nil || *r.ScoreNS <= 0 {
		t.Fatalf("outcome %s, score %v, failure %+v", r.Outcome, r.ScoreNS, r.Failure)
	}
	if c := r.Stages[2].Cases[0]; len(c.ProcessMedians) != 2 || c.Median != (c.ProcessMedians[0]+c.ProcessMedians[1])/2 ||
		c.Runs != len(c.Times) {
		t.Errorf("the score comes from processes that took %v, together %v, in %d repeats of %d", c.ProcessMedians, c.Median,
			len(c.Times), c.Runs)
	}
	if peak := r.Stages[2].MemoryPeak; peak < 1<<20 || peak > 1<<30 {
		t.Errorf("the ranked stage had %d bytes at most", peak)
	}
	for _, c := range r.Stages[1].Cases {
		if n := c.NumericError; n == nil || n.Elements == 0 || n.ULPMax > 0.5 || n.WorstPosition == "" {
			t.Errorf("the sums of test %d are off by %+v", c.Index, n)
		}
	}
	if m := r.Machine; m.Device != "CPU" || m.Worker != "w1" || m.CompilerVersion == "" || m.KernelRelease == "" ||
		m.SandboxName != "bubblewrap" || m.UUIDHash == "" {
		t.Errorf("machine is %+v", m)
	}
	if r.HarnessName != "warpboard/cpp" || r.WallNS <= r.ProgramNS || r.ProgramNS <= 0 {
		t.Errorf("harness %q, %d ns in all, %d ns in programs", r.HarnessName, r.WallNS, r.ProgramNS)
	}
	r = s.run(example(t, vectorAdd, "wrong", job.ModeRanked, solution(t, vectorAdd, false)))
	if r.Outcome != job.OutcomeFailed || r.Failure == nil || r.Failure.IsInfrastructureError ||
		!strings.Contains(r.Failure.Reason, "wrong answer") {
		t.Errorf("outcome %s, failure %+v, stages %q", r.Outcome, r.Failure, stageNames(r))
	}
	r = s.run(example(t, vectorAdd, "no C++", job.ModeTest, []byte("int main( {\n")))
	wantStages(t, r, "build error")
	if r.Outcome != job.OutcomeFailed || !strings.Contains(r.Stages[0].Stderr, "submission.cpp:1:") {
		t.Errorf("outcome %s, compiler said %q", r.Outcome, r.Stages[0].Stderr)
	}
}

func TestStagesAndCasesArriveInTheirOrder(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	j := example(t, vectorAdd, "a1", job.ModeRanked, solution(t, vectorAdd, true))
	j.Task.Benchmarks = j.Task.Benchmarks[:1]
	s.run(j)
	s.wait("end of the ranked stage",
		func() bool { return slices.ContainsFunc(s.events, ended("a1", job.StageRanked)) })
	var got []string
	for i, e := range s.eventsOf("a1") {
		if e.Number != i+1 || e.AttemptSecret != j.AttemptSecret || e.Worker != "w1" {
			t.Errorf("event %d is %+v", i, e)
		}
		if e.Type == job.EventCaseEnded {
			got = append(got, fmt.Sprintf("%s %d/%d %s", e.Stage, e.Case.Index+1, e.CaseCount, e.Case.Status))
		}
		if e.Type == job.EventStageStarted || e.Type == job.EventStageEnded {
			got = append(got, fmt.Sprintf("%s %s", e.Type, e.Stage))
		}
	}
	n := len(j.Task.Tests)
	want := []string{"stage build", "ended build", "stage test"}
	for i := range n {
		want = append(want, fmt.Sprintf("test %d/%d pass", i+1, n))
	}
	want = append(want, "ended test",
		"stage ranked", "ranked 1/1 pass", "ranked 1/1 pass", "ended ranked") // one event per fresh process
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
