package harness

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

// A kernel that waits for its device describes its answer only after "done". If the description is the foreseen one, the
// judge has copied the answer by then, and what the runner did in between is not its kernel's time.
func TestACallThatWaitsForTheDeviceEndsWithDoneIfItsAnswerWasForeseen(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.FormEval, tasks.LangPython))
	type found struct {
		Order  []string
		ByDone bool `json:"by_done"`
		Taken  bool
	}
	again := []string{"done", "open", "queued", "queue copies", "open", "take"}
	for name, tt := range map[string]struct {
		given string // late?, the foreseen description, the runner's
		want  found
	}{
		"queued in time":     {`[false, null, "A"]`, found{[]string{"done", "open", "take"}, true, true}},
		"late, foreseen":     {`[true, "A", "A"]`, found{[]string{"done", "open", "take", "queued"}, true, true}},
		"late, another one":  {`[true, "A", "B"]`, found{append([]string{"done", "open", "take"}, again[2:]...), false, true}},
		"late, not foreseen": {`[true, null, "A"]`, found{again, false, true}},
	} {
		out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "late.py"), dir, tt.given).CombinedOutput()
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
