package verify

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warpboard/internal/app/cli/console"
	"warpboard/internal/test/tier"
)

// addBias is a problem in the form of KernelBench.
const addBias = `import torch
import torch.nn as nn


class Model(nn.Module):
    """Adds a bias, and returns the sum's parts."""

    def __init__(self, width):
        super(Model, self).__init__()
        self.bias = nn.Parameter(torch.randn(width))

    def forward(self, x):
        return x + self.bias, {"bias": self.bias}


rows = 4096
width = 2048


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return [width]
`

// imports runs `warpboard import`, and returns its output.
func imports(t *testing.T, args ...string) (printed string, err error) {
	t.Helper()
	var out bytes.Buffer
	env := console.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: io.Discard}
	err = execute(t.Context(), ImportCommand(env), args)
	return out.String(), err
}

func TestImportCommandWritesAFolderForEachGoodProblem(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tasks")
	writeAt(t, filepath.Join(from, "1_Add_bias.py"), addBias)
	writeAt(t, filepath.Join(from, "2_Broken.py"), "class Model:\n    pass\n")
	printed, err := imports(t, from, "--out", to, "--largest", "64")
	if err == nil || err.Error() != "1 of 2 problems cannot be imported" {
		t.Errorf("import ended with %v", err)
	}
	for _, want := range []string{"imported  1_Add_bias\n",
		"Smaller than in the problem: rows = 64 instead of 4096, width = 64 instead of 2048.\n",
		"refused   2_Broken.py: has no function get_inputs at its top level\n", "1 problem imported, 1 refused\n"} {
		if !strings.Contains(printed, want) {
			t.Errorf("%q is missing in\n%s", want, printed)
		}
	}
	if found, err := os.ReadDir(to); err != nil || len(found) != 1 || found[0].Name() != "1_Add_bias" {
		t.Errorf("%v, %v", found, err)
	}
	if printed, err := verify(t, to, "--lint"); err != nil || strings.Contains(printed, "warning") {
		t.Errorf("%v\n%s", err, printed)
	}
	if _, err := imports(t, from, "--out", to); console.ExitCode(err) != console.ExitUsage ||
		!strings.Contains(err.Error(), "exists already") {
		t.Errorf("the folder that is there already: %v", err)
	}
}

func TestImportCommandWritesNothingWithoutAGoodProblem(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tasks")
	writeAt(t, filepath.Join(from, "a.py"), "class Model:\n    pass\n")
	printed, err := imports(t, from, "--out", to)
	if err == nil || !strings.Contains(printed, "refused   a.py: has no function get_inputs") {
		t.Errorf("%v\n%s", err, printed)
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
	if _, err := imports(t, taskFolder(t, "vectoradd_cpp")); err == nil ||
		!strings.Contains(err.Error(), "has no problem of a known benchmark") {
		t.Errorf("a task: %v", err)
	}
	if _, err := imports(t, from, "--largest", "-1"); console.ExitCode(err) != console.ExitUsage {
		t.Errorf("--largest -1: %v", err)
	}
}

// TestImportedProblemsPassTheirReferences runs the references and submissions in the forms of other benchmarks.
func TestImportedProblemsPassTheirReferences(t *testing.T) {
	tier.Needs(t, tier.Torch)
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "tasks")
	for name, text := range map[string]string{
		"kb/add.py": addBias,
		"sum/definition.json": `{"name": "sum", "axes": {"n": {"type": "var"}, "m": {"type": "const", "value": 8}},
			"inputs": {"x": {"shape": ["n", "m"], "dtype": "float32"}, "alpha": {"shape": null, "dtype": "float32"}},
			"outputs": {"y": {"shape": ["n"], "dtype": "float32"}},
			"reference": "def run(x, alpha):\n    return x.sum(1) * alpha\n"}`,
		"sum/workload.jsonl": `{"uuid": "a", "axes": {"n": 33}, "inputs": {"x": {"type": "random"}, ` +
			`"alpha": {"type": "scalar", "value": 1e-1}}}` + "\n",
		"sum/solution.json": `{"name": "writes", "definition": "sum",
			"spec": {"languages": ["pytorch"], "entry_point": "fast.py::run"},
			"sources": [{"path": "fast.py", "content": "def run(x, alpha, y):\n    y.copy_(x.sum(1) * alpha)\n"}]}`,
		"double/challenge.py": `import ctypes
import torch
from core.challenge_base import ChallengeBase, OutTensor, RandTensor

class Challenge(ChallengeBase):
    name = "Double"
    atol = 1e-05
    rtol = 1e-05
    num_gpus = 1

    def reference_impl(self, x, out, n):
        out.copy_(2 * x)

    def get_solve_signature(self):
        return {"x": (ctypes.c_void_p, "in"), "out": (ctypes.c_void_p, "out"), "n": (ctypes.c_int, "in")}

    def generate_example_test(self):
        return {"x": torch.ones(4, device=self.device), "out": torch.empty(4, device=self.device), "n": 4}

    def generate_functional_test(self):
        drawn = {"x": torch.rand(9, device=self.device), "out": torch.empty(9, device=self.device), "n": 9}
        return [self.generate_example_test(), drawn]

    def generate_performance_test(self):
        return {"x": RandTensor((1000,), -1.0, 1.0), "out": OutTensor((1000,)), "n": 1000}
`,
	} {
		writeAtNew(t, filepath.Join(from, name), text)
	}
	if printed, err := imports(t, from, "--out", to, "--largest", "64"); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	right := strings.ReplaceAll(addBias, "Model", "ModelNew")
	for name, text := range map[string]string{
		"add/solutions/correct/model_new.py":  right,
		"add/solutions/wrong/other_bias.py":   strings.ReplaceAll(right, "x + self.bias", "x - self.bias"),
		"add/solutions/wrong/one_output.py":   strings.ReplaceAll(right, `, {"bias": self.bias}`, ""),
		"double/solutions/correct/solve.py":   "def solve(x, out, n):\n    out.copy_(x + x)\n",
		"double/solutions/wrong/template.py":  "def solve(x, out, n):\n    out.fill_(2)\n",
		"sum/solutions/correct/returns.py":    "def run(x, alpha):\n    return {'y': alpha * x.sum(1)}\n",
		"sum/solutions/wrong/without_last.py": "def run(x, alpha):\n    return x[:, 1:].sum(1) * alpha\n",
	} {
		writeAtNew(t, filepath.Join(to, name), text)
	}
	if printed, err := verify(t, to, "--device", "CPU"); err != nil || strings.Count(printed, "as expected") != 11 {
		t.Errorf("%v\n%s", err, printed)
	}
}

// writeAtNew writes a file in a folder that may be new.
func writeAtNew(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	writeAt(t, file, text)
}

// TestPublicProblemsImport imports a checkout of public problems. It does not check the number of refused problems.
func TestPublicProblemsImport(t *testing.T) {
	from := os.Getenv("WARPBOARD_PROBLEMS")
	if from == "" {
		t.Skip("WARPBOARD_PROBLEMS names no folder of problems")
	}
	printed, err := imports(t, from, "--out", filepath.Join(t.TempDir(), "tasks"))
	t.Logf("%v\n%s", err, printed)
	if !strings.Contains(printed, "imported  ") {
		t.Error("nothing was imported")
	}
}
