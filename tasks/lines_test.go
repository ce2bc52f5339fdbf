package tasks_test

import (
	"testing"

	"warpboard/tasks"
)

func TestKeyLinesOfEachKey(t *testing.T) {
	text := []byte("gpus:\n  - CPU\n  - H100\ntests:\n  - {size: 1}\n  - size: 2\n    seed: 3\nconfig: {main: a.py}\n")
	lines := tasks.ParseKeyLines(text)
	for key, want := range map[string]int{
		"gpus": 1, "gpus[1]": 3, "tests[0]": 5, "tests[1].seed": 7, "config.main": 8,
		"": 0, "lang": 0, "gpus[2]": 0, "gpus[99999999999999999999]": 0, "gpus.CPU": 0, "tests.size": 0,
		"tests[0].n": 0, "There": 0,
	} {
		if got := lines.LineOf(key); got != want {
			t.Errorf("%q is in line %d, want %d", key, got, want)
		}
	}
	if got := tasks.ParseKeyLines([]byte("gpus: [")).LineOf("gpus"); got != 0 {
		t.Errorf("a text that is no YAML has a key in line %d", got)
	}
	if got := tasks.WarningKey("tests[1]: \"big\" is no number"); got != "tests[1]" {
		t.Errorf("the warning is about %q", got)
	}
}
