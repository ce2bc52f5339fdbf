package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	failedPublic   = "It failed; the admins of this site see why."
	disabledPublic = "Out of service; the admins of this site see why."
)

// Public returns the worker without data for admins: the reasons of its failures, which are output of the machine and
// contain paths.
func (w Worker) Public() Worker {
	w.SelfTest, w.Slots = slices.Clone(w.SelfTest), slices.Clone(w.Slots)
	for i, line := range w.SelfTest {
		if !line.OK {
			w.SelfTest[i].Detail = failedPublic
		}
	}
	for i, slot := range w.Slots {
		if slot.DisabledReason != "" {
			w.Slots[i].DisabledReason = cmp.Or(slot.PublicReason, disabledPublic)
		}
	}
	if w.Refusing != "" {
		w.Refusing = w.refusingPublic()
	}
	return w
}

// refusingPublic names the failed sandbox tests. Without a failed test it says that they are running.
func (w Worker) refusingPublic() string {
	var failed []string
	for _, line := range w.SelfTest {
		if !line.OK {
			failed = append(failed, line.Name)
		}
	}
	if len(failed) == 0 {
		return "The self-test of the sandbox is still running."
	}
	return fmt.Sprintf("The sandbox failed its self-test: %s. It takes jobs when that passes.", strings.Join(failed, ", "))
}
