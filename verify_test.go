package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// taskFolder is a copy of a built-in task with its solutions.
func taskFolder(t *testing.T, name string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("tasks", "examples", name))); err != nil {
		t.Fatal(err)
	}
	return folder
}

// verify runs `warpboard verify-task` on a folder and gives what it printed.
func verify(t *testing.T, folder string) (printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	env := environment{getenv: func(string) string { return "" }, stdout: &out, stderr: io.Discard}
	err = run(t.Context(), env, []string{"verify-task", "--data", t.TempDir(), "--device", "CPU", folder})
	return out.String(), err
}

func TestVerifyTaskRunsEverySolution(t *testing.T) {
	folder := taskFolder(t, "vectoradd_cpp")
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
	folder := taskFolder(t, "vectoradd_cpp")
	solutions := filepath.Join(folder, "solutions")
	if err := os.RemoveAll(filepath.Join(solutions, "correct")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(solutions, "wrong"), filepath.Join(solutions, "correct")); err != nil {
		t.Fatal(err)
	}
	printed, err := verify(t, folder)
	if err == nil || !strings.Contains(err.Error(), "solutions did not end as expected") {
		t.Errorf("verify-task ended with %v", err)
	}
	if line := lineWith(printed, "forgets_tail.cpp"); !strings.Contains(line, "NOT AS EXPECTED") {
		t.Errorf("it said %q of a wrong solution among the right ones", line)
	}
}

func TestVerifyTaskRefusesAFolderThatIsNoTask(t *testing.T) {
	folder := taskFolder(t, "vectoradd_cpp")
	file := filepath.Join(folder, "task.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("speed: fast\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := verify(t, folder); err == nil || !strings.Contains(err.Error(), "task.yml:1: speed") {
		t.Errorf("an unknown key gave %v", err)
	}
}
