package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/views/format"
)

// RunCard is one run of a submission as it is known now: what is stored, and what has been told
// since. Queued and ended runs are shown by the same card.
type RunCard struct {
	ID           int64
	SubmissionID int64
	Device       string
	State        string // models.Run's state: "queued", "building" … "done", "failed", "cancelled"
	Position     int    // in its device's queue, from 1; 0 when it does not wait
	NoWorker     bool   // it waits, and no worker serves its device
	Waiting      string // why it waits, in a sentence; may be empty
	Attempt      int
	Queued       time.Time
	TriedAgain   time.Time // when it may be tried again, of one that waits after it was lost
	Started      time.Time
	Ended        time.Time
	Stages       []StageView
	Failure      *job.Failure
	ScoreNS      *float64
	Interval     Interval
	Rank         int      // on the board, when this run is the person's entry; else 0
	Tied         bool     // others share that rank
	Record       bool     // it led the board when it came, and is still the person's entry
	FirstNS      float64  // the board's best score; 0 when the person is not on the board
	FirstRun     int64    // that has it
	Best         *OwnBest // the person's entry on the board, when that is another run
	Before       *OwnBest // the person's best before this one, when this is the entry
	Ranking      string   // how the cases become the score, for people
	SourceName   string   // what compilers call the source
	Ranked       bool     // the run was meant for the board
	Task         TaskRef
	Log          string // what its programs have printed so far, while it runs
	LogID        string // element that log lines are added to; differs between attempts
	Reload       bool   // the page asks for the card once more, with what only this reader may see
	Machine      *job.Machine
	Harness      string
	SelfMeasured bool          // by a program that the task brought, in the kernel's own process
	Disturbed    string        // why it was measured under bad conditions
	Pool         *Pool         // nil: no run of equal source counts together with it
	Confirmed    *Confirmation // nil: the run was not measured again
	Verdict
	Measures
}

// OwnBest is a person's entry on a board.
type OwnBest struct {
	SubmissionID int64
	RunID        int64
	ScoreNS      float64
	Rank         int
	Tied         bool
}

// StageView is one stage of a run. Result is what is known: of a stage that goes on, its cases so far.
type StageView struct {
	Result  job.StageResult
	Total   int           // cases that it will have, when known
	Running bool          // goes on now
	Process int           // of several fresh processes, the one that goes on
	For     time.Duration // how long it has gone on
	Limit   time.Duration // that it may take; 0: not known
	Now     string        // arguments of the case that runs now, when known
	Ended   bool          // has a result
	Skipped bool          // the run ended before it
}

// runStates names the states of a run for people, with the class of their tag.
var runStates = map[string]struct{ label, class string }{
	"queued":       {"Queued", ""},
	"building":     {"Building", "tag-accent"},
	"compiling":    {"Compiling", "tag-accent"},
	"validating":   {"Checking", "tag-accent"},
	"testing":      {"Testing", "tag-accent"},
	"benchmarking": {"Benchmarking", "tag-accent"},
	"ranking":      {"Ranked timing", "tag-accent"},
	"profiling":    {"Profiling", "tag-accent"},
	"done":         {"Passed", "tag-pass"},
	"failed":       {"Failed", "tag-fail"},
	"cancelled":    {"Cancelled", ""},
}

// Over reports whether the run has ended.
func (r RunCard) Over() bool {
	return r.State == "done" || r.State == "failed" || r.State == "cancelled"
}

// URL is the address of the card alone.
func (r RunCard) URL() string { return fmt.Sprintf("/submissions/%d/runs/%d", r.SubmissionID, r.ID) }

// Working reports whether a worker has the run now.
func (r RunCard) Working() bool { return !r.Over() && r.State != "queued" }

// Label is the state for people.
func (r RunCard) Label() string {
	if r.Disqualified {
		return "Disqualified"
	}
	if state, ok := runStates[r.State]; ok {
		return state.label
	}
	return r.State
}

func (r RunCard) class() string {
	if r.Disqualified {
		return "tag-fail"
	}
	return runStates[r.State].class
}

// Status is one sentence for screen readers, told when the card changes.
func (r RunCard) Status() string {
	switch {
	case r.State == "queued" && r.Position > 0:
		return fmt.Sprintf("%s: number %d in the queue.", r.Device, r.Position)
	case r.State == "done" && r.ScoreNS != nil:
		return fmt.Sprintf("%s: passed, %s.", r.Device, format.Nanoseconds(*r.ScoreNS))
	}
	return r.Device + ": " + strings.ToLower(r.Label()) + "."
}

// opens reports whether a stage's cases are shown at once: of two timed stages, the one that gives the score.
func (r RunCard) opens(stage StageView) bool {
	if stage.Result.Stage == job.StageBenchmark && !stage.failed() {
		for _, other := range r.Stages {
			if other.Result.Stage == job.StageRanked && other.Timed() {
				return false
			}
		}
	}
	return stage.Open()
}

// summary heads a stage's cases; above those that count it says how they do.
func (r RunCard) summary(stage StageView) string {
	text := stage.Summary()
	if stage.Result.Stage == job.StageRanked && r.ScoreNS != nil && r.Ranking != "" {
		text += "; the score is the " + format.Lower(r.Ranking)
		if !r.SelfMeasured && judgedCases(stage.Result.Cases) {
			text += ", each by its median"
			if n := len(stage.Result.Cases[0].Processes); n > 1 {
				text += fmt.Sprintf(" of %d fresh processes", n)
			}
		}
	}
	return text
}

// remarks are what compilers and interpreters said of lines of the source: those of the stage that failed, else the
// build's warnings. Who may not read the source sees none.
func (r RunCard) remarks() []Remark {
	for _, stage := range r.Stages {
		if !stage.failed() && stage.Result.Stage != job.StageBuild {
			continue
		}
		said := stage.Result.Stderr + "\n" + stage.Result.Stdout
		for _, c := range stage.Result.Cases {
			if c.Status != job.StatusPass && stage.Result.Stderr != "" { // a message may quote the source as much as the output
				said += "\n" + c.Message
			}
		}
		if remarks := RemarksOf(said, r.SourceName); len(remarks) > 0 {
			return remarks[:min(len(remarks), mostListed)]
		}
	}
	return nil
}

// mostListed is how many remarks stand on a card; the source has them all.
const mostListed = 20

// stageNames names stages for people.
var stageNames = map[job.Stage]string{
	job.StageBuild:     "Build",
	job.StageTest:      "Test",
	job.StageBenchmark: "Benchmark",
	job.StageRanked:    "Ranked",
	job.StageSecret:    "Secret check",
	job.StageProfile:   "Profile",
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

// NextProcess begins a list of cases anew when one is told again: it is another process's.
func (s *StageView) NextProcess(index int) {
	if slices.ContainsFunc(s.Result.Cases, func(c job.CaseResult) bool { return c.Index == index }) {
		s.Process, s.Result.Cases = max(s.Process, 1)+1, nil
	}
}

// Note is what the stage's bar says under its name.
func (s StageView) Note() string {
	done := len(s.Result.Cases)
	switch {
	case s.Running && s.Process > 1:
		return fmt.Sprintf("process %d, case %d of %d", s.Process, done, s.Total)
	case s.Running && s.Total > 0:
		return fmt.Sprintf("%d of %d", done, s.Total)
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
		return statusWords(s.Result.Status) + ", " + took
	}
	return took
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
		return fmt.Sprintf("%d of %d so far; times come when all processes have ended", done, total)
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

// Fact is a name with its value.
type Fact struct{ Name, Value string }

// MachineFacts lists where and under which conditions a run was made, leaving out what is unknown.
func MachineFacts(m job.Machine, harness string) []Fact {
	all := []Fact{
		{"Device", m.Name}, {"Unit", m.UUIDHash}, {"Worker", m.Worker}, {"Driver", m.Driver}, {"CUDA", m.CUDA},
		{"Compiler", m.Compiler}, {"Python", m.Python}, {"Torch", m.Torch}, {"Triton", m.Triton},
		{"Kernel", m.Kernel}, {"Sandbox", m.Sandbox}, {"Harness", harness},
	}
	return slices.DeleteFunc(append(all, conditions(m)...), func(f Fact) bool { return f.Value == "" })
}
