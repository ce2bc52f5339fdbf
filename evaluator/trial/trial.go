package trial

import (
	"slices"

	"warpboard/evaluator/job"
)

// Result is a submission with a known verdict that has ended.
type Result struct {
	Correct bool // expected to pass; otherwise to fail
	Outcome job.Outcome
	Stages  []job.StageResult
}

// Works reports whether the submission shows that the task can be built and run: a correct one passed, or an answer was
// found wrong.
func (e Result) Works() bool {
	return e.Correct && e.Outcome == job.OutcomeDone || e.FoundWrong()
}

// FoundWrong reports whether the task's check ran and found an answer wrong. Other failures of a wrong solution could
// also end a correct one: a task that does not compile, a reference that fails.
func (e Result) FoundWrong() bool {
	for _, stage := range e.Stages {
		for _, c := range stage.Cases {
			if c.Status == job.StatusFail {
				return true
			}
		}
	}
	return false
}

// Judged reports whether the submission was built and a stage ran it. One that does not compile shows nothing about the
// task.
func (e Result) Judged() bool {
	return slices.ContainsFunc(e.Stages, func(s job.StageResult) bool { return s.Stage != job.StageBuild })
}

// TaskFault returns the stage that failed because of the task, or nil.
func (e Result) TaskFault() *job.StageResult {
	for i, s := range e.Stages {
		if s.Failure != nil && (s.Failure.Task || s.Failure.ExitCode == job.ExitBadSpec) {
			return &e.Stages[i]
		}
	}
	return nil
}

// AsExpected reports whether the verdict is the known one. works means that some submission showed that the task works:
// until then a wrong one may have failed because of the task.
func (e Result) AsExpected(works bool) bool {
	if e.Correct {
		return e.Outcome == job.OutcomeDone
	}
	return e.Outcome == job.OutcomeFailed && works && e.Judged() && e.TaskFault() == nil
}
