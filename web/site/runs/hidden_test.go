package runs

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
)

// TestACaseOfAPrivateRunNamesNoKernels checks events of a run whose source is hidden. Nsight Compute's message about a
// case names the kernels, so it must be removed.
func TestACaseOfAPrivateRunNamesNoKernels(t *testing.T) {
	hidden := NewRedactor(tasks.Definition{Lang: tasks.LangCUDA})
	for _, stage := range []job.Stage{job.StageProfile, job.StageSanitize} {
		e := work.RunEvent{Event: &job.Event{Stage: stage,
			Case: &job.CaseResult{Message: "No kernel matched the filter. These kernels ran: secret_v7."}}}
		if got := hidden.RedactEvent(e); got.Event.Case.Message != "" {
			t.Errorf("%s: %q", stage, got.Event.Case.Message)
		}
		if e.Event.Case.Message == "" {
			t.Errorf("%s: the event that others share was changed", stage)
		}
	}
}
