package job

import (
	"testing"
)

// TestAWrongSolutionCountsAsFoundOnlyWhereTheTaskWorks checks that a wrong solution does not count as detected if it
// failed because of the task.
func TestAWrongSolutionCountsAsFoundOnlyWhereTheTaskWorks(t *testing.T) {
	wrong := []StageResult{{Stage: StageTest,
		Cases: []CaseResult{{Status: StatusPass}, {Status: StatusFail}}}}
	broken := []StageResult{{Stage: StageBuild, Status: StatusError}}
	crashed := []StageResult{{Stage: StageBuild, Status: StatusPass},
		{Stage: StageTest, Status: StatusError}}
	unread := []StageResult{{Stage: StageTest, Status: StatusError,
		Failure: &Failure{ExitCode: ExitBadSpec}}}
	for name, c := range map[string]struct {
		e SolutionTrial
		// Results of ShowsTaskWorks, HasExpectedVerdict(true), and HasExpectedVerdict(false).
		works, expected, alone bool
	}{
		"right, passes":          {SolutionTrial{true, OutcomePassed, nil}, true, true, true},
		"right, fails":           {SolutionTrial{true, OutcomeFailed, broken}, false, false, false},
		"wrong, found":           {SolutionTrial{false, OutcomeFailed, wrong}, true, true, false},
		"wrong, crashes":         {SolutionTrial{false, OutcomeFailed, crashed}, false, true, false},
		"wrong, does not build":  {SolutionTrial{false, OutcomeFailed, broken}, false, false, false},
		"wrong, the task fails":  {SolutionTrial{false, OutcomeFailed, unread}, false, false, false},
		"wrong, passes":          {SolutionTrial{false, OutcomePassed, nil}, false, false, false},
		"wrong, was not run out": {SolutionTrial{false, OutcomeCancelled, nil}, false, false, false},
	} {
		if c.e.ShowsTaskWorks() != c.works || c.e.HasExpectedVerdict(true) != c.expected || c.e.HasExpectedVerdict(false) != c.alone {
			t.Errorf("%s: works %v, as expected %v and %v", name, c.e.ShowsTaskWorks(), c.e.HasExpectedVerdict(true),
				c.e.HasExpectedVerdict(false))
		}
	}
}
