package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// brokenTask returns a built-in task with only its wrong solutions, and with one of its files replaced.
func brokenTask(t *testing.T, task, file, text string) string {
	t.Helper()
	folder := taskFolder(t, task)
	if err := os.RemoveAll(filepath.Join(folder, "solutions", "correct")); err != nil {
		t.Fatal(err)
	}
	if file != "" {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestVerifyTaskReportsABrokenTask(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for name, test := range map[string]struct {
		folder string
		broken bool
	}{
		"a header that does not compile": {brokenTask(t, "vectoradd_cpp", "reference.h", "this is no C++\n"), true},
		"a reference that does not compile": {brokenTask(t, "softmax_numpy", "reference.py", "def generate_input(:\n"),
			true},
		"a reference that fails": {brokenTask(t, "softmax_numpy", "reference.py",
			"def generate_input(**case):\n    raise ValueError\ndef check_implementation(data, output):\n    return ''\n"), true},
		"a sound task": {brokenTask(t, "softmax_numpy", "", ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			crash := filepath.Join(test.folder, "solutions", "wrong", "a_crash.py")
			if strings.Contains(test.folder, "numpy") {
				if err := os.WriteFile(crash, []byte("import os\nos.abort()\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			printed, err := verify(t, test.folder)
			if (err != nil) != test.broken || strings.Contains(printed, "NOT JUDGED") != test.broken ||
				!strings.Contains(printed, "failed") {
				t.Errorf("it ended with %v and printed\n%s", err, printed)
			}
			if test.broken && !strings.Contains(err.Error(), "nothing shows that 1 of 1 task works") {
				t.Errorf("the task is not blamed: %v", err)
			}
			if test.broken && strings.Contains(printed, " as expected") {
				t.Errorf("a solution is as expected:\n%s", printed)
			}
		})
	}
}
