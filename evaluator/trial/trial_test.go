package trial

import (
	"testing"

	"warpboard/evaluator/job"
)

// A wrong solution that fails because of the task must not count as found by the check.
func TestAWrongSolutionCountsAsFoundOnlyWhereTheTaskWorks(t *testing.T) {
	wrong := []job.StageResult{{Stage: job.StageTest,
		Cases: []job.CaseResult{{Status: job.StatusPass}, {Status: job.StatusFail}}}}
	broken := []job.StageResult{{Stage: job.StageBuild, Status: job.StatusError}}
	crashed := []job.StageResult{{Stage: job.StageBuild, Status: job.StatusPass},
		{Stage: job.StageTest, Status: job.StatusError}}
	unread := []job.StageResult{{Stage: job.StageTest, Status: job.StatusError,
		Failure: &job.Failure{ExitCode: job.ExitBadSpec}}}
	for name, c := range map[string]struct {
		e                      Result
		works, expected, alone bool // works by itself; as expected where some solution works, and where none does
	}{
		"right, passes":          {Result{true, job.OutcomeDone, nil}, true, true, true},
		"right, fails":           {Result{true, job.OutcomeFailed, broken}, false, false, false},
		"wrong, found":           {Result{false, job.OutcomeFailed, wrong}, true, true, false},
		"wrong, crashes":         {Result{false, job.OutcomeFailed, crashed}, false, true, false},
		"wrong, does not build":  {Result{false, job.OutcomeFailed, broken}, false, false, false},
		"wrong, the task fails":  {Result{false, job.OutcomeFailed, unread}, false, false, false},
		"wrong, passes":          {Result{false, job.OutcomeDone, nil}, false, false, false},
		"wrong, was not run out": {Result{false, job.OutcomeCancelled, nil}, false, false, false},
	} {
		if c.e.Works() != c.works || c.e.AsExpected(true) != c.expected || c.e.AsExpected(false) != c.alone {
			t.Errorf("%s: works %v, as expected %v and %v", name, c.e.Works(), c.e.AsExpected(true),
				c.e.AsExpected(false))
		}
	}
}
