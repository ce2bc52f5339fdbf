package evalapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/web/webtest"
)

// examplesRun runs the examples of the Python client against this site. The site has only a CPU, so examples for GPUs
// must print an error.
func examplesRun(s *webtest.EvalSite, t *testing.T) {
	const folder = "../../clients/python"
	for name, want := range map[string][]string{
		"simple_pytorch.py": {"correct: True", "speed-up: "},
		"cuda_kernel.py": {"add: A cuda kernel needs a GPU", "matmul: A cuda kernel needs a GPU",
			"scale: A cuda kernel needs a GPU"},
		"triton_kernel.py": {"evaluated: A triton kernel needs a GPU", "compared: A triton kernel needs a GPU"},
		"advanced_patterns.py": {"own bytes: correct", "mixed precision: correct", "from a file: correct",
			"a method: correct", "two sizes: correct correct"},
	} {
		cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", filepath.Join(folder, "examples", name))
		cmd.Env = append(os.Environ(), "PYTHONPATH="+folder, "NO_PROXY=127.0.0.1", "WARPBOARD_SERVER="+s.URL,
			"WARPBOARD_TOKEN="+s.Token)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		for _, line := range want {
			if !strings.Contains(string(out), line) {
				t.Errorf("%s does not say %q:\n%s", name, line, out)
			}
		}
	}
	written, err := filepath.Glob(folder + "/examples/*.py")
	if err != nil || len(written) != 4 {
		t.Errorf("there are other examples than those that are run: %v, %v", written, err)
	}
}
