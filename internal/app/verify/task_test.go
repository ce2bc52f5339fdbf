package verify

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/app/cli/console"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// data is the data directory of the commands in these tests. All tests share its compiled objects, so that the judge of
// a task is compiled once.
var data string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	objects, remove, err := sandboxtest.Objects()
	if err == nil {
		defer remove()
		data, err = os.MkdirTemp("", "warpboard-verify-")
		defer os.RemoveAll(data)
	}
	if err == nil {
		err = os.Symlink(objects, filepath.Join(data, "objects"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// quickTask returns a copy of the C++ vector add with its solutions, and with one short benchmark.
func quickTask(t *testing.T) (folder string) {
	t.Helper()
	folder = taskFolder(t, "vectoradd_cpp")
	file := filepath.Join(folder, "task.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "benchmarks:\n")
	_, after, found := strings.Cut(string(text), "\ntest_timeout:")
	if !found {
		t.Fatalf("%s is not written as it was", file)
	}
	text = []byte(before + "benchmarks:\n  - {size: 1024, seed: 54352}\n\ntest_timeout:" + after)
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// taskFolder returns a copy of a built-in task, or of a starter, with its solutions.
func taskFolder(t *testing.T, name string) string {
	t.Helper()
	from, err := tasks.ExampleFolder(name)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(folder, from); err != nil {
		t.Fatal(err)
	}
	return folder
}

// execute runs a command with these arguments.
func execute(ctx context.Context, cmd *cobra.Command, args []string) error {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	return cmd.ExecuteContext(ctx)
}

// verify runs `warpboard verify-task` on a path and returns its output.
func verify(t *testing.T, path string, flags ...string) (printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	env := console.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}
	err = execute(t.Context(), TaskCommand(env),
		append([]string{"--data", data, "--first-uid", strconv.Itoa(sandboxtest.FirstUID(t)), "--build-nice", "1",
			"--ranked-processes", "1", path}, flags...))
	return out.String(), err
}

func TestVerifyTaskRunsEverySolution(t *testing.T) {
	folder := quickTask(t)
	writeAt(t, filepath.Join(folder, "task.yml"), readFile(t, filepath.Join(folder, "task.yml"))+
		"\nsubmission_files: [\"*.h\"]\n")
	apart := filepath.Join(folder, "solutions", "correct", "apart") // a solution with two files
	if err := os.Mkdir(apart, 0o755); err != nil {
		t.Fatal(err)
	}
	writeAt(t, filepath.Join(apart, "adds.h"),
		"#pragma once\n"+readFile(t, filepath.Join(folder, "solutions", "correct", "vectorised.cpp")))
	writeAt(t, filepath.Join(apart, "submission.cpp"), "#include \"adds.h\"\n")
	printed, err := verify(t, folder)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	solutions, err := fs.Glob(os.DirFS(folder), "solutions/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range solutions {
		line := lineWith(printed, filepath.Base(path))
		outcome := "done"
		if strings.Contains(path, "/wrong/") {
			outcome = "failed"
		}
		if !strings.Contains(line, outcome) || !strings.Contains(line, "as expected") {
			t.Errorf("%s: %q, want it %s as expected", path, line, outcome)
		}
	}
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

func TestVerifyTaskFailsWhenASolutionEndsOtherwise(t *testing.T) {
	folder := quickTask(t)
	solutions := filepath.Join(folder, "solutions")
	if err := os.RemoveAll(filepath.Join(solutions, "correct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(solutions, "wrong"), filepath.Join(solutions, "correct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(solutions, "wrong"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeAt(t, filepath.Join(solutions, "wrong", "typo.cpp"), "this is no C++\n")
	more := filepath.Join("..", "..", "..", "tasks", "examples", "vectoradd_cpp", "solutions", "correct",
		"vectorised.cpp")
	printed, err := verify(t, folder, "--json", "--solution", more)
	if err == nil || !strings.Contains(err.Error(), "solutions did not end as expected") {
		t.Errorf("verify-task ended with %v", err)
	}
	var report verifyReport
	if err := json.Unmarshal([]byte(printed), &report); err != nil || report.OK || report.Error == "" ||
		len(report.Tasks) != 1 || !*report.Tasks[0].ShownToWork {
		t.Fatalf("%v\n%s", err, printed)
	}
	got := map[string]solutionVerdict{}
	for _, s := range report.Tasks[0].Solutions {
		got[s.Name] = s.Verdict
		if (s.ScoreNS != nil) != (s.Outcome == job.OutcomePassed) ||
			(s.Stage == "") != (s.Outcome == job.OutcomePassed) {
			t.Errorf("%+v", s)
		}
	}
	want := map[string]solutionVerdict{"forgets_tail.cpp": verdictNotAsExpected,
		"out_of_bounds.cpp": verdictNotAsExpected,
		"typo.cpp":          verdictNotJudged, more: verdictAsExpected}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func TestVerifyTaskNamesEveryMistakeByFileLineAndKey(t *testing.T) {
	folder := taskFolder(t, "vectoradd_cpp")
	file := filepath.Join(folder, "task.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("speed: fast\nseed: soon\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	printed, err := verify(t, folder)
	if err == nil || !strings.Contains(err.Error(), "2 mistakes") {
		t.Errorf("two mistakes gave %v", err)
	}
	for _, want := range []string{"task.yml:1: speed: unknown key", "task.yml:2: seed: must be a whole number"} {
		if !strings.Contains(printed, want) {
			t.Errorf("it printed\n%swant %q in it", printed, want)
		}
	}
}

func TestVerifyTaskNamesACompileFlagThatNoTaskMaySet(t *testing.T) {
	for flags, want := range map[string]string{
		"[-ffast-math]":                     "",
		"[-ffast-math, -fplugin=/tmp/x.so]": `config.compile_flags[1]: "-fplugin=/tmp/x.so" is not among the flags that a C++ task may set`,
		// a flag of nvcc, but g++ compiles this task
		"[-Xptxas, -O2]": `config.compile_flags[0]: "-Xptxas" is not among`,
	} {
		folder := taskFolder(t, "vectoradd_cpp")
		file := filepath.Join(folder, "task.yml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, "\nconfig: {compile_flags: "+flags+"}\n"...), 0o644); err != nil {
			t.Fatal(err)
		}
		printed, err := verify(t, folder, "--lint")
		if (err != nil) != (want != "") || !strings.Contains(printed, want) {
			t.Errorf("%s: it ended with %v and printed\n%swant %q in it", flags, err, printed, want)
		}
	}
}

func TestVerifyTaskReadsEveryWayIn(t *testing.T) {
	folder := taskFolder(t, "vectoradd_cpp")
	tree := filepath.Dir(folder)
	set := t.TempDir()
	if err := os.CopyFS(filepath.Join(set, "first"), os.DirFS(tree)); err != nil {
		t.Fatal(err)
	}
	writeAt(t, filepath.Join(set, "first/bad/task.yml"), "lang: rust\n")
	writeAt(t, filepath.Join(set, "first.yaml"),
		"problems:\n  - {directory: first/vectoradd_cpp, name: add, deadline: 2031-05-01, gpus: [CPU]}\n  - {directory: first/bad}\n")
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	if err := w.AddFS(os.DirFS(tree)); err != nil {
		t.Fatal(err)
	}
	w.Close()

	for name, test := range map[string]struct{ path, want, fails string }{
		"folder":       {folder, "vectoradd_cpp: C++, 5 tests", ""},
		"its task.yml": {filepath.Join(folder, "task.yml"), "vectoradd_cpp: C++, 5 tests", ""},
		"tree":         {tree, "vectoradd_cpp: C++, 5 tests", ""},
		"zip": {writeAt(t, filepath.Join(t.TempDir(), "tasks.zip"), packed.String()),
			"vectoradd_cpp: C++, 5 tests", ""},
		"problem set": {set,
			"add: C++, 5 tests, 3 benchmarks, ranked by geom, Warpboard's harness, on CPU, until 2031-05-01 00:00 UTC",
			"1 of 2 tasks cannot be used"},
		"its bad one": {set, "first/bad/task.yml:1: lang: \"rust\" is not allowed", "1 of 2 tasks"},
		"reference": {writeAt(t, filepath.Join(t.TempDir(), "copy.cpp"), referenceFile),
			"copy: C++, legacy format", ""},
		"reference, bad": {writeAt(t, filepath.Join(t.TempDir(), "copy.py"), "x = 1\n"),
			"copy.py: ref_kernel: is not defined", "3 mistakes"},
		"another file": {writeAt(t, filepath.Join(t.TempDir(), "notes.txt"), "hello"), "not a zip", "fix 1 mistake"},
		"nothing":      {filepath.Join(t.TempDir(), "none"), "", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			printed, err := verify(t, test.path, "--lint")
			if !strings.Contains(printed, test.want) {
				t.Errorf("it printed\n%swant %q in it", printed, test.want)
			}
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("it ended with %v, want %q", err, test.fails)
			}
		})
	}
}

const referenceFile = `#include <vector>
using input_t = std::vector<int>;
using output_t = std::vector<int>;
input_t generate_input() { return {1, 2, 3}; }
output_t ref_kernel(input_t in) { return in; }
bool check_implementation(output_t custom, output_t ref) { return custom == ref; }
`

func TestVerifyTaskRunsAReferenceAgainstItself(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for text, fails := range map[string]bool{
		referenceFile: false,
		strings.Replace(referenceFile, "custom == ref", "custom != ref", 1): true,
	} {
		file := filepath.Join(t.TempDir(), "copy.cpp")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		printed, err := verify(t, file)
		if (err != nil) != fails || strings.Contains(printed, "NOT AS EXPECTED") != fails {
			t.Errorf("it ended with %v and printed\n%s", err, printed)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
