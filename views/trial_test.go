package views

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/evaluator/trial"
)

// TestATrialCountsOnlyWhatTheTaskJudged: a wrong solution that does not compile shows nothing of a task's check.
func TestATrialCountsOnlyWhatTheTaskJudged(t *testing.T) {
	for _, c := range []struct {
		stage job.Stage
		works bool
		word  string
		bad   bool
	}{
		{job.StageTest, true, "rejected, as expected", false},
		{job.StageTest, false, "failed, but nothing shows that the task works", true},
		{job.StageBuild, true, "failed before the task judged it", true},
		{job.StageBuild, false, "failed, but nothing shows that the task works", true},
	} {
		row := TrialRow{Tried: true, Ended: true, Reason: "it failed", Works: c.works,
			Trial: trial.Ended{Outcome: job.OutcomeFailed, Stages: []job.StageResult{{Stage: c.stage, Status: job.StatusError}}}}
		if word, bad := row.verdict(); word != c.word || bad != c.bad {
			t.Errorf("failed in %s, works %v: %q, %v", c.stage, c.works, word, bad)
		}
	}
}

// TestASolutionThatTheTaskFailedIsInconclusive: it was neither accepted nor rejected.
func TestASolutionThatTheTaskFailedIsInconclusive(t *testing.T) {
	for _, correct := range []bool{true, false} {
		ended := trial.Ended{Correct: correct, Outcome: job.OutcomeFailed,
			Stages: []job.StageResult{{Stage: job.StageTest, Status: job.StatusError, Failure: &job.Failure{ExitCode: 113}}}}
		row := TrialRow{Tried: true, Ended: true, Correct: correct, Works: true, Reason: "exit code 113", Lacks: "case 1 lacks `seed`", Trial: ended}
		if word, bad := row.verdict(); word != "inconclusive: case 1 lacks `seed`" || !bad {
			t.Errorf("correct %v: %q, %v", correct, word, bad)
		}
		row.Lacks = ""
		if word, bad := row.verdict(); word != "inconclusive: the task failed" || !bad {
			t.Errorf("correct %v, without the argument: %q, %v", correct, word, bad)
		}
	}
}
