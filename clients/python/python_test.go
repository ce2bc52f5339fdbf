package python

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// interpreter is Debian's Python, which has NumPy.
const interpreter = "/usr/bin/python3"

var testsRun = regexp.MustCompile(`(?m)^Ran ([1-9]\d*) tests? in .*\n\nOK$`)

func TestPythonClient(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-W", "error::ResourceWarning", "-m", "unittest",
		"discover", "-t", ".", "-s", "tests")
	cmd.Env = environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the Python client's tests failed: %v\n%s", err, out)
	}
	// The pattern does not match "OK (skipped=1)", because a skipped test has not passed.
	if !testsRun.Match(out) {
		t.Fatalf("the Python client's tests did not all run:\n%s", out)
	}
}

// environment returns this process's environment without variables that would make the client use a real server or a
// proxy. So the tests against a real server (tests/test_live.py) do not run.
func environment() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WARPBOARD_") && !strings.HasPrefix(strings.ToLower(variable), "http_proxy=") {
			kept = append(kept, variable)
		}
	}
	return append(kept, "NO_PROXY=127.0.0.1")
}

func TestTheWheelHasEveryModuleAndItsMetadata(t *testing.T) {
	w, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Build()
	if err != nil || !bytes.Equal(w.Content, again.Content) {
		t.Errorf("two builds differ: %v", err)
	}
	archive, err := zip.NewReader(bytes.NewReader(w.Content), int64(len(w.Content)))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := fs.ReadFile(archive, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, pattern := range []string{"warpboard/*.py", "warpboard/py.typed", "kernel_eval_client/*.py",
		"io_contract/*.py", "shared/*.py"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if text, _ := os.ReadFile(name); read(name) != string(text) {
				t.Errorf("%s of the wheel is another", name)
			}
		}
	}
	info := "warpboard-" + w.Version + ".dist-info/"
	for _, want := range []string{"Name: warpboard\n", "Version: " + w.Version, "Requires-Python: >=3.9",
		"License-File: LICENSE", "Classifier: Typing :: Typed", "Author: ", "\n\n# warpboard"} {
		if metadata := read(info + "METADATA"); !strings.Contains(metadata, want) {
			t.Errorf("the metadata lack %q:\n%.800s", want, metadata)
		}
	}
	if text, _ := os.ReadFile("../../LICENSE"); read(info+"LICENSE") != string(text) {
		t.Error("the license is not the repository's: copy it")
	}
}

// TestTheClientIsTyped checks the client with mypy, because py.typed tells its users' type checkers to use its types.
func TestTheClientIsTyped(t *testing.T) {
	tier.Needs(t, tier.Torch)
	out, err := exec.CommandContext(t.Context(), "/usr/bin/mypy", "--cache-dir", t.TempDir()).CombinedOutput()
	if err != nil {
		t.Errorf("mypy (Debian's; scripts/setup installs it): %v\n%s", err, out)
	}
}
