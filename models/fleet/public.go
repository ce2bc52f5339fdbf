package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	publicFailedReason   = "It failed; the admins of this site see why."
	publicDisabledReason = "Out of service; the admins of this site see why."
)

// WithoutPrivateReasons returns the worker without data for admins: the reasons of its failures, which are output of
// the machine and contain paths.
func (w Worker) WithoutPrivateReasons() Worker {
	w.SelfTestResults, w.Slots = slices.Clone(w.SelfTestResults), slices.Clone(w.Slots)
	for i, line := range w.SelfTestResults {
		if !line.Passed {
			w.SelfTestResults[i].Detail = publicFailedReason
		}
	}
	for i, slot := range w.Slots {
		if slot.DisabledReason != "" {
			w.Slots[i].DisabledReason = cmp.Or(slot.PublicReason, publicDisabledReason)
		}
	}
	if w.NoJobsReason != "" {
		w.NoJobsReason = w.publicReasonForNoJobs()
	}
	return w
}

// publicReasonForNoJobs returns the public reason why the worker takes no jobs: the names of the failed sandbox tests,
// or, without a failed test, that the tests are running.
func (w Worker) publicReasonForNoJobs() string {
	var failed []string
	for _, line := range w.SelfTestResults {
		if !line.Passed {
			failed = append(failed, line.Name)
		}
	}
	if len(failed) == 0 {
		return "The self-test of the sandbox is still running."
	}
	return fmt.Sprintf("The sandbox failed its self-test: %s. It takes jobs when that passes.", strings.Join(failed, ", "))
}
