package views

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/trial"
	"warpboard/tasks"
	"warpboard/views/format"
)

// TrialPage is what the solutions of a task say of it.
type TrialPage struct {
	Page
	Task       TaskRef
	Hidden     bool      // a draft: only its author and admins see it
	Proposed   bool      // changes of a published task, which are not published
	Opens      time.Time // the start of the event that publishes the draft; the zero time without one
	Untried    string    // why nothing was tried; empty once something was
	Deadline   Deadline
	Copied     bool // the description is still the starter's
	Tests      []tasks.Case
	Benchmarks []tasks.Case
	Rows       []TrialRow
}

// TrialRow is a solution with its verdict.
type TrialRow struct {
	Name    string
	Correct bool
	Made    bool // of a correct one, by the site
	Starter bool // a template: it must compile
	TrialRun
	Timed *TrialRun // on the benchmarks; nil: they are not run
	Lacks string    // "case 1 lacks `seed`": what the task needs and a case does not have
	Works bool      // some solution shows that the task works
}

// TrialRun is one run of a solution.
type TrialRun struct {
	Tried, Ended bool
	SubmissionID int64
	State        string
	Reason       string // why it failed
	Trial        trial.Ended
}

// column is a case of the task.
type column struct {
	Stage job.Stage
	Index int
	Case  tasks.Case
}

func (c column) word() string {
	if c.Stage == job.StageBenchmark {
		return "benchmark"
	}
	return "test"
}

func (c column) name() string { return fmt.Sprintf("%s %d", c.word(), c.Index) }

// trialCell is how a solution did on a case; without a status it did not run there.
type trialCell struct {
	column
	Status       job.Status
	Message      string
	Time         float64 // ns of a call; 0: not timed
	Proof        bool    // the first case that shows that a wrong solution is wrong
	SubmissionID int64
}

func (c trialCell) label() string {
	if c.Proof {
		return "Failed " + c.name() + ", which proves it wrong: expected and got"
	}
	return "Failed " + c.name() + ": expected and got"
}

func (p TrialPage) columns() (list []column) {
	for i, c := range p.Tests {
		list = append(list, column{job.StageTest, i, c})
	}
	for i, c := range p.Benchmarks {
		list = append(list, column{job.StageBenchmark, i, c})
	}
	return list
}

// mostMessage is how much of a checker's message a cell keeps; the run's page has all of it.
const mostMessage = 600

// cells are a row's, one for each column.
func (p TrialPage) cells(r TrialRow) []trialCell {
	columns := p.columns()
	cells, proved := make([]trialCell, len(columns)), false
	for i, col := range columns {
		cells[i].column = col
		run := &r.TrialRun
		if col.Stage == job.StageBenchmark {
			run = r.Timed
		}
		if run == nil {
			continue
		}
		c := run.result(col)
		cells[i].Status, cells[i].Message, cells[i].Time, cells[i].SubmissionID = c.Status, cut(c.Message), c.Time(), run.SubmissionID
		if c.Status == job.StatusFail && !r.Correct && !r.Starter && !proved {
			cells[i].Proof, proved = true, true
		}
	}
	return cells
}

func cut(message string) string {
	if runes := []rune(message); len(runes) > mostMessage {
		return string(runes[:mostMessage]) + " …"
	}
	return message
}

// result is what a run's stage said of a case.
func (r TrialRun) result(col column) (found job.CaseResult) {
	for _, stage := range r.Trial.Stages {
		for _, c := range stage.Cases {
			if stage.Stage == col.Stage && c.Index == col.Index {
				found = c
			}
		}
	}
	return found
}

// took is how long the tests took together: a test is not timed for itself.
func (r TrialRow) took() string {
	for _, stage := range r.Trial.Stages {
		if took := stage.Ended.Sub(stage.Started); stage.Stage == job.StageTest && len(stage.Cases) > 0 && took > 0 {
			return "tests took " + format.Duration(took)
		}
	}
	return ""
}

// why is the evidence for a verdict in a line: the first case that failed, else why the run did.
func (r TrialRow) why(cells []trialCell) string {
	for _, c := range cells {
		if c.Status != job.StatusFail {
			continue
		}
		said, _, _ := strings.Cut(c.Message, "\n")
		if c.Proof {
			return fmt.Sprintf("Proved wrong by %s (%s): %s", c.name(), c.Case, said)
		}
		return fmt.Sprintf("Failed %s (%s): %s", c.name(), c.Case, said)
	}
	if r.Reason == "" && r.Timed != nil {
		return r.Timed.Reason
	}
	return r.Reason
}

// The words of checkers for what they wanted and what came, in either order.
var (
	expectedFirst = regexp.MustCompile(`(?i)\bexpected:?\s+(.+?)[,;]?\s+(?:but\s+)?(?:got|found|was):?\s+(.+)`)
	gotFirst      = regexp.MustCompile(`(?i)\b(?:got|found|was):?\s+(.+?)[,;]?\s+(?:but\s+|instead of\s+)?expected:?\s+(.+)`)
)

// expectedAndGot finds both in a checker's message; empty where it says them in another way.
func expectedAndGot(message string) (expected, got string) {
	line, _, _ := strings.Cut(message, "\n")
	if m := expectedFirst.FindStringSubmatch(line); m != nil {
		return m[1], m[2]
	}
	if m := gotFirst.FindStringSubmatch(line); m != nil {
		return m[2], m[1]
	}
	return "", ""
}

// verdict is what a row says of the task: a word, and whether the author has to look.
func (r TrialRow) verdict() (word string, bad bool) {
	switch {
	case !r.Tried:
		return "not tried", false
	case !r.Ended:
		return r.State, false
	case r.Starter:
		return r.starterVerdict()
	case r.Lacks != "":
		return "inconclusive: " + r.Lacks, true
	case r.faulty():
		return "inconclusive: the task failed", true
	case r.Made && !r.Trial.FoundWrong() && r.Reason != "":
		return "inconclusive: it did not run", false
	case r.Correct && r.Trial.AsExpected(r.Works):
		return r.timedVerdict()
	case r.Trial.AsExpected(r.Works):
		return "rejected, as expected", false
	case r.Correct:
		return "should pass", true
	case r.Reason == "":
		return "passes but should fail", true
	case r.Works:
		return "failed before the task judged it", true
	}
	return "failed, but no correct solution passes", true
}

// faulty reports whether the task failed in a run of the solution.
func (r TrialRow) faulty() bool {
	return r.Trial.TaskFault() != nil || r.Timed != nil && r.Timed.Trial.TaskFault() != nil
}

// starterVerdict is about a template: people fill it in, so its answer may be wrong.
func (r TrialRow) starterVerdict() (word string, bad bool) {
	switch {
	case r.Trial.Outcome == job.OutcomeDone:
		return "compiles, and passes", false
	case r.Trial.Judged() && r.Trial.TaskFault() == nil:
		return "compiles, as expected", false
	case r.Trial.TaskFault() != nil:
		return "inconclusive: the task failed", true
	case r.Trial.Outcome == job.OutcomeFailed:
		return "does not compile", true
	}
	return "inconclusive: it did not run", false
}

// timedVerdict is about a correct solution that has passed the tests.
func (r TrialRow) timedVerdict() (word string, bad bool) {
	switch {
	case r.Timed == nil || !r.Timed.Tried:
		return "passes, as expected", false
	case !r.Timed.Ended:
		return "passes the tests; benchmarks " + r.Timed.State, false
	case r.Timed.Trial.Outcome == job.OutcomeDone:
		return "passes, as expected", false
	case r.Timed.Trial.Outcome == job.OutcomeFailed:
		return "should pass the benchmarks", true
	}
	return "passes the tests; the benchmarks did not run", false
}

// kind is the verdict that the row should have.
func (r TrialRow) kind() string {
	switch {
	case r.Starter:
		return "should compile"
	case r.Correct:
		return "should pass"
	case r.Made:
		return "should fail (mutant)"
	}
	return "should fail"
}

// waits reports whether a run of the row has no result yet.
func (r TrialRow) waits() bool {
	return r.Tried && !r.Ended || r.Timed != nil && r.Timed.Tried && !r.Timed.Ended
}

// Waiting counts the rows without a verdict.
func (p TrialPage) Waiting() (n int) {
	for _, r := range p.Rows {
		if r.waits() {
			n++
		}
	}
	return n
}

// solved reports whether the task comes with solutions.
func (p TrialPage) solved() bool {
	return slices.ContainsFunc(p.Rows, func(r TrialRow) bool { return !r.Starter })
}

// Tried reports whether a run of the trial was sent.
func (p TrialPage) Tried() bool {
	return slices.ContainsFunc(p.Rows, func(r TrialRow) bool { return r.Tried })
}

// summary says in a sentence what the trial came to.
func (p TrialPage) summary() (said string, bad bool) {
	tried, wrong := 0, 0
	for _, r := range p.Rows {
		if r.Tried {
			tried++
		}
		if _, look := r.verdict(); look {
			wrong++
		}
	}
	switch n := p.Waiting(); {
	case !p.solved():
		return "The task has no solutions to try. Add solutions/correct/… and solutions/wrong/….", true
	case tried == 0:
		return p.Untried, false
	case n > 0:
		return fmt.Sprintf("%d of %d finished.", tried-n, tried), false
	case wrong > 0:
		return format.Plural(wrong, "solution", "solutions") + " gave an unexpected result. Check them before you publish.", true
	case tried < len(p.Rows):
		return "All results so far are as expected. Some solutions were not tried, because you had too many runs waiting. Try again in a moment.", false
	}
	return "All results are as expected: correct solutions pass, wrong ones are rejected.", false
}
