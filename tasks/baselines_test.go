package tasks_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/tasks"
	"warpboard/tasks/changes"
)

// withSolutions returns a task with a correct and a wrong solution, and with two baselines.
func withSolutions(t *testing.T) *tasks.Bundle {
	t.Helper()
	bundles, err := readZip(zipped(t, files{
		"add/task.yml": minimal +
			"templates: {Python: start.py}\nbaselines:\n  naive: start.py\n  torch: solutions/correct/fast.py\n",
		"add/reference.py":              "def generate_input(): pass\ndef check_implementation(data, output): pass\n",
		"add/start.py":                  "slow",
		"add/solutions/correct/fast.py": "fast", "add/solutions/wrong/none.py": "nothing",
		"add/solutions/notes.txt": "why",
	}))
	if err != nil || len(bundles) != 1 {
		t.Fatal(err, bundles)
	}
	return bundles[0]
}

func TestATaskKeepsItsSolutionsAndBaselines(t *testing.T) {
	b := withSolutions(t)
	if diff := cmp.Diff(map[string]string{"naive": "start.py", "torch": "solutions/correct/fast.py"},
		b.Definition.Baselines); diff != "" {
		t.Errorf("baselines (-want +got):\n%s", diff)
	}
	want := []tasks.Solution{{Name: "fast.py", ShouldPass: true, Source: []byte("fast")},
		{Name: "none.py", Source: []byte("nothing")}}
	if diff := cmp.Diff(want, b.Solutions()); diff != "" {
		t.Errorf("solutions (-want +got):\n%s", diff)
	}
	var out bytes.Buffer
	if err := tasks.WriteZip(&out, b); err != nil {
		t.Fatal(err)
	}
	again, err := readZip(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again[0].ContentHash() != b.ContentHash() {
		t.Errorf("the task comes out of its zip as another: %v", changes.ChangesBetween(b, again[0]))
	}
}

func TestSolutionsAreNotGivenToSubmitters(t *testing.T) {
	b := withSolutions(t)
	public := b.WithoutSolutions()
	var names []string
	for name := range public.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"reference.py", "start.py"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(public.Definition.Baselines) > 0 || len(b.Definition.Baselines) != 2 || len(b.Files) != 5 {
		t.Errorf("the public task has the baselines %v, the task itself %d files", public.Definition.Baselines,
			len(b.Files))
	}
	var out bytes.Buffer
	if err := tasks.WriteZip(&out, public); err != nil {
		t.Fatal(err)
	}
	if _, err := readZip(out.Bytes()); err != nil {
		t.Errorf("the public task cannot be read: %v", err)
	}
}

func TestABaselineIsCheckedWhenItIsRead(t *testing.T) {
	for name, c := range map[string]struct{ yaml, want string }{
		"no file": {"baselines: {naive: missing.py}\n", `task.yml:6: baselines.naive: there is no file "missing.py"`},
		"empty":   {"baselines: {naive: template.py}\n", "task.yml:6: baselines.naive: the submission is empty"},
		"name": {"baselines: {\"<b>\": eval.py}\n",
			"task.yml:6: baselines.<b>: a baseline's name has at most 40 letters"},
		"no path": {"baselines: {naive: \"@SUBMISSION@\"}\n",
			"task.yml:6: baselines.naive: must be the path of a file"},
		"too many":  {"baselines: {a: eval.py, b: eval.py, c: eval.py, d: eval.py, e: eval.py, f: eval.py, g: eval.py, h: eval.py, i: eval.py}\n", "is one baseline too many"},
		"not a map": {"baselines: [eval.py]\n", "task.yml:6: baselines: must be a mapping"},
	} {
		_, err := task(t, minimal+c.yaml)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.want) })
	}
}
