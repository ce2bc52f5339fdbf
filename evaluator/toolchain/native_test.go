package toolchain

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
)

// statuses are those of a run's cases.
func statuses(r stageRun) []job.Status {
	var out []job.Status
	for _, c := range r.cases {
		out = append(out, c.Status)
	}
	return out
}

func TestNativeVerdicts(t *testing.T) {
	tests := []struct {
		submission string
		mode       string
		timeout    time.Duration
		status     job.Status
		cases      []job.Status
		reason     string
	}{
		{"correct.cpp", "test", 0, job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"correct.cpp", "benchmark", 0, job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"correct.cpp", "profile", 0, job.StatusPass, []job.Status{job.StatusPass, job.StatusPass}, ""},
		{"wrong.cpp", "test", 0, job.StatusFail, []job.Status{job.StatusPass, job.StatusFail}, "error at 7: expected"},
		{"wrong.cpp", "leaderboard", 0, job.StatusFail, []job.Status{job.StatusPass, job.StatusFail}, "error at 7: expected"},
		{"stale.cpp", "leaderboard", 0, job.StatusFail, []job.Status{job.StatusFail}, "error at 0: expected"},
		{"counting.cpp", "leaderboard", 0, job.StatusFail, []job.Status{job.StatusFail}, "error at 0"},
		{"crash.cpp", "test", 0, job.StatusError, []job.Status{job.StatusPass, job.StatusError}, "SIGSEGV in case 1 (seed: 2"},
		{"endless.cpp", "test", 5 * time.Second, job.StatusTimeout, []job.Status{job.StatusPass, job.StatusTimeout}, "in case 1 (seed: 2"},
	}
	b := newBuilder()
	for _, tt := range tests {
		t.Run(tt.submission+"/"+tt.mode, func(t *testing.T) {
			j := cppJob(t, tt.submission)
			a, _ := mustBuild(t, b, j)
			secret := uint64(12345)
			r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: tt.mode, Cases: j.Task.Tests, Seed: &secret, Timeout: tt.timeout}, len(j.Task.Tests))
			if r.status != tt.status || !strings.Contains(r.failure.Reason, tt.reason) {
				t.Errorf("got %s, %q; want %s, ...%s...\n%s", r.status, r.failure.Reason, tt.status, tt.reason, r.outcome.Stderr)
			}
			if diff := cmp.Diff(tt.cases, statuses(r)); diff != "" {
				t.Errorf("cases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRankedRepeatsAreAllReported(t *testing.T) {
	j := cppJob(t, "correct.cpp")
	secret := uint64(1<<40 + 99) // more than fits an int: it must be cut, not refused
	r := buildAndRun(t, j, StageRequest{Mode: "leaderboard", Cases: j.Task.Tests, Seed: &secret})
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
		{"unknown type", "broken.cpp", nil, "Compiling submission.cpp failed: submission.cpp:3:1: error: ‘output_tt’ does not name a type"},
		{"no custom_kernel", "missing.cpp", nil, "undefined reference to `custom_kernel(Scaled)'"},
		{"task's own fault", "correct.cpp", func(j *job.Job) { j.Sources["reference.h"] = []byte("nonsense;") },
			"The task's own file eval.cpp does not compile; its author has to mend it"},
		{"plugin", "correct.cpp", flags("-fplugin=/tmp/x.so"), `its author has to mend it: config.compile_flags[0]: "-fplugin=/tmp/x.so" is not among`},
		{"include library", "correct.cpp", func(j *job.Job) { j.Task.Config.IncludeDirs = []string{"/CUTLASS/include"} },
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
			a, result, err := b.Build(t.Context(), BuildRequest{Job: j, Place: cpu(), OnLog: func(_ string, text []byte) { logged.Write(text) }})
			if err != nil {
				t.Fatal(err)
			}
			if a != nil || result.Status != job.StatusError || result.Failure.Ours || !strings.Contains(result.Failure.Reason, tt.reason) {
				t.Errorf("got %s, %+v; want a reason with %q\n%s", result.Status, result.Failure, tt.reason, result.Stderr)
			}
			if tt.change == nil && !strings.Contains(result.Stderr, logged.String()) {
				t.Errorf("the live log differs from what was kept: %q", logged.String())
			}
		})
	}
}

func TestSecondSubmissionCompilesOnlyItself(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	build := func(submission string) (commands int, result job.StageResult) {
		before := len(spy.specs())
		_, result = mustBuild(t, b, cppJob(t, submission))
		return len(spy.specs()) - before, result
	}
	n, first := build("correct.cpp")
	if n != 3 || first.Cached {
		t.Errorf("first submission: %d commands, cached %v; want harness, submission and link", n, first.Cached)
	}
	if n, second := build("wrong.cpp"); n != 2 || second.Cached {
		t.Errorf("second submission: %d commands, cached %v; want submission and link", n, second.Cached)
	}
	if n, again := build("correct.cpp"); n != 0 || !again.Cached || again.Command != first.Command {
		t.Errorf("the first submission again: %d commands, cached %v, command\n%s", n, again.Cached, again.Command)
	}
}

func TestTheTasksObjectsAreMadeWithoutTheSubmission(t *testing.T) {
	b, spy := newSpiedBuilder(t)
	mustBuild(t, b, cppJob(t, "correct.cpp"))
	harnesses := 0
	for _, spec := range spy.specs() {
		if !strings.Contains(strings.Join(spec.Argv, " "), "-c eval.cpp") {
			continue
		}
		harnesses++
		if _, there := spec.Files["submission.cpp"]; there {
			t.Error("the harness was compiled with the submission in sight")
		}
	}
	if harnesses != 1 {
		t.Errorf("the harness was compiled %d times", harnesses)
	}
}

func TestBundleThatIncludesTheSubmissionIsBuiltTogether(t *testing.T) {
	j := cppJob(t, "correct.cpp")
	j.Task.OwnHarness = true
	j.Task.Config.Sources = []string{"eval.cpp"}
	j.Task.Files = append(j.Task.Files, j.Task.Files[0])
	j.Sources["eval.cpp"] = []byte("#include <unistd.h>\n#include \"submission.cpp\"\n" +
		"int main() { custom_kernel({}); return write(3, \"check: pass\\n\", 12) == 12 ? 0 : 1; }\n")
	b := newBuilder()
	a, _ := mustBuild(t, b, j)
	if a.Harness != "bundle" {
		t.Errorf("harness is %q", a.Harness)
	}
	if r := runStage(t, mustOpen(t, b, a), StageRequest{Mode: "test"}, 0); r.status != job.StatusPass {
		t.Errorf("got %s: %s", r.status, r.failure.Reason)
	}
}

func TestOlderFormInCPP(t *testing.T) {
	legacy := func(submission string) job.Job {
		j := legacyJob("cpp", "train.cuh", read(t, "legacy/"+submission))
		j.Sources["reference.cuh"] = read(t, "legacy/reference.cuh")
		return j
	}
	r := buildAndRun(t, legacy("correct.cuh"), StageRequest{Mode: "leaderboard"})
	if r.status != job.StatusPass || len(r.cases) != 1 || r.cases[0].Runs != 100 || r.cases[0].Mean <= 0 {
		t.Errorf("got %s (%s), %+v", r.status, r.failure.Reason, r.cases)
	}
	if !strings.Contains(r.outcome.Stdout, "\nscore: ") {
		t.Errorf("no score on stdout: %q", r.outcome.Stdout)
	}
	r = buildAndRun(t, legacy("wrong.cuh"), StageRequest{Mode: "leaderboard"})
	if r.status != job.StatusFail || !strings.Contains(r.outcome.Stdout, "check_implementation failed") {
		t.Errorf("got %s (%s), stdout %q", r.status, r.failure.Reason, r.outcome.Stdout)
	}
}
