package views

import (
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/views/format"
)

// listedState is a run's state for lists, which have no card that says how it failed. Lists are public: it holds no word of a
// compiler or a program.
func listedState(run work.Run) string {
	card := RunCard{Run: run}
	if run.State != work.StateFailed || run.Failure == nil || card.disqualified() {
		return card.Label()
	}
	return format.Capital(failedHow(*run.Failure))
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
