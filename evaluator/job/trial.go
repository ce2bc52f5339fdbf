package job

import (
	"slices"
)

// SolutionTrial is an ended run of a submission whose verdict is known in advance.
type SolutionTrial struct {
	ShouldPass bool // true if the submission must pass, false if it must fail
	Outcome    Outcome
	Stages     []StageResult
}

// ShowsTaskWorks reports whether the trial shows that the task can be built and run: a correct submission passed, or a
// wrong answer was found.
func (e SolutionTrial) ShowsTaskWorks() bool {
	return e.ShouldPass && e.Outcome == OutcomePassed || e.AnswerFoundWrong()
}

// AnswerFoundWrong reports whether the task's check ran and found a wrong answer. Other failures do not show that the
// check works, because they could also end a correct submission: a task that does not compile, a failing reference.
func (e SolutionTrial) AnswerFoundWrong() bool {
	for _, stage := range e.Stages {
		for _, c := range stage.Cases {
			if c.Status == StatusFail {
				return true
			}
		}
	}
	return false
}

// WasJudged reports whether the submission was built and ran in a stage. A submission that does not compile shows
// nothing about the task.
func (e SolutionTrial) WasJudged() bool {
	return slices.ContainsFunc(e.Stages, func(s StageResult) bool { return s.Stage != StageBuild })
}

// StageWithTaskFault returns the stage that failed because of the task, or nil.
func (e SolutionTrial) StageWithTaskFault() *StageResult {
	for i, s := range e.Stages {
		if s.Failure != nil && (s.Failure.CausedByTask || s.Failure.ExitCode == ExitBadSpec) {
			return &e.Stages[i]
		}
	}
	return nil
}

// HasExpectedVerdict reports whether the verdict is the expected one. works means that some trial showed that the task
// works; without one, a wrong submission may have failed because of the task.
func (e SolutionTrial) HasExpectedVerdict(works bool) bool {
	if e.ShouldPass {
		return e.Outcome == OutcomePassed
	}
	return e.Outcome == OutcomeFailed && works && e.WasJudged() && e.StageWithTaskFault() == nil
}
