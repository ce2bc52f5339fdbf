package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator/harness/pairtest"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// newFakeGPU returns the CUDA harness with a fake device, which consists of host threads and host memory.
func newFakeGPU(t *testing.T) native {
	t.Helper()
	n := native{t.TempDir()}
	writeAll(t, n.dir, Sources(tasks.ProtocolEval, tasks.LangCUDA))
	writeAll(t, n.dir, testdata(t, "gpu/cuda_runtime.h", "gpu/cuda.h", "gpu/task.h", "gpu/reference.h",
		"gpu/submissions.cpp"))
	if err := os.Mkdir(filepath.Join(n.dir, "nvtx3"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeAll(t, filepath.Join(n.dir, "nvtx3"), testdata(t, "gpu/nvToolsExt.h"))
	return n
}

const gpuFlags = "-D__CUDACC__ -x c++"

// field returns the value of a key in the report, or an empty string.
func field(report, key string) string {
	for line := range strings.Lines(report) {
		if k, v, _ := strings.Cut(line, ": "); k == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Each way is a behavior of the submission, in the order of submissions.cpp.
func TestCallsOfAGPUAreGatedAndTimedByThreeClocks(t *testing.T) {
	tier.Needs(t, tier.Timed)
	n := newFakeGPU(t)
	flags := strings.Fields(gpuFlags)
	n.buildAll(t, map[string][]string{
		"judge":    slices.Concat(flags, []string{"eval.cu"}),
		"runner.o": slices.Concat(flags, []string{"-c", "warpboard_runner.cu"}),
	})
	judge, runner := n.program("judge"),
		n.build(t, "runner", "-D__CUDACC__", "-DWARPBOARD_SUBMISSION", "runner.o", "submissions.cpp")
	ways := []string{"in_place", "own_answer", "apart_answer", "many_buffers", "host_wait", "side_joined",
		"side_stream", "stale", "copied_before"}
	const plain = "size: 1000; moving: 0; broken: no; seed: 1\n"
	// Two checks may need several tries. Which clock counts depends on device threads that compete with other tests for
	// processors. And a submission that copies before the release copies wrong data only if its thread gets a processor
	// in time. All other checks must pass at the first try.
	tries := func(way, key string) int {
		if way == "copied_before" || strings.HasSuffix(key, ".clock") {
			return 5
		}
		return 1
	}
	for _, tt := range []struct {
		way, mode, cases string
		judge            int
		key, value       string
	}{
		{"in_place", "leaderboard", plain, 0, "check", "pass"},
		{"in_place", "profile", plain, 0, "check", "pass"},
		{"own_answer", "test", plain, 0, "test.0.numerics.elements", "1000"},
		{"apart_answer", "test", plain, 0, "check", "pass"},
		{"many_buffers", "test", "size: 300000; moving: 0; broken: no; seed: 1\n", 0, "test.0.numerics.note",
			"reference_fp64 failed: too many"},
		{"host_wait", "leaderboard", plain, 0, "check", "pass"},
		{"side_joined", "test", plain, 0, "check", "pass"},
		// the kernel may still run when the answer is copied
		{"side_stream", "leaderboard", plain, 112, "check", "fail"},
		{"in_place", "benchmark", "size: 1000; moving: 1; broken: no; seed: 1\n", 0, "check", "pass"},
		{"stale", "test", plain, 112, "check", "fail"},
		// A smaller input would be encrypted as a whole until the release, so there would be nothing to copy.
		{"copied_before", "test", "size: 1000000; moving: 0; broken: no; seed: 1\n", 112, "check", "fail"},
		{"in_place", "test", "size: 777; moving: 0; broken: no; seed: 1\n", 117, "task",
			"check_implementation failed: an odd size"},
		// In a ranked stage the tests have passed, so the submission is responsible for a failure of the checker.
		{"in_place", "leaderboard", "size: 777; moving: 0; broken: no; seed: 1\n", 112, "benchmark.0.error",
			"check_implementation failed: an odd size"},
		{"in_place", "test", "size: 1000; moving: 0; broken: generator; seed: 1\n", 117, "task",
			"generate_input failed: no such luck"},
		{"in_place", "test", "size: 1000; moving: 0; broken: memory; seed: 1\n", 117, "task",
			"generate_input failed: the device has no 4398046511104 bytes left beside the submission's process (1073741824 of 1073741824 are free)"},
	} {
		t.Run(tt.way+"/"+tt.mode+"/"+tt.value, func(t *testing.T) {
			var r pairtest.Result
			good := false
			for try := 0; try < tries(tt.way, tt.key) && !good; try++ {
				r = pairtest.Run(t, judge, runner, tt.mode, tt.cases, fmt.Sprint("WAY=", slices.Index(ways, tt.way)))
				good = r.Judge.ExitCode() == tt.judge && field(r.Report, tt.key) == tt.value
			}
			if !good {
				t.Errorf("judge: %v, runner: %v; want exit code %d and %s: %s\n%s\n%s", r.Judge, r.Runner, tt.judge,
					tt.key, tt.value, r.Report, r.Stderr)
			}
		})
	}
}

// AddressSanitizer replaces compute-sanitizer here, because the fake device's memory is host memory.
func TestArraysSetApartEndWhereASanitizerSeesIt(t *testing.T) {
	tier.Needs(t, tier.Judge)
	n := newFakeGPU(t)
	flags := append(strings.Fields(gpuFlags), "-fsanitize=address")
	n.buildAll(t, map[string][]string{
		"judge":    append(strings.Fields(gpuFlags), "eval.cu"),
		"runner.o": slices.Concat(flags, []string{"-c", "warpboard_runner.cu"}),
	})
	runner := n.build(t, "runner", "-D__CUDACC__", "-DWARPBOARD_SUBMISSION", "-fsanitize=address", "runner.o",
		"submissions.cpp")
	const inPlace, ownAnswer, overrun = "WAY=0", "WAY=1", "WAY=9"
	for _, tt := range []struct {
		way, apart string
		judge      int
		says       string
	}{
		{inPlace, "WARPBOARD_APART=1", 0, ""},
		{ownAnswer, "WARPBOARD_APART=1", 0, ""},
		{overrun, "WITHOUT=1", 0, ""}, // not detected: the shared region continues behind the array
		{overrun, "WARPBOARD_APART=1", 115, "heap-buffer-overflow"},
	} {
		r := pairtest.Run(t, n.program("judge"), runner, "test", "size: 1000; moving: 0; broken: no; seed: 1\n", tt.way,
			tt.apart, "ASAN_OPTIONS=detect_leaks=0")
		if r.Judge.ExitCode() != tt.judge || !strings.Contains(r.Stderr, tt.says) {
			t.Errorf("%s %s: judge: %v, want exit code %d and %q\n%s\n%s", tt.way, tt.apart, r.Judge, tt.judge, tt.says,
				r.Report, r.Stderr)
		}
	}
}
