package verify

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
)

// TestTheStarterForSeveralGPUsTellsRightFromWrong runs its ranks on the CPU, with a small benchmark for the correct
// solutions.
func TestTheStarterForSeveralGPUsTellsRightFromWrong(t *testing.T) {
	tier.Needs(t, tier.Torch)
	folder := taskFolder(t, "allreduce_torch")
	file := filepath.Join(folder, "task.yml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	small := regexp.MustCompile(`size: (1048576|16777216)`).ReplaceAll(text, []byte("size: 1024"))
	if err := os.WriteFile(file, small, 0o644); err != nil {
		t.Fatal(err)
	}
	printed, err := verify(t, folder, "--device", "CPU")
	if strings.Contains(printed, "No module named 'torch'") {
		sandboxtest.Without(t, "torch", errors.New("torch is not installed"))
	}
	if err != nil || strings.Count(printed, "gave a wrong answer: rank") != 2 || strings.Count(printed, "score") != 2 {
		t.Errorf("%v\n%s", err, printed)
	}
}
