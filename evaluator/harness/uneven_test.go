package harness

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kernel whose time depends on its input must not profit from reporting the time of its fastest quarter for every
// call.
func TestAClockThatShowsTheQuickerInputsDoesNotCount(t *testing.T) {
	n := newNative(t, testdata(t, "uneven.cpp"))
	printed, err := exec.Command(n.build(t, "uneven", "uneven.cpp")).Output()
	want := "a quarter: wall, 115 µs on average\nhonest: event, 117 µs on average\nhonest on a busy machine: event, 117 µs on average\n"
	if diff := cmp.Diff(want, string(printed)); err != nil || diff != "" {
		t.Errorf("%v, want -, is +:\n%s", err, diff)
	}
}
