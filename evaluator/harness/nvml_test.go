package harness

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// standInForNVML is the C source of a replacement for NVML, which counts its initializations as NVML does.
const standInForNVML = `
static int begun;
int nvmlInit(void) { begun++; return 0; }
int nvmlShutdown(void) { return begun ? (begun--, 0) : 1; }
int times(void) { return begun; }
`

// TestAWarmPythonLetsNVMLGo: a warm Python must shut NVML down, so that a stage can initialize it again. Otherwise NCCL
// does not start on a GPU.
func TestAWarmPythonLetsNVMLGo(t *testing.T) {
	dir := t.TempDir()
	source, library := filepath.Join(dir, "nvml.c"), filepath.Join(dir, "libnvidia-ml.so.1")
	if err := os.WriteFile(source, []byte(standInForNVML), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "gcc", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o",
		library, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const program = `
import ctypes, sys
sys.path.insert(0, "programs/runner")
import warm
warm.let_nvml_go()  # nothing is loaded
nvml = ctypes.CDLL(sys.argv[1])
for _ in range(3):
    nvml.nvmlInit()
warm.let_nvml_go()
print(nvml.times())
`
	if out, err := exec.CommandContext(t.Context(), debianPython, "-B", "-c", program,
		library).CombinedOutput(); err != nil || string(out) != "0\n" {
		t.Errorf("begun %s times, %v", out, err)
	}
}
