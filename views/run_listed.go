package views

import (
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/views/format"
)

// tagText is the state for a tag, and how a run failed. Lists are public: it holds no word of a compiler or a program.
func (r RunCard) tagText() string {
	if how := r.failedHow(); how != "" {
		return format.Capital(how)
	}
	return r.Label()
}

// failedHow says in two words how the run failed; empty: it did not, or an admin disqualified it.
func (r RunCard) failedHow() string {
	if r.State != work.StateFailed || r.Failure == nil || r.disqualified() {
		return ""
	}
	return failedHow(*r.Failure)
}

func failedHow(f job.Failure) string {
	switch {
	case f.Infrastructure:
		return "infrastructure error"
	case f.Task:
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
