package views

import (
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/views/format"
)

// stateTagText returns the state for a tag, with the kind of a failure. Lists are public, so the text has no output of
// programs.
func (r RunCard) stateTagText() string {
	if how := r.failureWords(); how != "" {
		return format.UpperFirst(how)
	}
	return r.StateText()
}

// failureWords describes a failure in two words; "" if the run did not fail or was disqualified.
func (r RunCard) failureWords() string {
	if r.State != work.StateFailed || r.Failure == nil || r.isDisqualified() {
		return ""
	}
	return failureText(*r.Failure)
}

func failureText(f job.Failure) string {
	switch {
	case f.IsInfrastructureError:
		return "infrastructure error"
	case f.CausedByTask:
		return "the task failed"
	case f.Limit == "wall":
		return "time limit"
	case f.Limit != "":
		return f.Limit + " limit"
	case f.Stage == job.StageBuild:
		return "compile error"
	case f.Signal != "":
		return "crashed"
	case f.Stage == job.StageSanitize:
		return "findings"
	case f.Stage == job.StageSecret, f.ExitCode == job.ExitFailed:
		return "wrong answer"
	case f.ExitCode != 0:
		return "error"
	}
	return "failed"
}
