package evaluator_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator"
	"warpboard/evaluator/device"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sanitizing"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// sanitizingConfig returns the configuration of a worker in which only the GPU and compute-sanitizer are fake. does
// maps each tool to the behavior of its fake.
func sanitizingConfig(t *testing.T, does map[string]string) evaluator.Config {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bin")
	files := map[string][]byte{}
	for tool, what := range does {
		files[tool] = []byte(what)
	}
	found, err := filepath.Glob("sanitizing/testdata/*.*")
	for _, file := range found {
		if err == nil {
			files[strings.TrimSuffix(filepath.Base(file), ".sh")], err = os.ReadFile(file)
		}
	}
	if err == nil {
		err = os.Mkdir(dir, 0o755)
	}
	for name, text := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var box toolchain.ProcessRunner
	cfg := realConfigWith(t, func(r toolchain.ProcessRunner) toolchain.ProcessRunner { box = r; return r })
	cfg.Slots = []device.Slot{{Device: "H200", Name: "NVIDIA H200", Arch: "90"}}
	cfg.Sanitizer = &sanitizing.Sanitizer{Executable: &toolchain.Tool{Path: filepath.Join(dir, "compute-sanitizer"),
		Version: "Version 2025.3.1.0"}, Runner: box}
	return cfg
}

// sanitizeJob returns a job in mode sanitize. Its submission has the file name that the logs in testdata contain.
func sanitizeJob(t *testing.T, id string) job.Job {
	j := example(t, vectorAdd, id, job.ModeSanitize, solution(t, vectorAdd, true))
	j.Device = "H200"
	return j
}

func TestEachToolSaysWhatItFound(t *testing.T) {
	tier.Needs(t, tier.Judge)
	const clean = "memcheck pass, synccheck pass, initcheck pass, racecheck pass"
	for name, c := range map[string]struct {
		does  map[string]string
		stage string
		tools string
		found string // expected findings
		why   string // beginning of the failure's reason
	}{
		"nothing": {nil, "pass", clean, "", ""},
		"memcheck": {map[string]string{"memcheck": "memcheck"}, "fail",
			strings.Replace(clean, "memcheck pass", "memcheck fail", 1), "memcheck bad.cu:6 ×3",
			"memcheck found an error: Invalid __global__ write of size 4 bytes in oob(float *, int) at bad.cu:6, 3 times, and more"},
		"synccheck": {map[string]string{"synccheck": "synccheck"}, "fail",
			strings.Replace(clean, "synccheck pass", "synccheck fail", 1), "synccheck bad.cu:15 ×3",
			"synccheck found an error: Barrier error detected"},
		"initcheck": {map[string]string{"initcheck": "initcheck"}, "fail", strings.Replace(clean, "initcheck pass",
			"initcheck fail", 1), "initcheck bad.cu:13 ×2",
			"initcheck found an error: Uninitialized __global__ memory read"},
		"racecheck": {map[string]string{"racecheck": "racecheck"}, "fail", strings.Replace(clean, "racecheck pass",
			"racecheck fail", 1), "racecheck bad.cu:10 ×512",
			"racecheck found an error: Race between a write and a read at bad.cu:11"},
		"an unknown device": {map[string]string{"initcheck": "unsupported"}, "error",
			strings.Replace(clean, "initcheck pass", "initcheck error", 1), "",
			"initcheck did not come to its end: Error: Device not supported."},
		"one that does not start": {map[string]string{"memcheck": "refuse", "racecheck": "racecheck"}, "fail",
			"memcheck error, synccheck pass, initcheck pass, racecheck fail", "racecheck bad.cu:10 ×512",
			"memcheck did not come to its end: Unable to find injection library libsanitizer-collection.so"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.start(sanitizingConfig(t, c.does))
			if beat := s.beat("w1"); !beat.Slots[0].CanSanitize || beat.Slots[0].CanProfile {
				t.Errorf("the heartbeat says %+v", beat.Slots[0])
			}
			r := s.run(sanitizeJob(t, "a1"))
			wantStages(t, r, "build pass", "sanitize "+c.stage)
			if got := toolsOf(r); got != c.tools {
				t.Errorf("tools: %s, want %s", got, c.tools)
			}
			if got := foundIn(r); got != c.found {
				t.Errorf("found %q, want %q", got, c.found)
			}
			why := ""
			if r.Failure != nil {
				why = r.Failure.Reason
			}
			if !strings.HasPrefix(why, c.why) || (why == "") != (c.why == "") ||
				(r.Outcome == job.OutcomePassed) != (why == "") {
				t.Errorf("outcome %s: %s", r.Outcome, why)
			}
			if r.ScoreNS != nil || len(r.Artifacts) > 0 {
				t.Errorf("score %v, %d artifacts", r.ScoreNS, len(r.Artifacts))
			}
		})
	}
}

func toolsOf(r job.Result) string {
	var list []string
	for _, c := range r.Stages[len(r.Stages)-1].Cases {
		list = append(list, c.SpecLine+" "+string(c.Status))
	}
	return strings.Join(list, ", ")
}

func foundIn(r job.Result) string {
	var list []string
	for _, f := range r.Stages[len(r.Stages)-1].Findings {
		list = append(list, fmt.Sprintf("%s %s:%d ×%d", f.Tool, f.File, f.Line, f.Occurrences))
	}
	return strings.Join(list, ", ")
}

func TestASanitizerThatHangsEndsInASentence(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for does, want := range map[string]struct{ tools, why, found string }{
		"hang at once": {"memcheck pass, synccheck timeout, initcheck pass, racecheck fail",
			"synccheck did not end within 5 s and was stopped.", "racecheck bad.cu:10 ×512"},
		// The tool's output before it hung is kept, and counts.
		"hang": {"memcheck pass, synccheck fail, initcheck pass, racecheck fail",
			"synccheck found an error: Invalid __global__ write", "synccheck bad.cu:6 ×3, racecheck bad.cu:10 ×512"},
	} {
		t.Run(does, func(t *testing.T) {
			s := newSite(t)
			cfg := sanitizingConfig(t, map[string]string{"synccheck": does, "racecheck": "racecheck"})
			cfg.Sanitizer.ToolTimeout = 5 * time.Second
			s.start(cfg)
			r := s.run(sanitizeJob(t, "a1"))
			if got := toolsOf(r); got != want.tools {
				t.Errorf("tools: %s", got)
			}
			if r.Outcome != job.OutcomeFailed || !strings.HasPrefix(r.Failure.Reason, want.why) ||
				r.Failure.IsInfrastructureError || !strings.Contains(r.Failure.Reason, "racecheck found an error") {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
			if got := foundIn(r); got != want.found {
				t.Errorf("found %s", got)
			}
			if last := r.Stages[len(r.Stages)-1].Cases[1].Message; !strings.Contains(last, "stopped") {
				t.Errorf("synccheck does not say that it was stopped: %s", last)
			}
		})
	}
}

func TestASanitizedRunThatIsCancelledLeavesNothingHalfDone(t *testing.T) {
	s, j := newSite(t), sanitizeJob(t, "a1")
	s.start(sanitizingConfig(t, map[string]string{"memcheck": "hang"}))
	s.publish(j)
	s.wait("the stage begins", func() bool {
		return slices.ContainsFunc(s.events,
			func(e job.Event) bool { return e.Type == job.EventStageStarted && e.Stage == job.StageSanitize })
	})
	s.cancel("a1")
	r := s.result("a1")
	wantStages(t, r, "build pass", "sanitize cancelled")
	if last := r.Stages[1]; r.Outcome != job.OutcomeCancelled || len(last.Findings)+len(last.Cases) > 0 {
		t.Errorf("outcome %s, stage %+v", r.Outcome, last)
	}
}

func TestToolsThatHaveNoTimeLeftSaySo(t *testing.T) {
	s := newSite(t)
	cfg := sanitizingConfig(t, map[string]string{"memcheck": "hang at once"})
	cfg.Sanitizer.ToolTimeout, cfg.Sanitizer.TotalTimeout = 2*time.Second, time.Second
	s.start(cfg)
	r := s.run(sanitizeJob(t, "a1"))
	if got := toolsOf(r); got != "memcheck timeout, synccheck timeout, initcheck timeout, racecheck timeout" {
		t.Errorf("tools: %s", got)
	}
	if r.Failure == nil || r.Failure.Limit != "wall" || !strings.Contains(r.Failure.Reason, "racecheck did not run") {
		t.Errorf("failure %+v", r.Failure)
	}
}

func TestAMissingSanitizerReportHasAReason(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for name, c := range map[string]struct {
		change func(*job.Job, *evaluator.Config)
		want   string
	}{
		"no tool": {func(_ *job.Job, cfg *evaluator.Config) { cfg.Sanitizer = nil },
			"it has no compute-sanitizer for H200"},
		"no tests": {func(j *job.Job, _ *evaluator.Config) { j.Task.Tests = nil }, "no tests"},
		"a submission that crashes": {func(j *job.Job, _ *evaluator.Config) {
			j.Sources = maps.Clone(j.Sources)
			j.Sources["submission.cpp"] = kernel("*(volatile int*)nullptr = 1;")
		}, "memcheck, synccheck, initcheck, racecheck found nothing until the program ended too early. The program was killed by SIGSEGV"},
	} {
		t.Run(name, func(t *testing.T) {
			s, cfg, j := newSite(t), sanitizingConfig(t, nil), sanitizeJob(t, "a1")
			c.change(&j, &cfg)
			s.start(cfg)
			r := s.run(j)
			if r.Outcome != job.OutcomeFailed || r.Failure.IsInfrastructureError ||
				!strings.Contains(r.Failure.Reason, c.want) {
				t.Errorf("outcome %s, failure %+v", r.Outcome, r.Failure)
			}
		})
	}
}

func TestWrongAnswersAreNoFindings(t *testing.T) {
	tier.Needs(t, tier.Judge)
	s, j := newSite(t), sanitizeJob(t, "a1")
	j.Sources = maps.Clone(j.Sources)
	j.Sources["submission.cpp"] = solution(t, vectorAdd, false)
	s.start(sanitizingConfig(t, nil))
	r := s.run(j)
	cases := r.Stages[len(r.Stages)-1].Cases
	if r.Outcome != job.OutcomePassed || !slices.ContainsFunc(cases, func(c job.CaseResult) bool {
		return strings.Contains(c.Message, "Answers of the tests were wrong. Case")
	}) {
		t.Errorf("outcome %s, cases %+v", r.Outcome, cases)
	}
}

// TestATasksOwnProgramRunsUnderTheToolsToo runs a task with its own eval program, which has no separate judge.
func TestATasksOwnProgramRunsUnderTheToolsToo(t *testing.T) {
	tier.Needs(t, tier.Judge)
	bundle := taskOf(t, map[string]string{"task.yml": ownTask, "eval.py": ownEval})
	s := newSite(t)
	s.start(sanitizingConfig(t, nil))
	for name, c := range map[string]struct{ submission, tools string }{
		"plain": {quirky(""), "memcheck pass, synccheck pass, initcheck pass, racecheck pass"},
		"wrong-answers": {"quirk = ''\ndef answer(size): return 0\n",
			"memcheck pass, synccheck pass, initcheck pass, racecheck pass"},
		"no-check": {quirky("no check"), "memcheck error, synccheck error, initcheck error, racecheck error"},
	} {
		j := jobOf(t, bundle, name, job.ModeSanitize, c.submission)
		j.Device = "H200"
		if r := s.run(j); toolsOf(r) != c.tools {
			t.Errorf("%s: %s, want %s; failure %+v", name, toolsOf(r), c.tools, r.Failure)
		}
	}
}
