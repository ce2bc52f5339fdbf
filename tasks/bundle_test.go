package tasks_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/tasks"
	"warpboard/tasks/changes"
)

const full = minimal + `templates: {Python: template.py}
tests: [{size: 1, kind: "yes", list: [1, 2]}]
benchmarks: [{size: 1024, x: 0.5, flag: true, odd: "0012"}]
title: "Add: it"
gpus: [T4]
`

func again(t testing.TB, b *tasks.Bundle) *tasks.Bundle {
	t.Helper()
	var out bytes.Buffer
	if err := tasks.WriteZip(&out, b); err != nil {
		t.Fatal(err)
	}
	bundles, err := readZip(out.Bytes())
	if err != nil {
		t.Fatalf("the written zip cannot be read: %v", err)
	}
	return bundles[0]
}

func TestDownloadedTaskReadsBackEqual(t *testing.T) {
	b := mustTask(t, full)
	b.Warnings = nil // the download omits files that the task does not use, so it has no warnings about them
	if diff := cmp.Diff(b, again(t, b)); diff != "" {
		t.Errorf("read back (-original +read):\n%s", diff)
	}
}

func TestContentHashDependsOnContentAlone(t *testing.T) {
	first := mustTask(t, full)
	if len(first.ContentHash()) != 64 {
		t.Errorf("the key %q is not a SHA-256 in hex", first.ContentHash())
	}
	renamed := *first
	renamed.Name, renamed.Warnings = "other", nil
	if renamed.ContentHash() != first.ContentHash() {
		t.Error("the key depends on the task's name")
	}
	if mustTask(t, strings.Replace(full, "1024", "1025", 1)).ContentHash() == first.ContentHash() {
		t.Error("another benchmark has the same key")
	}
	changed := mustTask(t, full)
	changed.Files["reference.py"] = append([]byte("# "), changed.Files["reference.py"]...)
	if changed.ContentHash() == first.ContentHash() {
		t.Error("another reference has the same key")
	}
}

func TestBadSubmissionIsRefused(t *testing.T) {
	b := mustTask(t, full)
	for text, want := range map[string]string{
		"":                             "the submission is empty",
		"\n\xff":                       "Line 2: the byte 0xFF is not UTF-8 text",
		strings.Repeat("x", 1_000_001): "the submission is larger than 1 MB",
		"\x00files\nx":                 "the submission begins with what marks several files",
	} {
		_, err := b.ProgramFiles(tasks.Submission{Source: []byte(text)})
		wantError(t, err, want)
	}
	if name := b.Definition.SubmissionName(); name != "submission.py" {
		t.Errorf("the submission is called %q", name)
	}
	if text, ok := b.Template("Python"); !ok || text == nil {
		t.Error("the Python template is not there")
	}
}

func TestDiffTellsWhatChangesAndWhatBreaksScores(t *testing.T) {
	old := mustTask(t, full)
	cases := map[string]struct {
		change func(*tasks.Bundle)
		key    string
		breaks bool
	}{
		"benchmarks":  {func(b *tasks.Bundle) { b.Definition.Benchmarks[0][0].Value = "7" }, "benchmarks", true},
		"tests":       {func(b *tasks.Bundle) { b.Definition.Tests = nil }, "tests", false},
		"reference":   {func(b *tasks.Bundle) { b.Files["reference.py"] = []byte("x") }, "files.reference.py", true},
		"template":    {func(b *tasks.Bundle) { b.Files["template.py"] = []byte("x") }, "templates.Python", false},
		"lang":        {func(b *tasks.Bundle) { b.Definition.Lang = tasks.LangCPP }, "lang", true},
		"config":      {func(b *tasks.Bundle) { b.Definition.Config.MainFile = "x" }, "config", true},
		"ranking":     {func(b *tasks.Bundle) { b.Definition.RankingBy = tasks.RankMean }, "ranking_by", true},
		"timeout":     {func(b *tasks.Bundle) { b.Definition.Timeouts.Test++ }, "test_timeout", false},
		"description": {func(b *tasks.Bundle) { b.Definition.Description = "new" }, "description", false},
		"harness":     {func(b *tasks.Bundle) { b.Definition.HasOwnHarness = true }, "harness", true},
		"gpus":        {func(b *tasks.Bundle) { b.Definition.GPUs = nil }, "gpus", false},
		"more files": {func(b *tasks.Bundle) { b.Definition.SubmissionFiles = []string{"a.py"} }, "submission_files",
			false},
		"new file": {func(b *tasks.Bundle) {
			b.Definition.Files = append(b.Definition.Files, tasks.File{Name: "n.py", Source: "n.py"})
		}, "files.n.py", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			changed := mustTask(t, full)
			c.change(changed)
			changes := changes.ChangesBetween(old, changed)
			if len(changes) != 1 || changes[0].Key != c.key || changes[0].BreaksScores != c.breaks {
				t.Errorf("changes are %+v, want one of %q that breaks scores: %v", changes, c.key, c.breaks)
			}
		})
	}
	if changes := changes.ChangesBetween(old, mustTask(t, full)); len(changes) != 0 {
		t.Errorf("equal tasks differ: %+v", changes)
	}
}

func TestSuspiciousTasksGetWarnings(t *testing.T) {
	cases := map[string]struct{ yaml, want string }{
		"no tests":      {minimal, "There are no tests"},
		"no benchmarks": {minimal, "There are no benchmarks"},
		"no templates":  {minimal, "There are no templates"},
		"short timeout": {minimal + "test_timeout: 2\n", "test_timeout is 2s"},
		"long timeout":  {minimal + "ranked_timeout: 7200\n", "ranked_timeout is 2h0m0s"},
		"same case":     {minimal + "tests: [{a: 1}, {a: 1}]\n", "tests[1] is the same as tests[0]"},
		"other keys":    {minimal + "tests: [{a: 1}, {b: 1}]\n", "tests[1] has other arguments (b) than tests[0] (a)"},
		"a typing error": {minimal + "tests: [{sed: 1}, {seed: 1}, {seed: 2}]\n",
			"tests[0] has other arguments (sed) than tests[1] (seed). Did you mean seed instead of sed?"},
		"a word": {minimal + "tests: [{n: 16}, {n: big}]\n",
			"tests[1]: \"big\" is no number, but n is 16 in tests[0]"},
		"odd for stock": {minimal + "  - {name: eval.py, source: eval.py}\ntests: [{a1: 1}]\n",
			`many eval programs cannot read "a1: 1"`},
		"own times": {minimal + "config: {main: submission.py}\n", "config.main is the submission itself"},
		"unused":    {minimal, "Not used by task.yml: eval.cu, eval.py"},
		"not used here": {strings.Replace(minimal, "lang: py", "lang: cpp", 1) +
			"  - {name: task.h, source: task.h}\n  - {name: reference.h, source: reference.h}\nvalidation: {version: v1, script: validate.py}\n", "The key validation is not used"},
		"no description": {strings.Replace(minimal, "Add.", `""`, 1), "The description is empty"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			warnings := strings.Join(mustTask(t, c.yaml).Warnings, "\n")
			if !strings.Contains(warnings, c.want) {
				t.Errorf("warnings are\n%s\nwant one with %q", warnings, c.want)
			}
		})
	}
}

func TestBundleWithOwnHarnessMayRunWithOurs(t *testing.T) {
	own := mustTask(t, minimal+"  - {name: eval.py, source: eval.py}\nconfig: {main: eval.py}\n")
	ours, err := own.WithWarpboardHarness()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(mustTask(t, minimal).Definition, ours.Definition); diff != "" {
		t.Errorf("definition (-without eval +with the standard harness):\n%s", diff)
	}
	if !own.Definition.HasOwnHarness || own.Definition.Config.MainFile == "" {
		t.Error("the original was changed")
	}
	chosen := mustTask(t, minimal+
		"  - {name: eval.py, source: eval.py}\nconfig: {main: eval.py}\nharness: warpboard\nsubmission_files: [parts.py]\n")
	if got := chosen.Definition.SubmissionFiles; !slices.Equal(got, []string{"parts.py"}) {
		t.Errorf("with Warpboard's harness chosen, a submission brings %v", got)
	}
	chosen.Definition.SubmissionFiles = nil
	delete(chosen.Files, tasks.TaskFile) // the two texts differ: the author's text has more keys
	delete(ours.Files, tasks.TaskFile)
	if diff := cmp.Diff(ours, chosen, cmpopts.IgnoreFields(tasks.Bundle{}, "Warnings")); diff != "" {
		t.Errorf("what harness: warpboard makes (-switched +by the key):\n%s", diff)
	}
	if !slices.ContainsFunc(changes.ChangesBetween(own, ours), func(c changes.Change) bool { return c.BreaksScores }) {
		t.Error("another harness does not break scores")
	}
	own.Files["reference.py"] = []byte("def other(): pass")
	if _, err := own.WithWarpboardHarness(); err == nil || !strings.Contains(err.Error(), "no generate_input") {
		t.Errorf("a reference without the standard functions gave %v", err)
	}
	if _, err := ours.WithWarpboardHarness(); err == nil {
		t.Error("a task without an eval program was given the standard harness")
	}
}

func TestAnotherHarnessChangesOneLineOfTaskYML(t *testing.T) {
	const head, seed = "# A task of ours.\nconfig: {main: eval.py} # as the bot wants it\n", "seed: 7   # arbitrary\n"
	files := minimal + "  - {name: eval.py, source: eval.py}\n"
	for name, c := range map[string]struct{ before, after string }{
		"without the key": {head + files + seed, head + files + seed + "harness: warpboard\n"},
		"with the key": {head + files + "harness: own # slow\n" + seed,
			head + files + "harness: warpboard # slow\n" + seed},
	} {
		ours, err := mustTask(t, c.before).WithWarpboardHarness()
		if err != nil {
			t.Fatal(err)
		}
		for _, of := range []string{"the bundle", "its zip"} {
			text, err := ours.TaskYAML()
			if diff := cmp.Diff(c.after, string(text)); err != nil || diff != "" || ours.Definition.HasOwnHarness {
				t.Errorf("%s, %s: %v\n%s", name, of, err, diff)
			}
			ours = again(t, ours)
		}
	}
}

func TestWorldSizeIsTheLargestOfAnyCase(t *testing.T) {
	b := mustTask(t,
		minimal+"config: {main: reference.py}\nmulti_gpu: true\ntests: [{world_size: 2}]\nbenchmarks: [{world_size: 4}, {world_size: 1}]\n")
	if got := b.Definition.WorldSize(); got != 4 {
		t.Errorf("WorldSize is %d, want 4", got)
	}
	if got := mustTask(t, minimal).Definition.WorldSize(); got != 1 {
		t.Errorf("WorldSize of an ordinary task is %d, want 1", got)
	}
}

// TestTaskYAMLStaysAsItsAuthorWroteIt checks that task.yml keeps its comments, order, and quotes.
func TestTaskYAMLStaysAsItsAuthorWroteIt(t *testing.T) {
	text := "# Two tensors, after the course.\n" + strings.Replace(full, "gpus: [T4]", "gpus:   ['T4'] # cheap", 1)
	b := mustTask(t, text)
	kept, err := b.TaskYAML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(kept)); diff != "" {
		t.Errorf("task.yml (-written +kept):\n%s", diff)
	}
	if diff := cmp.Diff(kept, again(t, b).Files[tasks.TaskFile]); diff != "" {
		t.Errorf("task.yml of the download read back (-kept +read):\n%s", diff)
	}
	if found := changes.ChangesBetween(b, mustTask(t, strings.Replace(text, "cheap", "dear", 1))); len(found) != 1 ||
		found[0].Key != tasks.TaskFile || found[0].BreaksScores {
		t.Errorf("another comment is the changes %+v", found)
	}
	if public, err := b.WithoutSolutions().TaskYAML(); err != nil || strings.Contains(string(public), "cheap") {
		t.Errorf("visitors read the author's comments: %q, %v", public, err)
	}
	b.Definition.GPUs = []string{"H100"}
	if changed, err := b.TaskYAML(); err != nil || !strings.Contains(string(changed), "H100") {
		t.Errorf("a changed task is written as %q, %v", changed, err)
	}
}
