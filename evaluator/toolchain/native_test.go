package toolchain

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
)

// statuses returns the status of each case.
func statuses(r stageRun) []job.Status {
	var out []job.Status
	for _, c := range r.cases {
		out = append(out, c.Status)
	}
	return out
}

func TestNativeVerdicts(t *testing.T) {
	tier.Needs(t, tier.Judge)
	tests := []struct {
		submission string
		mode       string
		status     job.Status
		cases      []job.Status
		reason     string
	}{
		{"correct.cpp", "test", job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"correct.cpp", "benchmark", job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"correct.cpp", "profile", job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"wrong.cpp", "test", job.StatusFail, []job.Status{job.StatusPass, job.StatusFail}, "error at 7: expected"},
		{"wrong.cpp", "leaderboard", job.StatusFail, []job.Status{job.StatusPass, job.StatusFail},
			"error at 7: expected"},
		{"stale.cpp", "leaderboard", job.StatusFail, []job.Status{job.StatusFail}, "error at 0: expected"},
		{"counting.cpp", "leaderboard", job.StatusFail, []job.Status{job.StatusFail}, "error at 0"},
		{"crash.cpp", "test", job.StatusError, []job.Status{job.StatusPass, job.StatusError},
			"SIGSEGV in case 1 (seed: 2"},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.submission+"/"+tt.mode, func(t *testing.T) {
			j := cppJob(t, tt.submission)
			a, _ := mustBuild(t, b, j)
			r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: tt.mode, Cases: j.Task.Tests}, len(j.Task.Tests))
			if r.status != tt.status || !strings.Contains(r.failure.Reason, tt.reason) {
				t.Errorf("got %s, %q; want %s, ...%s...\n%s", r.status, r.failure.Reason, tt.status, tt.reason,
					r.outcome.Stderr)
			}
			if diff := cmp.Diff(tt.cases, statuses(r)); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRankedRepeatsAreAllReported(t *testing.T) {
	j := cppJob(t, "correct.cpp")
	r := buildAndRun(t, j, StageRequest{Mode: "leaderboard", Cases: j.Task.Tests})
	if r.status != job.StatusPass {
		t.Fatalf("got %s: %s", r.status, r.failure.Reason)
	}
	for _, c := range r.cases {
		if c.Runs < 3 || c.Runs > 100 || len(c.Times) != c.Runs {
			t.Errorf("case %d: %d runs, %d times", c.Index, c.Runs, len(c.Times))
		}
		if !(c.Best <= c.Median && c.Median <= c.P95 && c.P95 <= c.Worst && c.Best <= c.Mean && c.Mean <= c.Worst) {
			t.Errorf("case %d: times out of order: %+v", c.Index, c)
		}
	}
}

func TestBuildFailuresNameFileAndLine(t *testing.T) {
	flags := func(flags ...string) func(*job.Job) {
		return func(j *job.Job) { j.Task.Config.CompileFlags = flags }
	}
	tests := []struct {
		name       string
		submission string
		change     func(*job.Job)
		reason     string
	}{
		{"unknown type", "broken.cpp", nil,
			"Compiling submission.cpp failed: submission.cpp:3:1: error: ‘output_tt’ does not name a type"},
		{"no custom_kernel", "missing.cpp", nil, "undefined reference to `custom_kernel(Scaled)'"},
		{"task's own fault", "correct.cpp", func(j *job.Job) { j.Sources["reference.h"] = []byte("nonsense;") },
			"The task's own file eval.cpp does not compile; its author has to fix it"},
		{"plugin", "correct.cpp", flags("-fplugin=/tmp/x.so"),
			`its author has to fix it: config.compile_flags[0]: "-fplugin=/tmp/x.so" is not among`},
		{"include library", "correct.cpp",
			func(j *job.Job) { j.Task.Config.IncludeDirs = []string{"/CUTLASS/include"} },
			`no include library "/CUTLASS/include" (it has: none)`},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := cppJob(t, tt.submission)
			if tt.change != nil {
				tt.change(&j)
			}
			var logged strings.Builder
			a, result, err := b.Build(t.Context(),
				BuildRequest{Job: j, Environment: cpu(), OnLog: func(_ string, text []byte) { logged.Write(text) }})
			if err != nil {
				t.Fatal(err)
			}
			if a != nil || result.Status != job.StatusError || result.Failure.IsInfrastructureError ||
				!strings.Contains(result.Failure.Reason, tt.reason) {
				t.Errorf("got %s, %+v; want a reason with %q\n%s", result.Status, result.Failure, tt.reason,
					result.Stderr)
			}
			if tt.change == nil && !strings.Contains(result.Stderr, logged.String()) {
				t.Errorf("the live log differs from what was kept: %q", logged.String())
			}
		})
	}
}

func TestSecondSubmissionCompilesOnlyItself(t *testing.T) {
	b, spy := newSpiedBuilderOn(t, fakeCompiler{})
	build := func(submission string) (commands int, result job.StageResult) {
		before := len(spy.specs())
		_, result = mustBuild(t, b, cppJob(t, submission))
		return len(spy.specs()) - before, result
	}
	n, first := build("correct.cpp")
	if n != 4 || first.FromCache {
		t.Errorf("first submission: %d commands, cached %v; want judge, runner, submission and link", n, first.FromCache)
	}
	if n, second := build("wrong.cpp"); n != 2 || second.FromCache {
		t.Errorf("second submission: %d commands, cached %v; want submission and link", n, second.FromCache)
	}
	if n, again := build("correct.cpp"); n != 0 || !again.FromCache || again.Command != first.Command {
		t.Errorf("the first submission again: %d commands, cached %v, command\n%s", n, again.FromCache, again.Command)
	}
}

// TestNeitherProgramSeesTheOthersSources checks that the submission is not compiled into the judge's program, nor the
// reference into the runner's.
func TestNeitherProgramSeesTheOthersSources(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	a, _ := mustBuild(t, b, cppJob(t, "correct.cpp"))
	compiled := 0
	for _, spec := range spy.specs() {
		command := strings.Join(spec.Argv, " ")
		if !strings.Contains(command, " eval.cpp") && !strings.Contains(command, " warpboard_runner.cpp") {
			continue
		}
		compiled++
		if _, there := spec.Files["submission.cpp"]; there {
			t.Errorf("%s: with the submission in sight", command)
		}
	}
	if compiled != 2 {
		t.Errorf("%d units of the harness were compiled", compiled)
	}
	if bytes.Contains(a.submissionExecutable, []byte("check_implementation")) || bytes.Contains(a.judgeExecutable, []byte("custom_kernel")) {
		t.Error("a program names a function of the other's")
	}
	if !bytes.Contains(a.submissionExecutable, []byte("custom_kernel")) || !bytes.Contains(a.judgeExecutable, []byte("check_implementation")) {
		t.Error("a program does not name its own function")
	}
}

// TestACachedProgramHasItsJudge reads a submission's program from the store, from which the task's judge was deleted.
// The judge must be compiled again.
func TestACachedProgramHasItsJudge(t *testing.T) {
	b, spy := newSpiedBuilderOn(t, fakeCompiler{})
	first, _ := mustBuild(t, b, cppJob(t, "correct.cpp"))
	err := filepath.WalkDir(b.objects.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if data, ok := b.objects.get(d.Name()); ok && bytes.Equal(data, first.judgeExecutable) {
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := len(spy.specs())
	again, result := mustBuild(t, b, cppJob(t, "correct.cpp"))
	if n := len(spy.specs()) - before; n != 1 || !result.FromCache || len(again.judgeExecutable) == 0 {
		t.Errorf("%d commands, cached %v, %d bytes of judge", n, result.FromCache, len(again.judgeExecutable))
	}
}

func TestBundleThatIncludesTheSubmissionIsBuiltTogether(t *testing.T) {
	tier.Needs(t, tier.Judge)
	j := cppJob(t, "correct.cpp")
	j.Task.HasOwnHarness = true
	j.Task.Config.Sources = []string{"eval.cpp"}
	j.Task.Files = append(j.Task.Files, j.Task.Files[0])
	j.Sources["eval.cpp"] = []byte("#include <unistd.h>\n#include \"submission.cpp\"\n" +
		"int main() { custom_kernel({}); return write(3, \"check: pass\\n\", 12) == 12 ? 0 : 1; }\n")
	b := newBuilder()
	a, _ := mustBuild(t, b, j)
	if a.HarnessName != "bundle" {
		t.Errorf("harness is %q", a.HarnessName)
	}
	if r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test"}, 0); r.status != job.StatusPass {
		t.Errorf("got %s: %s", r.status, r.failure.Reason)
	}
}

func TestLegacyFormatInCPP(t *testing.T) {
	tier.Needs(t, tier.Judge)
	legacy := func(submission string) job.Job {
		j := legacyJob("cpp", "train.cuh", read(t, "legacy/"+submission))
		j.Sources["reference.cuh"] = read(t, "legacy/reference.cuh")
		return j
	}
	r := buildAndRun(t, legacy("correct.cuh"), StageRequest{Mode: "leaderboard"})
	if r.status != job.StatusPass || len(r.cases) != 1 || r.cases[0].Runs != 100 || r.cases[0].Mean <= 0 {
		t.Errorf("got %s (%s), %+v", r.status, r.failure.Reason, r.cases)
	}
	r = buildAndRun(t, legacy("wrong.cuh"), StageRequest{Mode: "leaderboard"})
	if r.status != job.StatusFail || !strings.Contains(r.failure.Reason, "check_implementation failed") {
		t.Errorf("got %s (%s)", r.status, r.failure.Reason)
	}
}
