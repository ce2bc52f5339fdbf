package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/scores"
	"warpboard/models/work"
	"warpboard/views/format"
)

// RunCard is the current state of one run: the stored state, changed by later events. Queued and ended runs use the
// same card.
type RunCard struct {
	work.Run
	Task                  TaskRef
	QueuePosition         int       // position in its device's queue, from 1; 0 if it does not wait
	LacksWorker           bool      // the run waits, and its device has no worker
	WaitingReason         string    // reason for waiting, a sentence; may be empty
	NextAttemptAt         time.Time // earliest time of the next attempt, after a lost one
	Stages                []StageView
	Outcome               Outcome
	RankingRule           string        // ranking rule, for people
	SourceNames           SourceNames   // names of the source in compiler messages
	OutputSoFar           string        // output so far, while it runs
	MeasuredByTaskProgram bool          // measured by the task's own program, in the kernel's process
	RerunToken            string        // token of the form for running it again; empty if the reader may not
	SourceRuns            *SourceRuns   // runs of identical source that count together with this one; nil if none
	Confirmation          *Confirmation // nil if the run was not measured again
	Turns                 *Turns        // measurements of confirmations that give the score; nil without any
	boards.ValidationResult
	RunMeasurements
}

// runStates has the name for people of each run state, and the CSS class of its tag.
var runStates = map[work.RunState]struct{ label, class string }{
	"queued":       {"Queued", ""},
	"building":     {"Building", "tag-accent"},
	"compiling":    {"Compiling", "tag-accent"},
	"validating":   {"Checking", "tag-accent"},
	"testing":      {"Testing", "tag-accent"},
	"benchmarking": {"Benchmarking", "tag-accent"},
	"ranking":      {"Ranked timing", "tag-accent"},
	"profiling":    {"Profiling", "tag-accent"},
	"sanitizing":   {"Sanitizing", "tag-accent"},
	"done":         {"Passed", "tag-pass"},
	"failed":       {"Failed", "tag-fail"},
	"cancelled":    {"Cancelled", ""},
}

// HasEnded reports whether the run has ended.
func (r RunCard) HasEnded() bool { return r.State.IsFinal() }

// isInconclusive reports whether the run ended without a result about the kernel.
func (r RunCard) isInconclusive() bool {
	return r.HasEnded() && (r.DisturbedReason != "" || r.Failure != nil && r.Failure.IsInfrastructureError)
}

// isRanked reports whether the run was submitted for the board.
func (r RunCard) isRanked() bool { return r.Mode == job.ModeRanked }

// reviewLinkText returns the text of the link to reports and decisions; "" if the viewer may do nothing there.
func (r RunCard) reviewLinkText() string {
	switch {
	case !r.isRanked() || r.ScoreNS == nil:
		return ""
	case !r.Outcome.Mine || r.Outcome.MayReview:
		return "Report or review"
	case r.isDisqualified() || r.ReinstatedReason != "":
		return "Decisions"
	case r.Outcome.IsRecord:
		return "Note on your record"
	}
	return ""
}

// isDisqualified reports whether the run was removed from its board.
func (r RunCard) isDisqualified() bool { return r.DisqualifiedAt != nil }

// URL returns the address of only the card.
func (r RunCard) URL() string { return fmt.Sprintf("/submissions/%d/runs/%d", r.SubmissionID, r.ID) }

// IsWorkerActive reports whether a worker is working on the run.
func (r RunCard) IsWorkerActive() bool { return !r.HasEnded() && r.State != "queued" }

// StateText returns the state for people.
func (r RunCard) StateText() string {
	if r.isDisqualified() {
		return "Disqualified"
	}
	state, ok := runStates[r.State]
	if !ok {
		return string(r.State)
	}
	return state.label + r.testsPassed()
}

// testsPassed returns the number of cases of a passed test.
func (r RunCard) testsPassed() string {
	if r.Mode != job.ModeTest || r.State != work.StateDone {
		return ""
	}
	for _, stage := range r.Stages {
		if n := len(stage.Result.Cases); stage.Result.Stage == job.StageTest && n > 0 {
			return fmt.Sprintf(", %d of %s", n, format.Plural(n, "test", "tests"))
		}
	}
	return ""
}

func (r RunCard) cssClass() string {
	if r.isDisqualified() {
		return "tag-fail"
	}
	return runStates[r.State].class
}

// Status returns a sentence that screen readers announce when the card changes.
func (r RunCard) Status() string {
	switch {
	case r.State == "queued" && r.QueuePosition > 0:
		return fmt.Sprintf("%s: number %d in the queue.", r.Device, r.QueuePosition)
	case r.State == "done" && r.ScoreNS != nil:
		return fmt.Sprintf("%s: passed, %s.", r.Device, format.Nanoseconds(*r.ScoreNS))
	}
	says := r.Device + ": " + strings.ToLower(r.StateText())
	if how := r.failureWords(); how != "" && how != "failed" {
		says += ", " + how
	}
	return says + "."
}

// casesStartOpen reports whether the cases of a stage are open at first: of two timed stages, those of the one that
// determines the score.
func (r RunCard) casesStartOpen(stage StageView) bool {
	if r.Turns != nil && stage.Result.Stage == job.StageRanked {
		return false
	}
	if stage.Result.Stage == job.StageBenchmark && !stage.hasFailed() {
		for _, other := range r.Stages {
			if other.Result.Stage == job.StageRanked && other.HasTimes() {
				return false
			}
		}
	}
	return stage.CasesStartOpen()
}

// casesHeading returns the heading of the cases of a stage. For the ranked stage it also describes how the score is
// computed from the cases.
func (r RunCard) casesHeading(stage StageView) string {
	text := stage.Summary()
	if stage.Result.Stage == job.StageRanked && r.ScoreNS != nil && r.RankingRule != "" && r.Turns == nil {
		text += "; the score is the " + format.LowerFirst(r.RankingRule)
		if !r.MeasuredByTaskProgram && anyTimedByJudge(stage.Result.Cases) {
			text += ", each by its median"
			if n := len(stage.Result.Cases[0].ProcessMedians); n > 1 {
				text += fmt.Sprintf(" of %d fresh processes", n)
			}
		}
	}
	return text
}

// benchmarkTime returns the geometric mean of the cases of a passed benchmark in nanoseconds, and the number of cases;
// 0, 0 if there is none.
func (r RunCard) benchmarkTime() (mean float64, cases int) {
	if r.Mode != job.ModeBenchmark || r.State != work.StateDone {
		return 0, 0
	}
	for _, stage := range r.Stages {
		if mean, cases = scores.BenchmarkScore(stage.Result); cases > 0 {
			return mean, cases
		}
	}
	return 0, 0
}

// remarks returns the remarks on lines of the source: those of compute-sanitizer if it found errors, otherwise those of
// the failed stage, otherwise compiler warnings. A viewer who may not see the source gets none.
func (r RunCard) remarks() []Remark {
	if found := r.sanitizerRemarks(); len(found) > 0 {
		return found
	}
	for _, stage := range r.Stages {
		if !stage.hasFailed() && stage.Result.Stage != job.StageBuild {
			continue
		}
		text := stage.Result.Stderr + "\n" + stage.Result.Stdout
		for _, c := range stage.Result.Cases {
			if c.Status != job.StatusPass && stage.Result.Stderr != "" { // otherwise the source is hidden
				text += "\n" + c.Message
			}
		}
		if remarks := ParseRemarks(text, r.SourceNames); len(remarks) > 0 {
			return remarks[:min(len(remarks), maxListedRemarks)]
		}
	}
	return nil
}

// unparsedExceptionReason is the reason that the harness gives for an exception that it does not parse.
const unparsedExceptionReason = "it ended with an exception; its last lines on stderr say which"

// failureReason returns the reason of a failure, with the exception if the reason refers to it: "TypeError at
// submission.py:8: …". Viewers who may not see the source have no output, and so no exception.
func (r RunCard) failureReason() string {
	for _, stage := range r.Stages {
		if !stage.hasFailed() || !strings.Contains(r.Failure.Reason, unparsedExceptionReason) {
			continue
		}
		if text := lastException(stage.Result.Stderr, r.SourceNames); text != "" {
			return strings.Replace(r.Failure.Reason, unparsedExceptionReason, strings.TrimSuffix(text, "."), 1)
		}
	}
	return r.Failure.Reason
}

// shortFailureReason is failureReason without a compiler message, which the list of remarks has: "Compiling
// submission.cu failed".
func (r RunCard) shortFailureReason() string {
	why := r.failureReason()
	what, text, _ := strings.Cut(why, compilerMessagePrefix)
	for _, remark := range ParseRemarks(strings.TrimSuffix(text, "."), r.SourceNames) {
		if slices.ContainsFunc(r.remarks(), func(listed Remark) bool {
			return listed.Line == remark.Line && strings.TrimSuffix(listed.Text, ".") == remark.Text
		}) {
			return what + strings.TrimSuffix(compilerMessagePrefix, ": ")
		}
	}
	return why
}

// compilerMessagePrefix precedes a compiler message.
const compilerMessagePrefix = " failed: "

// maxListedRemarks limits the remarks on a card; the page of the source has all.
const maxListedRemarks = 20

// NamedValue is a value with its name.
type NamedValue struct{ Name, Value string }

// MachineFacts returns the known facts about the machine and the conditions of a run.
func MachineFacts(m job.Machine, harness string) []NamedValue {
	all := []NamedValue{
		{"Device", m.DeviceName}, {"Device ID", m.UUIDHash}, {"Worker", m.Worker}, {"Driver", m.Driver}, {"CUDA",
			m.CUDA},
		{"Compiler", m.CompilerVersion}, {"Python", m.Python}, {"Torch", m.Torch}, {"Triton", m.Triton},
		{"Kernel", m.KernelRelease}, {"Sandbox", m.SandboxName}, {"Harness", harness},
	}
	return slices.DeleteFunc(append(all, runConditions(m)...), func(f NamedValue) bool { return f.Value == "" })
}
