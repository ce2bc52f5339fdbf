package views

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/tasks"
	"warpboard/views/format"
)

// TrialPage shows the results of a task's solutions.
type TrialPage struct {
	Page
	Task               TaskRef
	IsHiddenDraft      bool      // a draft that only its author and admins see
	UnpublishedChanges bool      // unpublished changes of a published task
	OpensAt            time.Time // start of the event that publishes the draft; zero if there is none
	UntriedReason      string    // reason for not having tried anything; empty after the first trial
	MissingPackages    string    // required packages that no worker has: "a worker that has …"; empty for none
	Deadline           Deadline
	DescriptionCopied  bool // the description is still the starter's
	Tests              []tasks.Case
	Benchmarks         []tasks.Case
	Rows               []TrialRow
}

// TrialRow is a solution with its verdict.
type TrialRow struct {
	Name              string
	IsCorrectSolution bool
	IsMadeBySite      bool // mutant: the site changed a correct solution to make it wrong
	IsStarter         bool // a template, which must compile
	TrialRun
	TimedRun        *TrialRun // run of the benchmarks; nil if they are not run
	MissingArgument string    // missing argument of a case: "case 1 lacks `seed`"
	ProvesTaskWorks bool      // a solution shows that the task works
}

// TrialRun is one run of a solution.
type TrialRun struct {
	WasTried, HasEnded bool
	SubmissionID       int64
	State              string
	Reason             string // reason of its failure
	Trial              job.SolutionTrial
}

// caseColumn is a case of the task.
type caseColumn struct {
	Stage job.Stage
	Index int
	Case  tasks.Case
}

func (c caseColumn) caseKind() string {
	if c.Stage == job.StageBenchmark {
		return "benchmark"
	}
	return "test"
}

func (c caseColumn) caseName() string { return fmt.Sprintf("%s %d", c.caseKind(), c.Index) }

// trialCell is the result of a solution on a case; the status is "" if the solution did not run on it.
type trialCell struct {
	caseColumn
	CaseStatus       job.Status
	Message          string
	TimeNS           float64 // nanoseconds per call; 0 if not timed
	IsFirstDetection bool    // first case that detects a wrong solution
	SubmissionID     int64
}

func (c trialCell) statusLabel() string {
	if c.IsFirstDetection {
		return "Failed " + c.caseName() + ", which proves it wrong: expected and got"
	}
	return "Failed " + c.caseName() + ": expected and got"
}

func (p TrialPage) caseColumns() (list []caseColumn) {
	for i, c := range p.Tests {
		list = append(list, caseColumn{job.StageTest, i, c})
	}
	for i, c := range p.Benchmarks {
		list = append(list, caseColumn{job.StageBenchmark, i, c})
	}
	return list
}

// maxMessageLetters limits the message of a checker in a cell, in characters; the page of the run has all of it.
const maxMessageLetters = 600

// rowCells returns a row's cells, one for each column.
func (p TrialPage) rowCells(r TrialRow) []trialCell {
	columns := p.caseColumns()
	cells, proved := make([]trialCell, len(columns)), false
	for i, col := range columns {
		cells[i].caseColumn = col
		run := &r.TrialRun
		if col.Stage == job.StageBenchmark {
			run = r.TimedRun
		}
		if run == nil {
			continue
		}
		c := run.caseResult(col)
		cells[i].CaseStatus, cells[i].Message, cells[i].TimeNS, cells[i].SubmissionID = c.Status, truncateMessage(c.Message), c.Time(), run.SubmissionID
		if c.Status == job.StatusFail && !r.IsCorrectSolution && !r.IsStarter && !proved {
			cells[i].IsFirstDetection, proved = true, true
		}
	}
	return cells
}

func truncateMessage(message string) string {
	if runes := []rune(message); len(runes) > maxMessageLetters {
		return string(runes[:maxMessageLetters]) + " …"
	}
	return message
}

// caseResult returns the result of a run for the case of a column.
func (r TrialRun) caseResult(col caseColumn) (found job.CaseResult) {
	for _, stage := range r.Trial.Stages {
		for _, c := range stage.Cases {
			if stage.Stage == col.Stage && c.Index == col.Index {
				found = c
			}
		}
	}
	return found
}

// testTime formats the total time of the tests; single tests are not timed.
func (r TrialRow) testTime() string {
	for _, stage := range r.Trial.Stages {
		if took := stage.EndedAt.Sub(stage.StartedAt); stage.Stage == job.StageTest && len(stage.Cases) > 0 && took > 0 {
			return "tests took " + format.Duration(took)
		}
	}
	return ""
}

// verdictReason returns a line with the reason for a verdict: the first failed case, otherwise the failure of the run.
func (r TrialRow) verdictReason(cells []trialCell) string {
	for _, c := range cells {
		if c.CaseStatus != job.StatusFail {
			continue
		}
		message, _, _ := strings.Cut(c.Message, "\n")
		if c.IsFirstDetection {
			return fmt.Sprintf("Proved wrong by %s (%s): %s", c.caseName(), c.Case, message)
		}
		return fmt.Sprintf("Failed %s (%s): %s", c.caseName(), c.Case, message)
	}
	if r.Reason == "" && r.TimedRun != nil {
		return r.TimedRun.Reason
	}
	return r.Reason
}

// Patterns for the expected and the actual value in messages of checkers, in either order.
var (
	expectedThenActual = regexp.MustCompile(`(?i)\bexpected:?\s+(.+?)[,;]?\s+(?:but\s+)?(?:got|found|was):?\s+(.+)`)
	actualThenExpected = regexp.MustCompile(`(?i)\b(?:got|found|was):?\s+(.+?)[,;]?\s+(?:but\s+|instead of\s+)?expected:?\s+(.+)`)
)

// expectedAndGot extracts the expected and the actual value from the message of a checker; both are "" if it has
// another form.
func expectedAndGot(message string) (expected, got string) {
	line, _, _ := strings.Cut(message, "\n")
	if m := expectedThenActual.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	if m := actualThenExpected.FindStringSubmatch(line); m != nil {
		return m[2], m[1]
	}
	return "", ""
}

// verdictText returns the verdict of a row in a word; bad is true if the author must change something.
func (r TrialRow) verdictText() (word string, bad bool) {
	switch {
	case !r.WasTried:
		return "not tried", false
	case !r.HasEnded:
		return r.State, false
	case r.IsStarter:
		return r.starterVerdict()
	case r.MissingArgument != "":
		return "inconclusive: " + r.MissingArgument, true
	case r.hasTaskFault():
		return "inconclusive: the task failed", true
	case r.IsMadeBySite && !r.Trial.AnswerFoundWrong() && r.Reason != "":
		return "inconclusive: it did not run", false
	case r.IsCorrectSolution && r.Trial.HasExpectedVerdict(r.ProvesTaskWorks):
		return r.benchmarkedVerdict()
	case r.Trial.HasExpectedVerdict(r.ProvesTaskWorks):
		return "rejected, as expected", false
	case r.IsCorrectSolution:
		return "should pass", true
	case r.Reason == "":
		return "passes but should fail", true
	case r.ProvesTaskWorks:
		return "failed before the task judged it", true
	}
	return "failed, but no correct solution passes", true
}

// hasTaskFault reports whether a run of the solution failed because of the task.
func (r TrialRow) hasTaskFault() bool {
	return r.Trial.StageWithTaskFault() != nil || r.TimedRun != nil && r.TimedRun.Trial.StageWithTaskFault() != nil
}

// starterVerdict returns the verdict on a template. Its outputs may be wrong, because people complete it.
func (r TrialRow) starterVerdict() (word string, bad bool) {
	switch {
	case r.Trial.Outcome == job.OutcomePassed:
		return "compiles, and passes", false
	case r.Trial.WasJudged() && r.Trial.StageWithTaskFault() == nil:
		return "compiles, as expected", false
	case r.Trial.StageWithTaskFault() != nil:
		return "inconclusive: the task failed", true
	case r.Trial.Outcome == job.OutcomeFailed:
		return "does not compile", true
	}
	return "inconclusive: it did not run", false
}

// benchmarkedVerdict returns the verdict on a correct solution that passed the tests.
func (r TrialRow) benchmarkedVerdict() (word string, bad bool) {
	switch {
	case r.TimedRun == nil || !r.TimedRun.WasTried:
		return "passes, as expected", false
	case !r.TimedRun.HasEnded:
		return "passes the tests; benchmarks " + r.TimedRun.State, false
	case r.TimedRun.Trial.Outcome == job.OutcomePassed:
		return "passes, as expected", false
	case r.TimedRun.Trial.Outcome == job.OutcomeFailed:
		return "should pass the benchmarks", true
	}
	return "passes the tests; the benchmarks did not run", false
}

// expectedVerdict returns the expected verdict of the row.
func (r TrialRow) expectedVerdict() string {
	switch {
	case r.IsStarter:
		return "should compile"
	case r.IsCorrectSolution:
		return "should pass"
	case r.IsMadeBySite:
		return "should fail (mutant)"
	}
	return "should fail"
}

// isWaiting reports whether a run of the row has no result yet.
func (r TrialRow) isWaiting() bool {
	return r.WasTried && !r.HasEnded || r.TimedRun != nil && r.TimedRun.WasTried && !r.TimedRun.HasEnded
}

// WaitingRowCount counts the rows that have no verdict yet.
func (p TrialPage) WaitingRowCount() (n int) {
	for _, r := range p.Rows {
		if r.isWaiting() {
			n++
		}
	}
	return n
}

// hasWorkingSolution reports whether the task has solutions.
func (p TrialPage) hasWorkingSolution() bool {
	return slices.ContainsFunc(p.Rows, func(r TrialRow) bool { return !r.IsStarter })
}

// HasRuns reports whether the trial has at least one run.
func (p TrialPage) HasRuns() bool {
	return slices.ContainsFunc(p.Rows, func(r TrialRow) bool { return r.WasTried })
}

// summary describes the result of the trial in a sentence; bad is true if the author must change something.
func (p TrialPage) summary() (message string, bad bool) {
	tried, wrong := 0, 0
	for _, r := range p.Rows {
		if r.WasTried {
			tried++
		}
		if _, look := r.verdictText(); look {
			wrong++
		}
	}
	switch n := p.WaitingRowCount(); {
	case !p.hasWorkingSolution():
		return "The task has no solutions to try. Add solutions/correct/… and solutions/wrong/….", true
	case tried == 0:
		return p.UntriedReason, false
	case n > 0:
		return fmt.Sprintf("%d of %d finished.", tried-n, tried), false
	case wrong > 0:
		return format.Plural(wrong, "solution", "solutions") + " gave an unexpected result. Check them before you publish.", true
	case tried < len(p.Rows):
		return "All results so far are as expected. Some solutions were not tried, because you had too many runs waiting. Try again in a moment.", false
	}
	return "All results are as expected: correct solutions pass, wrong ones are rejected.", false
}
