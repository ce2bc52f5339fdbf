package runs

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// TestAFailedStageCountsAllCasesOfItsTask: a crash in the first of five cases is not "0 of 1".
func TestAFailedStageCountsAllCasesOfItsTask(t *testing.T) {
	def := tasks.Definition{Lang: tasks.LangPython, Tests: make([]tasks.Case, 5)}
	for want, ended := range map[string]job.StageResult{
		"0 of 5 cases passed": {Stage: job.StageTest, Status: job.StatusTimeout, Cases: []job.CaseResult{{Status: job.StatusTimeout}}},
		"1 case passed":       {Stage: job.StageTest, Status: job.StatusPass, Cases: []job.CaseResult{{Status: job.StatusPass}}},
	} {
		if got := mergeStages(def, job.ModeTest, []job.StageResult{ended}, nil, true)[0].Summary(); got != want {
			t.Errorf("the stage says %q, want %q", got, want)
		}
	}
}
