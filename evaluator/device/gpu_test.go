package device

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCPUModelNameIsReadFromEveryKindOfCpuinfo(t *testing.T) {
	for cpuinfo, want := range map[string]string{
		"processor\t: 0\nmodel name\t: AMD EPYC  7B13 \nflags\t: a\nmodel name\t: other\n": "AMD EPYC 7B13",
		"processor\t: 0\nBogoMIPS\t: 50\n":                                                 "CPU (amd64)",
	} {
		if got := cpuModelName(cpuinfo); got != want {
			t.Errorf("modelName(%q) = %q, want %q", cpuinfo, got, want)
		}
	}
}

func TestThrottleReasonsAreNamed(t *testing.T) {
	for bits, want := range map[uint64]string{
		0: "none", 1: "none", 4: "power cap", 0x48: "hardware slowdown, hardware thermal slowdown",
		0x1001: "unknown reasons 0x1000",
	} {
		if got := throttleReasonText(bits); got != want {
			t.Errorf("throttleReasons(%#x) = %q, want %q", bits, got, want)
		}
	}
}

func TestLibraryIsFoundInTheFirstDirectoryThatHasIt(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "libcuda.so.1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := findLibraryDir("libcuda.so.1", []string{"", empty, full}); got != full {
		t.Errorf("found in %q", got)
	}
	if got := findLibraryDir("libcuda.so.1", []string{empty}); got != "" {
		t.Errorf("found in %q", got)
	}
}

func TestOnlySettingsOfLinksReachPrograms(t *testing.T) {
	environ := []string{"NCCL_NVLS_ENABLE=0", "PATH=/bin", "TORCH_SYMM_MEM_DISABLE_MULTICAST=1",
		"WARPBOARD_NATS_TOKEN=secret", "NCCL_ALGO=a=b", "MY_NCCL_ALGO=1", "NCCL_SOCKET_IFNAME=eth0",
		"NCCL_TOPO_FILE=/x", "TORCH_HOME=/x"}
	want := map[string]string{"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NCCL_ALGO": "a=b"}
	if diff := cmp.Diff(want, gpuLinkEnv(environ)); diff != "" {
		t.Error(diff)
	}
}
