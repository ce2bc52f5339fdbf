package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// action is the tested part of clients/action/action.yml.
type action struct {
	Inputs map[string]any
	Runs   struct {
		Steps []struct {
			ID, If, Uses, Run string
			Env               map[string]string
		}
	}
}

// TestTheActionBuildsTheCommandAndRunsIt runs the scripts of action.yml, with programs in place of go and warpboard.
func TestTheActionBuildsTheCommandAndRunsIt(t *testing.T) {
	text, err := os.ReadFile("../../clients/action/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil || len(a.Runs.Steps) != 4 {
		t.Fatal(a, err)
	}
	dir := t.TempDir()
	stub := func(name, script string) {
		if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "bin", name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return strings.TrimSpace(string(text))
	}
	run := func(step int, vars ...string) {
		t.Helper()
		script := a.Runs.Steps[step].Run
		if strings.Contains(script, "${{") {
			t.Errorf("an expression would be run as shell: %s", script)
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script)
		here, _ := filepath.Abs("../../clients/action")
		cmd.Env = append([]string{"PATH=" + filepath.Join(dir, "bin") + ":/usr/bin:/bin", "GITHUB_ACTION_PATH=" + here,
			"RUNNER_TEMP=" + dir,
			"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_PATH=" + filepath.Join(dir, "path")}, vars...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("step %d: %v\n%s", step, err, out)
		}
	}
	run(0)
	source, ok := strings.CutPrefix(read("output"), "source=")
	if _, err := os.Stat(filepath.Join(source, "go.mod")); !ok || err != nil {
		t.Errorf("the source is said to be at %q: %v", source, err)
	}
	stub("go", `echo "$@" >"$RUNNER_TEMP/go"`)
	run(2, "SOURCE="+source)
	if got, want := read("go"), "-C "+source+" build -trimpath -o "+dir+"/warpboard/warpboard ."; got != want ||
		read("path") != dir+"/warpboard" {
		t.Errorf("go is given %q, and the path gets %q", got, read("path"))
	}
	stub("warpboard", `printf '%s\n' "$@" >"$RUNNER_TEMP/arguments"`)
	run(3, "DIRECTORY=a b", "BASE=$(touch x)", "FAIL_ON=never", "MODE=test")
	if want := "ci\na b\n--base\n$(touch x)\n--fail-on\nnever\n--mode\ntest"; read("arguments") != want {
		t.Errorf("the command is given %q", read("arguments"))
	}
	if err := os.Remove(filepath.Join(dir, "output")); err != nil {
		t.Fatal(err)
	}
	if run(0); read("output") != "" {
		t.Errorf("a runner with the command builds another: %s", read("output"))
	}
	for name := range a.Inputs {
		if !strings.Contains(string(text), "${{ inputs."+name+" }}") {
			t.Errorf("the input %s is not used", name)
		}
	}
}
