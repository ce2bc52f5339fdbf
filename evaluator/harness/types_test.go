package harness

import (
	"os/exec"
	"testing"

	"warpboard/internal/test/tier"
)

// TestThePythonProgramsAreTyped runs mypy over the programs with mypy.ini.
func TestThePythonProgramsAreTyped(t *testing.T) {
	tier.Needs(t, tier.Torch)
	out, err := exec.CommandContext(t.Context(), "/usr/bin/mypy", "--cache-dir", t.TempDir()).CombinedOutput()
	if err != nil {
		t.Errorf("mypy (Debian's; scripts/setup installs it): %v\n%s", err, out)
	}
}
