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

// Works reports whether the submission shows that the task can be built and run: a correct one passed, or an answer was
// found wrong.
func (e Trial) Works() bool {
	return e.Correct && e.Outcome == OutcomeDone || e.FoundWrong()
}

// FoundWrong reports whether the task's check ran and found an answer wrong. Other failures of a wrong solution could
// also end a correct one: a task that does not compile, a reference that fails.
func (e Trial) FoundWrong() bool {
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

// TaskFault returns the stage that failed because of the task, or nil.
func (e Trial) TaskFault() *StageResult {
	for i, s := range e.Stages {
		if s.Failure != nil && (s.Failure.Task || s.Failure.ExitCode == ExitBadSpec) {
			return &e.Stages[i]
		}
	}
	return nil
}

// AsExpected reports whether the verdict is the known one. works means that some submission showed that the task works:
// until then a wrong one may have failed because of the task.
func (e Trial) AsExpected(works bool) bool {
	if e.Correct {
		return e.Outcome == OutcomeDone
	}
	return e.Outcome == OutcomeFailed && works && e.Judged() && e.TaskFault() == nil
}
