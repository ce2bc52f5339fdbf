package tasks_test

import (
	"strings"
	"testing"

	"warpboard/tasks"
)

const validated = minimal + "validation: {version: 2, script: eval.py}\n"

// TestValidationScriptTravelsWithItsTask checks that the script is in the bundle, in a zip of the bundle, and in the
// program of a validation.
func TestValidationScriptTravelsWithItsTask(t *testing.T) {
	b := mustTask(t, validated)
	if v := b.Definition.Validation; v == nil || *v != (tasks.ValidationScript{Version: "2", Script: "eval.py"}) ||
		b.Files["eval.py"] == nil || b.Definition.HasOwnHarness {
		t.Fatalf("the task has %+v and files %v", v, b.Files)
	}
	running := b.WithValidationScript()
	files, err := running.ProgramFiles(tasks.Submission{Source: []byte("x = 1")})
	if err != nil || string(files["eval.py"]) != "print()" || string(files["submission.py"]) != "x = 1" {
		t.Errorf("beside the submission lie %q, %v", files, err)
	}
	if d := running.Definition; d.Config.MainFile != "eval.py" || !d.HasOwnHarness {
		t.Errorf("the script runs as %+v", d)
	}
	if b.Definition.HasOwnHarness || len(b.Definition.Files) != 2 {
		t.Error("the task itself was changed")
	}
	var out strings.Builder
	if err := tasks.WriteZip(&out, b); err != nil {
		t.Fatal(err)
	}
	again, err := readZip([]byte(out.String()))
	if err != nil || again[0].ContentHash() != b.ContentHash() {
		t.Errorf("it comes back as %+v, %v", again, err)
	}
}

func TestBadValidationIsRefusedByKey(t *testing.T) {
	const at = "task.yml:6: "
	for name, c := range map[string]struct{ yaml, want string }{
		"no script in the zip": {minimal + "validation: {version: v1, script: lost.py}\n",
			at + `validation.script: there is no file "lost.py"`},
		"no script": {minimal + "validation: {version: v1}\n", at + "validation.script: is required"},
		"not Python": {minimal + "validation: {version: v1, script: task.h}\n",
			at + "validation.script: is required: the path of a Python file"},
		"no version": {minimal + "validation: {script: eval.py}\n", at + "validation.version: is required"},
		"long version": {minimal + "validation: {version: " + strings.Repeat("v", 41) + ", script: eval.py}\n",
			at + "validation.version: is required: one line of at most 40"},
		"another key": {minimal + "validation: {version: v1, scirpt: eval.py}\n",
			at + `validation.scirpt: unknown key; did you mean "script"?`},
		"text": {minimal + "validation: eval.py\n", at + "validation: must be a mapping"},
		"outside": {minimal + "validation: {version: v1, script: ../eval.py}\n",
			at + `validation.script: "../eval.py" lies outside`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := task(t, c.yaml); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}
