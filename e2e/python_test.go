package e2e

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
)

// TestPythonClientEvaluatesOnTheRealServer runs the live tests of the Python client, against a server with a CPU worker
// that has PyTorch.
func TestPythonClientEvaluatesOnTheRealServer(t *testing.T) {
	tier.Needs(t, tier.Faults)
	s := startSiteBelow(t, belowPath)
	const nothing = `{"num_trials": 1, "gpu_type": "cpu", "kernel": {"kernel_type": "torch", "source_code": "syntax error"}}`
	tier.WaitFor(t, "a worker that takes evaluations", func() error {
		res, err := http.Post(s.url+"/evaluate", "application/json", strings.NewReader(nothing))
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("/evaluate: %s", res.Status)
		}
		return nil
	})
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-m", "unittest", "tests.test_live")
	cmd.Dir = "../clients/python"
	cmd.Env = append(os.Environ(), "WARPBOARD_URL="+s.url, "WARPBOARD_GPU=cpu")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\nOK\n") || strings.Contains(string(out), "Ran 0 tests") {
		t.Fatalf("the live tests failed: %v\n%s", err, out)
	}
}
