package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/test/tier"
	"warpboard/tasks"
	"warpboard/tasks/mutants"
)

// TestMutantsOfARightSolutionAreFoundWrong runs the mutants that need more than the answer of one call: in each
// language that runs on the CPU, the checker of a sound task passes none.
func TestMutantsOfARightSolutionAreFoundWrong(t *testing.T) {
	tier.Needs(t, tier.Judge)
	for right, folder := range map[string]string{"vectorised.cpp": quickTask(t),
		"in_place.py": taskFolder(t, "softmax_numpy")} {
		t.Run(right, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join(folder, "solutions", "correct", right))
			if err != nil {
				t.Fatal(err)
			}
			writeMutants(t, folder, source, filepath.Ext(right), "stale output", "one term missing")
			printed, err := verify(t, folder)
			if err != nil || strings.Count(printed, "gave a wrong answer") != 2 {
				t.Errorf("%v\n%s", err, printed)
			}
		})
	}
}

// writeMutants replaces the wrong solutions of a task by mutants.
func writeMutants(t *testing.T, folder string, right []byte, suffix string, names ...string) {
	t.Helper()
	upload, err := tasks.OpenPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer upload.Close()
	bundles, err := upload.Bundles()
	if err != nil {
		t.Fatal(err)
	}
	wrong := filepath.Join(folder, "solutions", "wrong")
	if err := os.RemoveAll(wrong); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(wrong, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants.MutantsOf(bundles[0].Definition, right) {
		for _, name := range names {
			if m.Name != name {
				continue
			}
			if err := os.WriteFile(filepath.Join(wrong, strings.ReplaceAll(name, " ", "_")+suffix), m.Source,
				0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
