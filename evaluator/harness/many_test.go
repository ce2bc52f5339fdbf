package harness

import (
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
