package python

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// interpreter is Debian's Python, the one that has numpy.
const interpreter = "/usr/bin/python3"

var testsRun = regexp.MustCompile(`(?m)^Ran ([1-9]\d*) tests? in .*\n\nOK$`)

func TestPythonClient(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-W", "error::ResourceWarning", "-m", "unittest", "discover", "-t", ".", "-s", "tests")
	cmd.Env = environment()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the Python client's tests failed: %v\n%s", err, out)
	}
	// "OK (skipped=1)" does not match: a test that does not run is not one that passes.
	if !testsRun.Match(out) {
		t.Fatalf("the Python client's tests did not all run:\n%s", out)
	}
}

// environment is this process's without what would point the client at a real server. The tests against
// one, tests/test_live.py, are run where there is one.
func environment() []string {
	var kept []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "WARPBOARD_") && !strings.HasPrefix(strings.ToLower(variable), "http_proxy=") {
			kept = append(kept, variable)
		}
	}
	return append(kept, "NO_PROXY=127.0.0.1")
}
