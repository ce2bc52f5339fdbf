package views

import (
	"fmt"
	"slices"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/views/format"
)

// StageView is one stage of a run. While the stage is running, Result has the cases that ended so far.
type StageView struct {
	Result        job.StageResult
	TotalCases    int           // total number of cases, if known
	IsRunning     bool          // the stage is running
	ProcessNumber int           // current one of several fresh processes
	MinProcesses  int           // minimum number of fresh processes for a score; 0 for stages without them
	Elapsed       time.Duration // running time so far
	TimeLimit     time.Duration // time limit; 0 if unknown
	CurrentCase   string        // arguments of the current case, if known
	HasResult     bool          // the stage has a result
	IsSkipped     bool          // the run ended before this stage
	// Intervals are the confidence intervals of the time of each case, in the order of Result.Cases; nil if only one
	// process was measured.
	Intervals []boards.Interval
}

// stageNames are the names of stages for people.
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

// hasFailed reports whether the stage ended with a failure.
func (s StageView) hasFailed() bool {
	return s.HasResult && s.Result.Status != job.StatusPass && s.Result.Status != job.StatusCancelled
}

// Name returns the stage's name for people.
func (s StageView) Name() string {
	if name, ok := stageNames[s.Result.Stage]; ok {
		return name
	}
	return string(s.Result.Stage)
}

// elapsedText formats the time for which the stage has been running, and its limit.
func (s StageView) elapsedText() string {
	text := fmt.Sprintf("%d s", int(s.Elapsed.Seconds()))
	if s.TimeLimit > 0 {
		text += fmt.Sprintf(" of %d s", int(s.TimeLimit.Seconds()))
	}
	return text
}

// cssClass returns the class of the stage's bar.
func (s StageView) cssClass() string {
	switch {
	case s.IsRunning:
		return "stage-now"
	case !s.HasResult:
		return "stage-wait"
	case s.Result.Status == job.StatusPass:
		return "stage-pass"
	case s.Result.Status == job.StatusCancelled:
		return "stage-wait"
	default:
		return "stage-fail"
	}
}

// StartNextProcess begins a new list of cases if the case with this index already has a result, because then the next
// process has started.
func (s *StageView) StartNextProcess(index int) {
	if slices.ContainsFunc(s.Result.Cases, func(c job.CaseResult) bool { return c.Index == index }) {
		s.ProcessNumber, s.Result.Cases = max(s.ProcessNumber, 1)+1, nil
	}
}

// BarNote returns the text below the name on the stage's bar.
func (s StageView) BarNote() string {
	done := len(s.Result.Cases)
	switch {
	case s.IsRunning && s.TotalCases > 0 && (s.ProcessNumber > 1 || s.MinProcesses > 0):
		return fmt.Sprintf("%s, case %d of %d", s.processText(), min(done+1, s.TotalCases), s.TotalCases)
	case s.IsRunning && s.TotalCases > 0:
		return fmt.Sprintf("%d of %d done", done, s.TotalCases)
	case s.IsRunning:
		return "running"
	case !s.HasResult && s.IsSkipped:
		return "not reached"
	case !s.HasResult:
		return "waiting"
	}
	took := format.TimeBetween(s.Result.StartedAt, s.Result.EndedAt)
	if s.Result.FromCache {
		took += ", cached"
	}
	if s.Result.Status != job.StatusPass {
		return s.EndingText() + ", " + took
	}
	return took
}

// EndingText describes the end of the stage.
func (s StageView) EndingText() string {
	if s.Result.Stage == job.StageSanitize && s.Result.Status == job.StatusFail {
		return "findings"
	}
	return statusText(s.Result.Status)
}

// processText returns the number of the current process, and the minimum number of processes unless it is exceeded.
func (s StageView) processText() string {
	now := max(s.ProcessNumber, 1)
	if now > s.MinProcesses {
		return fmt.Sprintf("process %d", now)
	}
	return fmt.Sprintf("process %d of at least %d", now, s.MinProcesses)
}

// Summary returns the heading of the stage's table of cases.
func (s StageView) Summary() string {
	done, total := len(s.Result.Cases), max(s.TotalCases, len(s.Result.Cases))
	passed := 0
	for _, c := range s.Result.Cases {
		if c.Status == job.StatusPass {
			passed++
		}
	}
	switch {
	case total == 0:
		return ""
	case s.IsRunning && s.Result.Stage == job.StageRanked:
		return fmt.Sprintf("%d of %d so far; times appear when all processes have ended", done, total)
	case s.IsRunning:
		return fmt.Sprintf("%d of %d so far", done, total)
	case passed == total:
		return format.Plural(total, "case", "cases") + " passed"
	default:
		return fmt.Sprintf("%d of %d cases passed", passed, total)
	}
}

// HasTimes reports whether the cases of the stage have times.
func (s StageView) HasTimes() bool {
	for _, c := range s.Result.Cases {
		if c.Mean > 0 {
			return true
		}
	}
	return false
}

// CasesStartOpen reports whether the cases of the stage are open at first; passed tests are not.
func (s StageView) CasesStartOpen() bool {
	return s.IsRunning || s.HasTimes() || s.hasFailed()
}

// statusText describes the end of a case or stage.
func statusText(status job.Status) string {
	switch status {
	case job.StatusPass:
		return "passed"
	case job.StatusFail:
		return "wrong answer"
	case job.StatusError:
		return "error"
	case job.StatusTimeout:
		return "too slow"
	case job.StatusLimitExceeded:
		return "over a limit"
	case job.StatusCancelled:
		return "cancelled"
	}
	return string(status)
}
