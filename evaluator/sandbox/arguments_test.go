package sandbox_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoCommandLineHoldsTheProgramsEnvironment checks the command lines in /proc, which every user of the machine can
// read: they must not contain seeds and tokens of runs.
func TestNoCommandLineHoldsTheProgramsEnvironment(t *testing.T) {
	sb := newSandbox(t)
	in, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	spec := shell(`echo "$SEED"; exec cat`)
	spec.Env, spec.Stdin = map[string]string{"SEED": "secret-4712"}, in
	output := make(chan string, 1)
	spec.OnStdout = func(b []byte) { output <- string(b) }
	p, err := sb.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-output; got != "secret-4712\n" {
		t.Errorf("the program's variable is %q", got)
	}
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range lines {
		if line, _ := os.ReadFile(path); bytes.Contains(line, []byte("secret-4712")) {
			t.Errorf("%s says %q", path, line)
		}
	}
	hold.Close()
	if o, err := p.Wait(); err != nil || o.ExitCode != 0 {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestAZeroByteInAVariableMakesNoOption checks that the name of a file or a variable cannot contain an option for
// bubblewrap.
func TestAZeroByteInAVariableMakesNoOption(t *testing.T) {
	sb := newSandbox(t)
	spec := shell("ls /planted")
	spec.Env = map[string]string{"A": "b\x00--ro-bind\x00/\x00/planted"}
	if _, err := sb.Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "zero byte") {
		t.Errorf("got %v", err)
	}
}
