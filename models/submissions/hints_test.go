package submissions

import (
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/tasks"
)

func TestLookingForHintsCostsNoMoreThanARequestMay(t *testing.T) {
	for _, part := range []string{"a", " \n", "é", "time.time     setattr( gc.get_  __attribute__   ((", "import ",
		"from\n", "torch.cuda.Event "} {
		s := tasks.Submission{Source: []byte(strings.Repeat(part, tasks.MaxSubmission/2/len(part)))}
		s.Files = map[string][]byte{"a.h": s.Source}
		costtest.Check(t, "1 MB of "+strings.TrimSpace(part), func() { cheatingHintsIn(s) })
	}
}

func TestASubmissionThatIsTooLongToBeLookedThroughSaysSo(t *testing.T) {
	const fits = maxBytesSearchedForHints - len("import reference")
	long := func(n int) []byte { return []byte(strings.Repeat("x", n-1) + "\n") }
	for _, test := range []struct {
		s    tasks.Submission
		want string
	}{
		{tasks.Submission{Source: append(long(fits), "import reference"...)},
			"line 2 imports the task's own files (import reference)"},
		{tasks.Submission{Source: append(long(maxBytesSearchedForHints), "import reference"...)},
			"is longer than the 64 KiB that are searched"},
		{tasks.Submission{Source: long(fits), Files: map[string][]byte{"a.py": []byte("import reference")}},
			"a.py line 1 imports the task's own files (import reference)"},
		{tasks.Submission{Source: long(fits + 1), Files: map[string][]byte{"a.py": []byte("import reference")}},
			"is longer than the 64 KiB that are searched"},
	} {
		if got := cheatingHintsIn(test.s); got != test.want {
			t.Errorf("%d bytes and %d files: %q, want %q", len(test.s.Source), len(test.s.Files), got, test.want)
		}
	}
}
