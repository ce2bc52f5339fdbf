package harness

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

// A device that has its input and nothing to do could run a submission's kernel unseen by any clock. If a device may
// not wait, because kernels are loaded for new sizes, each is kept busy right after its own input arrives.
func TestNoRanksDeviceHasAnInputAndNoOtherWork(t *testing.T) {
	dir := t.TempDir()
	writeAll(t, dir, Sources(tasks.FormEval, tasks.LangPython))
	type found struct {
		AtOnce   bool   `json:"at_once"`
		AfterAll bool   `json:"after_all_is_queued"`
		Kept     []bool `json:"kept_behind_its_input"`
		Started  []bool
		Error    string
	}
	both := []bool{true, true}
	for name, tt := range map[string]struct {
		given string // are the sizes of each rank's input known, does queueing fail
		want  found
	}{
		"known sizes":            {`[[true, true], false]`, found{true, true, both, both, ""}},
		"new sizes of one":       {`[[true, false], false]`, found{false, false, both, both, ""}},
		"new sizes of the other": {`[[false, true], false]`, found{false, false, both, both, ""}},
		"an error before start": {`[[true, true], true]`,
			found{false, true, both, both, "the copies cannot be queued"}},
	} {
		out, err := exec.CommandContext(t.Context(), debianPython, filepath.Join("testdata", "py", "together.py"), dir,
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
