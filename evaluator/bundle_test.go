package evaluator_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

// taskOf reads a task folder with these files.
func taskOf(t *testing.T, files map[string]string) *tasks.Bundle {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys["mine/"+name] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	bundle, err := tasks.OpenFolder(fsys, tasks.ReadOptions{Name: "mine"}).ReadBundle("mine")
	if err != nil {
		t.Fatal(err)
	}
	return bundle
}

// jobOf returns a job on the CPU for a task with the given submission.
func jobOf(t *testing.T, b *tasks.Bundle, id string, mode job.Mode, submission string) job.Job {
	t.Helper()
	sources, err := b.ProgramFiles(tasks.Submission{Source: []byte(submission)})
	if err != nil {
		t.Fatal(err)
	}
	return job.Job{
		MessageVersion: job.MessageVersion, RunID: 1, AttemptID: id, AttemptSecret: "secret of " + id, Device: "CPU", Mode: mode,
		TaskHash: b.ContentHash(), Task: b.Definition, Sources: sources, SecretSeed: secretSeed, EnqueuedAt: time.Now(),
	}
}

const secretSeed = 919_191_919

const ownTask = `lang: py
description: A bundle that brings its own program.
files:
  - {name: eval.py, source: eval.py}
  - {name: submission.py, source: "@SUBMISSION@"}
config: {main: eval.py}
tests: [{size: 3}, {size: 4}]
benchmarks: [{size: 5}]
seed: 7
ranking_by: last
`

// ownEval is a task's own eval program. It takes its answers from the submission, which can also request a quirk of
// real eval programs.
const ownEval = `
import os, sys
from submission import answer, quirk
mode, cases = sys.argv[1], open(sys.argv[2]).read().splitlines()
secret = os.environ.get("POPCORN_SEED") != "7"
print("mode", mode, "seed", os.environ.get("POPCORN_SEED"))
kind = "test" if mode == "test" else "benchmark"
with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as pipe:
    say = lambda key, value: print(f"{key}: {value}", file=pipe, flush=True)
    say(kind + "-count", len(cases))
    good = quirk != "fails when secret" or not secret
    for i, case in enumerate(cases):
        size = int(case.split("size:")[1].split(";")[0])
        right = answer(size) == 2 * size
        say(f"{kind}.{i}.spec", case)
        if kind == "test" or not right:
            say(f"{kind}.{i}.status", "pass" if right else "fail")
        if kind == "benchmark":
            say(f"{kind}.{i}.runs", 3)
            say(f"{kind}.{i}.mean", 1000.0 * size)
        good = good and right
    if quirk == "extra keys":
        say("bandwidth", "12 GB/s")
        say("benchmark.0.colour", "blue")
    if quirk == "large":
        for i in range(40):
            say(f"note-{i}", "x" * 4000)
    if quirk == "no check":
        sys.exit(0)
    say("check", "pass" if good else "fail")
sys.exit(0)
`

func quirky(quirk string) string {
	return "quirk = " + `"` + quirk + `"` + "\ndef answer(size): return 2 * size\n"
}

func TestBundleWithItsOwnProgramIsRunByTheProtocol(t *testing.T) {
	bundle := taskOf(t, map[string]string{"task.yml": ownTask, "eval.py": ownEval})
	s := newSite(t)
	s.start(realConfig(t))
	passed := []string{"build pass", "test pass", "benchmark pass", "ranked pass", "secret pass"}
	for name, test := range map[string]struct {
		submission string
		stages     []string
		reason     string
	}{
		"plain":      {quirky(""), passed, ""},
		"extra keys": {quirky("extra keys"), passed, ""},
		"large":      {quirky("large"), passed, ""},
		"no check":   {quirky("no check"), []string{"build pass", "test error"}, "without a verdict"},
		"exit 0": {"quirk = ''\ndef answer(size): return 0\n", []string{"build pass", "test fail"},
			"wrong answer"},
		"secret only": {quirky("fails when secret"), append(slices.Clone(passed[:4]), "secret fail"), "secret inputs"},
	} {
		t.Run(name, func(t *testing.T) {
			r := s.run(jobOf(t, bundle, strings.ReplaceAll(name, " ", "-"), job.ModeRanked, test.submission))
			wantStages(t, r, test.stages...)
			if r.HarnessName != "bundle" {
				t.Errorf("harness is %q", r.HarnessName)
			}
			if test.reason == "" {
				if r.Outcome != job.OutcomePassed || r.ScoreNS == nil || *r.ScoreNS != 5000 {
					t.Errorf("outcome %s, score %v, failure %+v", r.Outcome, r.ScoreNS, r.Failure)
				}
			} else if r.Outcome != job.OutcomeFailed || r.ScoreNS != nil ||
				!strings.Contains(r.Failure.Reason, test.reason) {
				t.Errorf("outcome %s, score %v, failure %+v; want one with %q", r.Outcome, r.ScoreNS, r.Failure,
					test.reason)
			}
			wantNoSecret(t, r, s.eventsOf(r.AttemptID))
		})
	}
}

// wantNoSecret checks that the result and events do not contain the secret seed, and that only the verdict of the
// secret pass is in them.
func wantNoSecret(t *testing.T, r job.Result, events []job.Event) {
	t.Helper()
	left, err := json.Marshal([]any{r, events})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(left), "919191919") {
		t.Errorf("the secret seed left:\n%s", left)
	}
	for _, stage := range r.Stages {
		if stage.Stage == job.StageSecret &&
			(len(stage.Cases) > 0 || len(stage.ExtraKeys) > 0 || stage.Stdout != "" || stage.Stderr != "") {
			t.Errorf("the secret pass left %+v", stage)
		}
	}
}

func TestAllThatABundlesProgramReportsIsKept(t *testing.T) {
	bundle := taskOf(t, map[string]string{"task.yml": ownTask, "eval.py": ownEval})
	s := newSite(t)
	s.start(realConfig(t))
	for quirk, want := range map[string]map[string]string{
		"extra keys": {"bandwidth": "12 GB/s", "benchmark.0.colour": "blue"},
		"large":      {"note-0": strings.Repeat("x", 4000), "note-39": strings.Repeat("x", 4000)},
	} {
		r := s.run(jobOf(t, bundle, strings.ReplaceAll(quirk, " ", "-"), job.ModeBenchmark, quirky(quirk)))
		wantStages(t, r, "build pass", "benchmark pass")
		got := r.Stages[len(r.Stages)-1].ExtraKeys
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %.40q, want %.40q", quirk, key, got[key], value)
			}
		}
	}
}

// exampleFiles returns the files of the C++ vector add, without its solutions.
func exampleFiles(t *testing.T) map[string]string {
	t.Helper()
	bundles, err := tasks.Examples()
	if err != nil {
		t.Fatal(err)
	}
	bundle := bundles[slices.IndexFunc(bundles, func(b *tasks.Bundle) bool { return b.Name == vectorAdd })]
	files := map[string]string{}
	for name, text := range bundle.Files {
		files[name] = string(text)
	}
	return files
}

func TestBuildSettingsOfATaskReachItsCompiler(t *testing.T) {
	library := t.TempDir()
	if err := os.WriteFile(filepath.Join(library, "twice.h"), []byte("#pragma once\n#define FROM_LIBRARY 1\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	cfg := realConfig(t)
	box, ok := cfg.Sandbox.(toolchain.ProcessRunner)
	if !ok {
		t.Fatalf("%T runs no programs", cfg.Sandbox)
	}
	cfg.Builder = toolchain.NewBuilder(toolchain.Config{
		Toolchain: tools(), Runner: box, ObjectDir: cache, Log: cfg.Log, Libraries: map[string]string{"Helpers": library},
	})
	s := newSite(t)
	s.start(cfg)
	files := ownProgram(t)
	yaml := files["task.yml"]
	const settings = "config: {include_dirs: [/helpers], defines: {WIDTH: 4, QUICK: }, compile_flags: [-ffast-math], "
	checks := `#include <twice.h>
#if WIDTH != 4 || !defined(QUICK) || !defined(__FAST_MATH__) || !FROM_LIBRARY
#error "the task's settings are not used"
#endif
` + string(solution(t, vectorAdd, true))
	for config, stages := range map[string][]string{settings: {"build pass", "test pass"},
		"config: {": {"build error"}} {
		files["task.yml"] = strings.Replace(yaml, "config: {", config, 1)
		r := s.run(jobOf(t, taskOf(t, maps.Clone(files)), "with"+stages[0][6:], job.ModeTest, checks))
		wantStages(t, r, stages...)
		for _, flag := range []string{"-DWIDTH=4", "-DQUICK", "-ffast-math"} {
			if got := strings.Contains(r.Stages[0].Command, flag); got != (config == settings) {
				t.Errorf("command %q holds %s: %v", r.Stages[0].Command, flag, got)
			}
		}
	}
}

func TestRankingRuleMakesTheScoreOfARealRun(t *testing.T) {
	s := newSite(t)
	s.start(realConfig(t))
	for _, rule := range []tasks.Ranking{tasks.RankLastCase, tasks.RankMean, tasks.RankGeometricMean} {
		yaml := strings.Replace(ownTask, "ranking_by: last", "ranking_by: "+string(rule), 1)
		yaml = strings.Replace(yaml, "benchmarks: [{size: 5}]", "benchmarks: [{size: 2}, {size: 16}, {size: 2}]", 1)
		r := s.run(jobOf(t, taskOf(t, map[string]string{"task.yml": yaml, "eval.py": ownEval}), string(rule),
			job.ModeRanked, quirky("")))
		if r.ScoreNS == nil {
			t.Fatalf("%s: no score: %+v", rule, r.Failure)
		}
		want := map[tasks.Ranking]float64{tasks.RankLastCase: 2000, tasks.RankMean: 20000.0 / 3,
			tasks.RankGeometricMean: 4000}[rule]
		if got := *r.ScoreNS; got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%s: score %v, want %v", rule, got, want)
		}
	}
}
