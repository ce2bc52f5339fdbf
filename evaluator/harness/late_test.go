package harness

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

// A kernel that waits for its device describes its answer only after "done". If the description is the expected one,
// the judge has copied the answer by then, and the runner's work in between is not part of its kernel's time.
func TestACallThatWaitsForTheDeviceEndsWithDoneIfItsAnswerWasForeseen(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.FormEval, tasks.LangPython))
	type found struct {
		Order   []string
		ByDone  bool `json:"by_done"`
		Taken   bool
		Refused string
		Next    string // the description that is foreseen in the next call: memory for answers is taken in turns
	}
	again := []string{"done", "open", "queued", "queue copies", "open", "sample", "take"}
	for name, tt := range map[string]struct {
		given string // late?, the foreseen description, the runner's
		want  found
	}{
		"queued in time": {`[false, null, "A"]`,
			found{Order: []string{"done", "open", "sample", "take"}, ByDone: true, Taken: true}},
		"late, foreseen": {`[true, "A", "A"]`,
			found{Order: []string{"done", "open", "sample", "take", "queued"}, ByDone: true, Taken: true,
				Next: "the last"}},
		"late, another one": {`[true, "A", "B"]`,
			found{Order: append([]string{"done", "open", "sample", "take"}, again[2:]...), Taken: true, Next: "A"}},
		"late, not foreseen": {`[true, null, "A"]`, found{Order: again, Taken: true}},
		"never queued": {`[true, "A", null]`,
			found{Refused: "The runner said that a call had ended, and 10 s later not that it was queued."}},
	} {
		out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "late.py"), dir,
			tt.given).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		var got found
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Otherwise a kernel that detects a slow process could end its run as a failure of the task, which does not count.
func TestACheckerThatFailsAfterTheTestsBlamesTheAnswer(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.FormEval, tasks.LangPython))
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

// Otherwise a kernel that detects a later process could hold its GPU until the stage's limit.
func TestALaterProcessThatNeverLoadsIsRefused(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.FormEval, tasks.LangPython))
	out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "ready.py"),
		dir).CombinedOutput()
	if want := "The submission was not loaded within 0 s, and in the process before it was."; err != nil ||
		string(out) != want {
		t.Errorf("%v: %s, want %q", err, out, want)
	}
}
