package job

import (
	"slices"
)

// Trial is a submission with a known verdict that has ended.
type Trial struct {
	Correct bool // expected to pass; otherwise to fail
	Outcome Outcome
	Stages  []StageResult
}

// ShowsTaskWorks reports whether the submission shows that the task can be built and run: a correct one passed, or an
// answer was found wrong.
func (e Trial) ShowsTaskWorks() bool {
	return e.Correct && e.Outcome == OutcomeDone || e.AnswerFoundWrong()
}

// AnswerFoundWrong reports whether the task's check ran and found an answer wrong. Other failures of a wrong solution
// could also end a correct one: a task that does not compile, a reference that fails.
func (e Trial) AnswerFoundWrong() bool {
	for _, stage := range e.Stages {
		for _, c := range stage.Cases {
			if c.Status == StatusFail {
				return true
			}
		}
	}
	return false
}

// Judged reports whether the submission was built and a stage ran it. One that does not compile shows nothing about the
// task.
func (e Trial) Judged() bool {
	return slices.ContainsFunc(e.Stages, func(s StageResult) bool { return s.Stage != StageBuild })
}

// StageWithTaskFault returns the stage that failed because of the task, or nil.
func (e Trial) StageWithTaskFault() *StageResult {
	for i, s := range e.Stages {
		if s.Failure != nil && (s.Failure.CausedByTask || s.Failure.ExitCode == ExitBadSpec) {
			return &e.Stages[i]
		}
	}
	return nil
}

// HasExpectedVerdict reports whether the verdict is the known one. works means that some submission showed that the
// task works: until then a wrong one may have failed because of the task.
func (e Trial) HasExpectedVerdict(works bool) bool {
	if e.Correct {
		return e.Outcome == OutcomeDone
	}
	return e.Outcome == OutcomeFailed && works && e.Judged() && e.StageWithTaskFault() == nil
}
