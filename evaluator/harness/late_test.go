package harness

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"warpboard/tasks"
)

// TestACheckerThatFailsAfterTheTestsBlamesTheAnswer: otherwise a kernel that detects a slow process could end its run
// as a failure of the task, which does not count.
func TestACheckerThatFailsAfterTheTestsBlamesTheAnswer(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.ProtocolEval, tasks.LangPython))
	for stage, want := range map[string]string{"test": "the task: the checker failed",
		"ranked": "the answer: False, the checker failed"} {
		out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "blamed.py"), dir,
			stage).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", stage, err, out)
		}
		var got string
		if err := json.Unmarshal(out, &got); err != nil || got != want {
			t.Errorf("%s: %s, want %q", stage, out, want)
		}
	}
}

// TestALaterProcessThatNeverLoadsIsRefused: otherwise a kernel that detects a later process could occupy its GPU until
// the stage's time limit.
func TestALaterProcessThatNeverLoadsIsRefused(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.ProtocolEval, tasks.LangPython))
	out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "ready.py"),
		dir).CombinedOutput()
	if want := "The submission was not loaded within 0 s, and in the process before it was."; err != nil ||
		string(out) != want {
		t.Errorf("%v: %s, want %q", err, out, want)
	}
}
