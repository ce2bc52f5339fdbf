package views

import (
	"fmt"
	"slices"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/views/format"
)

// StageView is one stage of a run. Result is what is known: of a stage that goes on, its cases so far.
type StageView struct {
	Result  job.StageResult
	Total   int           // cases that it will have, when known
	Running bool          // goes on now
	Process int           // of several fresh processes, the one that goes on
	Least   int           // fresh processes that measure a score, where the time suffices; 0: it has no such processes
	For     time.Duration // how long it has gone on
	Limit   time.Duration // that it may take; 0: not known
	Now     string        // arguments of the case that runs now, when known
	Ended   bool          // has a result
	Skipped bool          // the run ended before it
	// Intervals are those of the cases' times, in the order of Result.Cases; nil if no fresh processes were measured.
	Intervals []boards.Interval
}

// stageNames names stages for people.
var stageNames = map[job.Stage]string{
	job.StageBuild:     "Build",
	job.StageTest:      "Test",
	job.StageBenchmark: "Benchmark",
	job.StageRanked:    "Ranked",
	job.StageSecret:    "Secret check",
	job.StageProfile:   "Profile",
	job.StageSanitize:  "Sanitize",
	job.StageValidate:  "Validation script",
}

// failed reports whether the stage ended, and not well.
func (s StageView) failed() bool {
	return s.Ended && s.Result.Status != job.StatusPass && s.Result.Status != job.StatusCancelled
}

// Name is the stage for people.
func (s StageView) Name() string {
	if name, ok := stageNames[s.Result.Stage]; ok {
		return name
	}
	return string(s.Result.Stage)
}

// clock says how long the stage has gone on, and how long it may.
func (s StageView) clock() string {
	text := fmt.Sprintf("%d s", int(s.For.Seconds()))
	if s.Limit > 0 {
		text += fmt.Sprintf(" of %d s", int(s.Limit.Seconds()))
	}
	return text
}

// class is the class of the stage's bar.
func (s StageView) class() string {
	switch {
	case s.Running:
		return "stage-now"
	case !s.Ended:
		return "stage-wait"
	case s.Result.Status == job.StatusPass:
		return "stage-pass"
	case s.Result.Status == job.StatusCancelled:
		return "stage-wait"
	default:
		return "stage-fail"
	}
}

// NextProcess begins a list of cases again when one is told again: it is another process's.
func (s *StageView) NextProcess(index int) {
	if slices.ContainsFunc(s.Result.Cases, func(c job.CaseResult) bool { return c.Index == index }) {
		s.Process, s.Result.Cases = max(s.Process, 1)+1, nil
	}
}

// Note is what the stage's bar says under its name.
func (s StageView) Note() string {
	done := len(s.Result.Cases)
	switch {
	case s.Running && s.Total > 0 && (s.Process > 1 || s.Least > 0):
		return fmt.Sprintf("%s, case %d of %d", s.process(), min(done+1, s.Total), s.Total)
	case s.Running && s.Total > 0:
		return fmt.Sprintf("%d of %d done", done, s.Total)
	case s.Running:
		return "running"
	case !s.Ended && s.Skipped:
		return "not reached"
	case !s.Ended:
		return "waiting"
	}
	took := format.Between(s.Result.Started, s.Result.Ended)
	if s.Result.Cached {
		took += ", cached"
	}
	if s.Result.Status != job.StatusPass {
		return s.Ending() + ", " + took
	}
	return took
}

// Ending names how the stage ended.
func (s StageView) Ending() string {
	if s.Result.Stage == job.StageSanitize && s.Result.Status == job.StatusFail {
		return "findings"
	}
	return statusWords(s.Result.Status)
}

// process says which process goes on, and of how many, as long as it is one of those that there are at least.
func (s StageView) process() string {
	now := max(s.Process, 1)
	if now > s.Least {
		return fmt.Sprintf("process %d", now)
	}
	return fmt.Sprintf("process %d of at least %d", now, s.Least)
}

// Summary heads the stage's table of cases.
func (s StageView) Summary() string {
	done, total := len(s.Result.Cases), max(s.Total, len(s.Result.Cases))
	passed := 0
	for _, c := range s.Result.Cases {
		if c.Status == job.StatusPass {
			passed++
		}
	}
	switch {
	case total == 0:
		return ""
	case s.Running && s.Result.Stage == job.StageRanked:
		return fmt.Sprintf("%d of %d so far; times appear when all processes have ended", done, total)
	case s.Running:
		return fmt.Sprintf("%d of %d so far", done, total)
	case passed == total:
		return format.Plural(total, "case", "cases") + " passed"
	default:
		return fmt.Sprintf("%d of %d cases passed", passed, total)
	}
}

// Timed reports whether the cases have times.
func (s StageView) Timed() bool {
	for _, c := range s.Result.Cases {
		if c.Mean > 0 {
			return true
		}
	}
	return false
}

// Open reports whether the stage's cases are shown at once: tests that passed need no reading.
func (s StageView) Open() bool {
	return s.Running || s.Timed() || s.failed()
}

// statusWords names how a case or stage ended.
func statusWords(status job.Status) string {
	switch status {
	case job.StatusPass:
		return "passed"
	case job.StatusFail:
		return "wrong answer"
	case job.StatusError:
		return "error"
	case job.StatusTimeout:
		return "too slow"
	case job.StatusLimit:
		return "over a limit"
	case job.StatusCancelled:
		return "cancelled"
	}
	return string(status)
}
