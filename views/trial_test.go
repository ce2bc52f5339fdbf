package views

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// TestATrialCountsOnlyWhatTheTaskJudged checks that a wrong solution that does not compile does not count as rejected
// by the task's tests.
func TestATrialCountsOnlyWhatTheTaskJudged(t *testing.T) {
	for _, c := range []struct {
		stage job.Stage
		works bool
		word  string
		bad   bool
	}{
		{job.StageTest, true, "rejected, as expected", false},
		{job.StageTest, false, "failed, but no correct solution passes", true},
		{job.StageBuild, true, "failed before the task judged it", true},
		{job.StageBuild, false, "failed, but no correct solution passes", true},
	} {
		row := TrialRow{ProvesTaskWorks: c.works, TrialRun: TrialRun{WasTried: true, HasEnded: true,
			Reason: "it failed",
			Trial: job.SolutionTrial{Outcome: job.OutcomeFailed,
				Stages: []job.StageResult{{Stage: c.stage, Status: job.StatusError}}}}}
		if word, bad := row.verdictText(); word != c.word || bad != c.bad {
			t.Errorf("failed in %s, works %v: %q, %v", c.stage, c.works, word, bad)
		}
	}
}

// TestASolutionThatTheTaskFailedIsInconclusive checks the verdict if the task's program fails: the solution was neither
// accepted nor rejected.
func TestASolutionThatTheTaskFailedIsInconclusive(t *testing.T) {
	for _, correct := range []bool{true, false} {
		ended := job.SolutionTrial{ShouldPass: correct, Outcome: job.OutcomeFailed,
			Stages: []job.StageResult{{Stage: job.StageTest, Status: job.StatusError,
				Failure: &job.Failure{ExitCode: 113}}}}
		row := TrialRow{IsCorrectSolution: correct, ProvesTaskWorks: true, MissingArgument: "case 1 lacks `seed`",
			TrialRun: TrialRun{WasTried: true, HasEnded: true, Reason: "exit code 113", Trial: ended}}
		if word, bad := row.verdictText(); word != "inconclusive: case 1 lacks `seed`" || !bad {
			t.Errorf("correct %v: %q, %v", correct, word, bad)
		}
		row.MissingArgument = ""
		if word, bad := row.verdictText(); word != "inconclusive: the task failed" || !bad {
			t.Errorf("correct %v, without the argument: %q, %v", correct, word, bad)
		}
	}
}

// TestTheFirstWrongAnswerProvesASolutionWrong checks that only the first wrong answer of a wrong solution is marked as
// its detection.
func TestTheFirstWrongAnswerProvesASolutionWrong(t *testing.T) {
	stage := job.StageResult{Stage: job.StageTest, Cases: []job.CaseResult{
		{Index: 0, Status: job.StatusPass},
		{Index: 1, Status: job.StatusFail, Message: "element 3: expected 2, got 1\nmore"},
		{Index: 2, Status: job.StatusFail, Message: "x"}}}
	page := TrialPage{Tests: []tasks.Case{{{Name: "n", Value: "1"}}, {{Name: "n", Value: "2"}},
		{{Name: "n", Value: "3"}}}, Benchmarks: []tasks.Case{{{Name: "n", Value: "9"}}}}
	row := TrialRow{TrialRun: TrialRun{WasTried: true, HasEnded: true,
		Trial: job.SolutionTrial{Outcome: job.OutcomeFailed, Stages: []job.StageResult{stage}}}}
	cells := page.rowCells(row)
	if len(cells) != 4 || cells[0].IsFirstDetection || !cells[1].IsFirstDetection || cells[2].IsFirstDetection ||
		cells[3].CaseStatus != "" {
		t.Errorf("%+v", cells)
	}
	if why := row.verdictReason(cells); why != "Proved wrong by test 1 (n: 2): element 3: expected 2, got 1" {
		t.Error(why)
	}
	row.IsCorrectSolution = true
	if cells := page.rowCells(row); cells[1].IsFirstDetection ||
		row.verdictReason(cells) != "Failed test 1 (n: 2): element 3: expected 2, got 1" {
		t.Errorf("of a correct one: %q", row.verdictReason(cells))
	}
}

func TestExpectedAndGotAreFoundInMessages(t *testing.T) {
	for message, want := range map[string][2]string{
		"element 3: expected 0.5, got 0.25":                                        {"0.5", "0.25"},
		"mismatch at (17, 480): expected 128.25, got 127.75\n41 differ":            {"128.25", "127.75"},
		"Number of mismatched elements: 2; ERROR AT (0, 1): expected 1.0, got nan": {"1.0", "nan"},
		"got 3 but expected 4":                                                     {"4", "3"},
		"the output has 3 elements":                                                {"", ""},
	} {
		if expected, got := expectedAndGot(message); [2]string{expected, got} != want {
			t.Errorf("%q: %q, %q", message, expected, got)
		}
	}
}
