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

// Public returns the parts of the worker that everyone may see: its failures and their consequences. The reasons are
// output of a machine, with paths, and only for admins.
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

// refusingPublic names the sandbox tests that failed. While none has failed, they are running.
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
