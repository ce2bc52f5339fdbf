package trial

import (
	"slices"

	"warpboard/evaluator/job"
)

// Ended is how a submission of a known verdict ended.
type Ended struct {
	Correct bool // it must pass; otherwise it must fail
	Outcome job.Outcome
	Stages  []job.StageResult
}

// Works reports whether it shows that the task itself can be built and run: a right one passed, or an answer was found
// wrong.
func (e Ended) Works() bool {
	return e.Correct && e.Outcome == job.OutcomeDone || e.FoundWrong()
}

// FoundWrong reports whether the task's check ran and found an answer wrong. Whatever else ends a wrong solution might
// end a right one, too: a task that does not compile, a reference that fails.
func (e Ended) FoundWrong() bool {
	for _, stage := range e.Stages {
		for _, c := range stage.Cases {
			if c.Status == job.StatusFail {
				return true
			}
		}
	}
	return false
}

// Judged reports whether the task got to judge it: it was built, and a stage ran it. What does not compile shows
// nothing of the task.
func (e Ended) Judged() bool {
	return slices.ContainsFunc(e.Stages, func(s job.StageResult) bool { return s.Stage != job.StageBuild })
}

// TaskFault is the failure of a stage that the task caused, not the solution; nil: there is none.
func (e Ended) TaskFault() *job.StageResult {
	for i, s := range e.Stages {
		if s.Failure != nil && (s.Failure.Task || s.Failure.ExitCode == job.ExitBadSpec) {
			return &e.Stages[i]
		}
	}
	return nil
}

// AsExpected reports whether it ended as it should. Works says that some submission showed that the task works: until
// then a wrong one may have failed by the task's fault.
func (e Ended) AsExpected(works bool) bool {
	if e.Correct {
		return e.Outcome == job.OutcomeDone
	}
	return e.Outcome == job.OutcomeFailed && works && e.Judged() && e.TaskFault() == nil
}
