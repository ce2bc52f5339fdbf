package attacks_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"warpboard/evaluator"
	"warpboard/evaluator/attacks"
	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// arena runs stages one after another, reusing sandboxes where possible.
type arena struct {
	builder *toolchain.Builder
	place   toolchain.Environment
	tasks   map[string]*tasks.Bundle
	program toolchain.Program
	worker  *evaluator.Worker // runs the attacks on the evaluation API, which have no task
	lang    tasks.Lang        // language of program
	ranks   int               // number of ranks that program was opened with; 0 for a task without ranks
	twins   map[string]result // results of honest twins, by task, input size, and source
}

func newArena(t *testing.T) *arena {
	bundles, err := attacks.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	run := sandbox.DefaultRunLimits()
	run.Memory, run.TmpBytes = 1<<30, 256<<20
	dir, remove, err := sandboxtest.Objects()
	if err != nil {
		t.Fatal(err)
	}
	tools := toolchain.FindToolchain(t.Context())
	box := sandbox.New(sandbox.Config{BuildNice: 1, FirstUID: sandboxtest.FirstUID(t), RunDir: t.TempDir()})
	builder := toolchain.NewBuilder(toolchain.Config{Toolchain: tools, Runner: box, ObjectDir: dir})
	cpus, err := device.Detect(t.Context(), device.Options{CPUSlots: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := &arena{
		builder: builder,
		worker: evaluator.NewWorker(evaluator.Config{
			Conn: evaluator.NopConn{}, Sandbox: box, Toolchain: tools, Builder: builder,
			Slots: slices.DeleteFunc(cpus, device.Slot.IsGPU)}),
		place: toolchain.Environment{SandboxSlot: 0, JudgeSandboxSlot: 8, BuildLimits: sandbox.DefaultBuildLimits(),
			RunLimits: run},
		tasks: map[string]*tasks.Bundle{}, twins: map[string]result{},
	}
	for _, b := range bundles {
		a.tasks[b.Name] = b
	}
	t.Cleanup(func() {
		if a.program != nil {
			a.program.Close()
		}
		a.worker.Close()
		remove()
	})
	return a
}

// compileAhead compiles all attacks, with one compiler per core, so that nothing is compiled while a stage is timed. It
// does nothing if only some attacks are requested.
func (a *arena) compileAhead(t *testing.T, all []attacks.Attack) {
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return
	}
	compilers := runtime.NumCPU()
	places := make(chan toolchain.Environment, compilers)
	for i := range compilers {
		place := a.place
		place.SandboxSlot = a.place.JudgeSandboxSlot + 1 + i
		places <- place
	}
	var group errgroup.Group
	group.SetLimit(compilers)
	for _, attack := range all {
		if attack.Lang != tasks.LangCPP {
			continue
		}
		for _, source := range [][]byte{attack.Submission, attack.HonestTwin} {
			j := a.job(t, attack, source)
			group.Go(func() error {
				place := <-places
				defer func() { places <- place }()
				_, _, err := a.builder.Build(t.Context(), toolchain.BuildRequest{Job: j, Environment: place})
				return err
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// result is the outcome of one stage.
type result struct {
	status   job.Status
	failure  job.Failure
	shown    float64 // the median time that is ranked, in nanoseconds
	best     float64 // the shortest call by the runner's clock, in nanoseconds, which a busy machine hardly changes
	claimed  float64
	beside   float64 // time of the reference, which was called alternately with the attack, in nanoseconds
	snapshot float64 // time from release to the copied answer, minus the cost of an empty call, in nanoseconds
	clock    string
	stderr   string
}

func (a *arena) try(t *testing.T, attack attacks.Attack, rows *tabwriter.Writer) (got result) {
	key := fmt.Sprintf("%s %d %s", attack.Task, attack.InputSize, attack.HonestTwin)
	twin, known := a.twins[key]
	if !known {
		attack.TimeoutSeconds = 0
		twin = a.run(t, attack, attack.HonestTwin)
		a.twins[key] = twin
	}
	if twin.status != job.StatusPass {
		t.Errorf("its honest twin: %s, %s\n%s", twin.status, twin.failure.Reason, twin.stderr)
	}
	got = a.run(t, attack, attack.Submission)
	verdict := verdictOf(got)
	fmt.Fprintf(rows, "%s\t%.1f µs\t%.1f µs\t%s\t%.1f µs\t%s\n", attack.Name, got.claimed/1e3, got.shown/1e3, got.clock,
		twin.best/1e3, verdict)
	if !attack.AllowsVerdict(verdict) || !attack.AllowsReason(got.failure.Reason) || got.failure.IsInfrastructureError {
		t.Errorf("%s (%s); want %s, ...%s...\n%s", verdict, got.failure.Reason, attack.ExpectedVerdict,
			attack.ExpectedReason,
			got.stderr)
	}
	if strings.Contains(got.failure.Reason, "The task failed") {
		t.Errorf("the task is blamed: %s", got.failure.Reason)
	}
	// Not for C++, whose judge uses a lower quantile of the calls, and another tolerance.
	if attack.Lang == tasks.LangPython && !attack.IsEvaluation() && verdict == attacks.VerdictScoredHonestly &&
		got.shown < 0.97*got.snapshot-6_000 {
		t.Errorf("it is shown with %.1f µs by %s, and its answers came after %.1f", got.shown/1e3, got.clock,
			got.snapshot/1e3)
	}
	if got.beside > 0 {
		twin.best = got.beside
	}
	if ahead := func() bool { return got.shown < leastShare*twin.best-hideable }; verdict == attacks.VerdictScoredHonestly && ahead() {
		// The machine may have been busier when the twin was measured, so the twin is measured again.
		attack.TimeoutSeconds = 0
		again := a.run(t, attack, attack.HonestTwin)
		if again.best > 0 {
			twin.best = min(twin.best, again.best)
		}
		if !ahead() {
			return got
		}
		t.Errorf("it is shown with %.1f µs by %s, and takes %.1f", got.shown/1e3, got.clock, twin.best/1e3)
	}
	return got
}

func verdictOf(r result) attacks.Verdict {
	switch r.status {
	case job.StatusPass:
		return attacks.VerdictScoredHonestly
	case job.StatusLimitExceeded, job.StatusTimeout:
		return attacks.VerdictStageLimit
	}
	return attacks.VerdictRefused
}

func (a *arena) job(t *testing.T, attack attacks.Attack, submission []byte) job.Job {
	bundle := a.tasks[attack.Task]
	if bundle == nil {
		t.Fatalf("no task is called %q", attack.Task)
	}
	sources, err := bundle.ProgramFiles(tasks.Submission{Source: submission})
	if err != nil {
		t.Fatal(err)
	}
	return job.Job{Task: bundle.Definition, Sources: sources}
}

func (a *arena) run(t *testing.T, attack attacks.Attack, submission []byte) result {
	t.Helper()
	if attack.IsEvaluation() {
		return a.evaluate(t, attack, submission)
	}
	j := a.job(t, attack, submission)
	built, reply, err := a.builder.Build(t.Context(), toolchain.BuildRequest{Job: j, Environment: a.place})
	if err != nil {
		t.Fatal(err)
	}
	if built == nil {
		return result{status: reply.Status, failure: *reply.Failure, stderr: reply.Stderr}
	}
	ranks := 0
	if j.Task.MultiGPU {
		ranks = j.Task.WorldSize()
	}
	a.open(t, built, attack.Lang, ranks)
	cases := slices.Clone(j.Task.Benchmarks)
	if attack.InputSize > 0 {
		cases[0] = tasks.Case{{Name: "size", Value: strconv.Itoa(attack.InputSize)}, {Name: "seed", Value: "5"}}
	}
	limit := 20 * time.Second
	if attack.TimeoutSeconds > 0 {
		limit = time.Duration(attack.TimeoutSeconds) * time.Second
	}
	parser, report := harness.NewParser(nil).ExpectProcesses(), &bytes.Buffer{}
	ending, err := a.program.RunStage(t.Context(), toolchain.StageRequest{
		Mode: "leaderboard", Cases: cases, Timeout: limit, OnResultPipe: func(b []byte) { parser.Write(b); report.Write(b) },
		NeedsAnotherProcess: func(_ context.Context, number int) bool { return number < attack.ProcessCount }})
	if err != nil {
		t.Fatal(err)
	}
	parser.Close()
	r := result{stderr: ending.Stderr}
	var failure *job.Failure
	if r.status, failure = harness.StageVerdict(ending, limit, parser, cases); failure != nil {
		r.failure = *failure
		return r
	}
	c := parser.Cases()[0]
	r.shown, r.clock, r.claimed, r.snapshot = c.Median, string(c.ClockTimes.CountedClock), c.ClockTimes.EventTime, c.ClockTimes.SnapshotTime
	for line := range strings.Lines(report.String()) {
		calls, _ := strings.CutPrefix(line, "benchmark.0.events: ")
		if calls == line {
			continue
		}
		for call := range strings.SplitSeq(strings.TrimSpace(calls), ",") {
			if ns, err := strconv.ParseFloat(call, 64); err == nil && (r.best == 0 || ns < r.best) {
				r.best = ns
			}
		}
	}
	if r.best == 0 || r.clock == "" {
		t.Fatalf("the report has no calls of the runner's clock:\n%s", report)
	}
	if want := max(attack.ProcessCount, 1); len(c.ProcessMedians) != want {
		t.Fatalf("%d processes were measured, want %d", len(c.ProcessMedians), want)
	}
	return r
}

// open opens a program, in the sandboxes of the previous program if they still exist.
func (a *arena) open(t *testing.T, built *toolchain.Artifact, lang tasks.Lang, ranks int) {
	if a.program != nil && a.lang == lang && a.ranks == ranks {
		if next := a.program.Next(built); next != nil {
			a.program = next
			return
		}
	}
	if a.program != nil {
		a.program.Close()
	}
	// The program must outlive the subtest, and so cannot use its context.
	place := a.place
	place.GPUCount = ranks
	p, err := a.builder.Open(context.Background(), built, place)
	if err != nil {
		t.Fatal(err)
	}
	a.program, a.lang, a.ranks = p, lang, ranks
}
