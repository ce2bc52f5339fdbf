package harness

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The judge queues copies of an answer's arrays before the release. If so many filled the driver's queue, the judge
// would wait forever.
func TestAnAnswerOfTooManyArraysOnADeviceIsRefused(t *testing.T) {
	n := newFakeGPU(t)
	writeAll(t, n.dir, testdata(t, "gpu/many.cpp"))
	many := n.build(t, "many", "-D__CUDACC__", "many.cpp")
	for arrays, want := range map[string]string{"500": "500\n",
		"501": "The answer cannot be read: it has more than 500 arrays on the device.\n"} {
		printed, err := exec.Command(many, arrays).Output()
		if diff := cmp.Diff(want, string(printed)); err != nil || diff != "" {
			t.Errorf("%v, want -, is +:\n%s", err, diff)
		}
	}
}

// The judge keeps freed memory for later calls. If inputs have random sizes, the runner would soon lack memory.
func TestTheJudgeKeepsNoMoreMemoryThanItUses(t *testing.T) {
	n := newFakeGPU(t)
	writeAll(t, n.dir, testdata(t, "gpu/pool.cpp"))
	program := n.build(t, "pool", "-D__CUDACC__", "pool.cpp")
	for _, tt := range []struct {
		least, most string
		allocations int
		times       float64
	}{
		{"100000", "100000", 3, 1.2},
		{"100000", "120000", 20, 2.2},
		{"1000", "100000", 600, 2.2},
	} {
		printed, err := exec.Command(program, tt.least, tt.most).Output()
		var allocations int
		var times float64
		_, scanned := fmt.Sscan(string(printed), &allocations, &times)
		if err != nil || scanned != nil || allocations > tt.allocations || times > tt.times {
			t.Errorf("sizes from %s to %s: %d allocations, %g times the memory in use, want at most %d and %g: %v, %v",
				tt.least, tt.most, allocations, times, tt.allocations, tt.times, err, scanned)
		}
	}
}
