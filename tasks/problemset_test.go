package tasks_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
)

func readSets(t *testing.T, content files) ([]tasks.ProblemSet, error) {
	t.Helper()
	upload, err := tasks.OpenFile("upload.zip", zipped(t, content))
	if err != nil {
		t.Fatal(err)
	}
	return upload.ProblemSets(now)
}

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func TestProblemSetIsRead(t *testing.T) {
	sets, err := readSets(t, files{
		"repo/.github/workflow.yml":       "on: push",
		"repo/problems/basics.yaml":       basics,
		"repo/problems/basics/a/task.yml": minimal + "gpus: [L4]\n", "repo/problems/basics/a/reference.py": "",
		"repo/problems/basics/bad/task.yml": "lang: py\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 1 || sets[0].Name != "Basics" || sets[0].FilePath != "repo/problems/basics.yaml" {
		t.Fatalf("sets are %+v, want one called Basics", sets)
	}
	inAYear := time.Date(2027, 1, 2, 3, 4, 0, 0, time.UTC)
	type problem struct {
		Name     string
		Deadline time.Time
		GPUs     []string
		Notes    int
		Read     bool
		Assumed  bool
	}
	want := []problem{
		{"full", time.Date(2030, 6, 1, 12, 30, 0, 0, time.UTC), []string{"H100", "T4"}, 0, true, false},
		{"a", time.Date(2030, 6, 1, 0, 0, 0, 0, time.UTC), []string{"L4"}, 0, true, false},
		{"late", inAYear, []string{"L4"}, 1, true, true},
		{"never", inAYear, []string{"L4"}, 1, true, true},
		{"bad", inAYear, []string{"T4"}, 1, false, true},
	}
	var got []problem
	for _, p := range sets[0].Problems {
		got = append(got, problem{p.Name, p.Deadline, p.GPUs, len(p.Notes), p.Bundle != nil && p.Err == nil,
			p.HasAssumedDeadline})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	wantError(t, sets[0].Problems[4].Err, "repo/problems/basics/bad/task.yml: files: is required")
}

const basics = `name: Basics
description: First steps
deadline: ""
problems:
  - {directory: basics/a, name: full, deadline: "2030-06-01 12:30", gpus: [H100, T4]}
  - {directory: basics/a, deadline: 2030-06-01}
  - {directory: basics/a, name: late, deadline: soon}
  - {directory: basics/a, name: never}
  - {directory: basics/bad, name: bad, gpus: [T4]}
`

func TestProblemWithoutGPUsSaysSo(t *testing.T) {
	sets, err := readSets(t, files{
		"problems/s.yaml":     "problems: [{directory: a, deadline: 2030-01-01}]",
		"problems/a/task.yml": minimal, "problems/a/reference.py": "",
	})
	if err != nil {
		t.Fatal(err)
	}
	p := sets[0].Problems[0]
	if len(p.Notes) != 1 || len(p.GPUs) != 0 || sets[0].Name != "s" {
		t.Errorf("the problem is %+v of %q, want a note on missing GPUs", p, sets[0].Name)
	}
}

func TestBadProblemSetIsRefused(t *testing.T) {
	cases := map[string]struct{ yaml, want string }{
		"unknown key": {"problems: []\nowner: me", "problems/s.yaml:2: owner: unknown key"},
		"in a problem": {"problems:\n  - {directory: a, gpu: T4}",
			`problems/s.yaml:2: problems[0].gpu: unknown key; did you mean "gpus"?`},
		"no directory": {"problems: [{name: a}]", "problems[0].directory: is required"},
		"outside":      {"problems: [{directory: ../../a}]", `problems[0].directory: "../../a" lies outside`},
		"no list":      {"problems: 3", "problems: must be a list"},
		"broken":       {"problems: [", "problems/s.yaml:2: this is not valid YAML"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := readSets(t, files{"problems/s.yaml": c.yaml})
			wantError(t, err, c.want)
		})
	}
}

func TestZipWithoutProblemSetsHasNone(t *testing.T) {
	sets, err := readSets(t, files{"task.yml": minimal, "reference.py": "", "ci.yaml": "on: push", "broken.yaml": "["})
	if err != nil || len(sets) != 0 {
		t.Errorf("sets are %v, %v; want none", sets, err)
	}
}

func TestDeadlinesAreReadInUTC(t *testing.T) {
	at, err := tasks.ParseDeadline(" 2030-06-01 12:30 ")
	if err != nil || !at.Equal(time.Date(2030, 6, 1, 12, 30, 0, 0, time.UTC)) {
		t.Errorf("got %v, %v", at, err)
	}
	at, err = tasks.ParseDeadline("2030-06-01 12:30:59")
	if err != nil || !at.Equal(time.Date(2030, 6, 1, 12, 30, 59, 0, time.UTC)) {
		t.Errorf("got %v, %v", at, err)
	}
	for _, text := range []string{"2030-06-01T12:30:00Z", "2030-06-01T14:30:00+02:00", "2030-06-01T12:30Z",
		"2030-06-01T12:30:00", "2030-06-01T12:30:00.000Z"} {
		if at, err := tasks.ParseDeadline(text); err != nil ||
			!at.Equal(time.Date(2030, 6, 1, 12, 30, 0, 0, time.UTC)) || at.Location() != time.UTC {
			t.Errorf("%s is read as %v, %v", text, at, err)
		}
	}
	if _, err := tasks.ParseDeadline("01.06.2030"); err == nil {
		t.Error("another format was read")
	}
}
