package harness

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
)

// TestLoadInlineCompilesWithTheHeadersThatASourceNames uses the real compiler for the C++ part. The compiled functions
// must return the same as torch.
func TestLoadInlineCompilesWithTheHeadersThatASourceNames(t *testing.T) {
	tier.Needs(t, tier.Torch)
	const looks = "import os; from torch.utils.cpp_extension import include_paths, verify_ninja_availability as ninja\n" +
		"ninja(); open(os.path.join(include_paths()[1], 'torch', 'torch.h')); open('/usr/include/pybind11/pybind11.h')"
	if out, err := exec.CommandContext(t.Context(), debianPython, "-c", looks).CombinedOutput(); err != nil {
		sandboxtest.Without(t, "torch, its headers, ninja and pybind11", errors.New(string(out)))
	}
	const program = `
import os, sys
sys.path.insert(0, "programs/runner")
import warpboard_inline
warpboard_inline.install()
import torch
from torch.utils.cpp_extension import load_inline
warpboard_inline.install()  # changes nothing more
built = load_inline("named", """
#include <vector>
torch::Tensor f(torch::Tensor x) { auto y = torch::empty_like(x); y.copy_(x); return torch::relu(y) * 2 + torch::ones({1}); }
std::vector<torch::Tensor> g(int64_t n) { return {torch::zeros({n}, torch::requires_grad()), at::var(torch::eye(n), 0)}; }
""", functions=["f", "g"])
print(built.f(torch.arange(3.0) - 1).tolist(), [(t.tolist(), t.requires_grad) for t in built.g(2)])
print(*warpboard_inline.log_lines(os.environ["TORCH_EXTENSIONS_DIR"]), sep="\n")
`
	cmd := exec.CommandContext(t.Context(), debianPython, "-B", "-c", program)
	cmd.Env = append(os.Environ(), "TORCH_EXTENSIONS_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	answer, log, _ := strings.Cut(string(out), "\n")
	if answer != "[1.0, 1.0, 3.0] [([0.0, 0.0], True), ([0.5, 0.5], False)]" {
		t.Errorf("answers %s", answer)
	}
	if !strings.HasPrefix(log, "named: main.cpp: compiled by c++ with the headers that it names in ") {
		t.Errorf("log %q", log)
	}
}
