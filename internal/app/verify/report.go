package verify

import (
	"fmt"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/tasks"
	"warpboard/tasks/parse"
	"warpboard/views"
	"warpboard/views/format"
)

// verifyReport is the output of verify-task --json. Keys may only be added.
type verifyReport struct {
	Path     string          `json:"path"`
	OK       bool            `json:"ok"`
	Error    string          `json:"error,omitempty"`
	Problems []problemReport `json:"problems,omitempty"` // reasons if the path cannot be used at all
	Tasks    []*taskReport   `json:"tasks"`
}

// taskReport is the report on one task.
type taskReport struct {
	Name          string          `json:"name"`
	Folder        string          `json:"folder"`
	UploadRefused bool            `json:"refused"` // a site would refuse an upload of the task
	Lang          tasks.Lang      `json:"lang,omitempty"`
	Devices       []string        `json:"devices,omitempty"` // devices named by the task
	Device        string          `json:"device,omitempty"`  // device that ran its solutions
	Problems      []problemReport `json:"problems,omitempty"`
	Warnings      []string        `json:"warnings,omitempty"`
	// a solution shows that the task can be built and run; nil if no solution was run
	ShownToWork           *bool            `json:"works,omitempty"`
	Solutions             []solutionReport `json:"solutions,omitempty"`
	PassingTrivialAnswers []string         `json:"vacuous,omitempty"` // trivial answers that pass the tests
}

type problemReport struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

type solutionReport struct {
	Name    string          `json:"name"`
	Correct bool            `json:"correct"` // true if it must pass, false if it must fail
	Outcome job.Outcome     `json:"outcome"`
	Verdict solutionVerdict `json:"verdict"`
	Stage   job.Stage       `json:"stage,omitempty"` // stage that failed
	ScoreNS *float64        `json:"score_ns,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Stderr  string          `json:"stderr,omitempty"` // last lines of stderr in that stage
}

// solutionVerdict is the conclusion from a solution's result about the solution or the task.
type solutionVerdict string

const (
	verdictAsExpected    solutionVerdict = "as_expected"
	verdictNotAsExpected solutionVerdict = "not_as_expected"
	verdictNotJudged     solutionVerdict = "not_judged" // failed before the task judged it, or the task does not work
)

// displayText returns the verdict as text for people. The verdict itself is in the JSON, so it must not change.
func (v solutionVerdict) displayText() string {
	word := strings.ReplaceAll(string(v), "_", " ")
	if v == verdictAsExpected {
		return word
	}
	return strings.ToUpper(word)
}

// printProblems prints problems, and returns them for the report.
func (v *verifier) printProblems(indent string, list []parse.Problem) (out []problemReport) {
	for _, p := range list {
		fmt.Fprintln(v.lineOutput, indent+p.Error())
		out = append(out, problemReport(p))
	}
	return out
}

// printTask prints a task in one line, followed by notes for its author.
func (v *verifier) printTask(p tasks.TaskProposal, report *taskReport) {
	d := p.Bundle.Definition
	facts := []string{views.LangName(d.Lang)}
	if d.Protocol == tasks.ProtocolLegacy {
		facts = append(facts, "legacy format")
	} else {
		facts = append(facts, format.Plural(len(d.Tests), "test", "tests"), format.Plural(len(d.Benchmarks), "benchmark", "benchmarks"),
			"ranked by "+string(d.RankingBy), views.HarnessPhrase(d))
	}
	if len(p.GPUs) > 0 {
		facts = append(facts, "on "+strings.Join(p.GPUs, " and "))
	}
	if !p.Deadline.IsZero() {
		facts = append(facts, "until "+p.Deadline.Format("2006-01-02 15:04")+" UTC")
	}
	fmt.Fprintf(v.lineOutput, "%s: %s\n", p.Name, strings.Join(facts, ", "))
	report.Lang, report.Devices = d.Lang, p.GPUs
	report.Warnings = append(append(report.Warnings, p.Notes...), p.Bundle.Warnings...)
	for _, name := range p.GPUs {
		if !gpuname.IsKnownDevice(name) {
			report.Warnings = append(report.Warnings, fmt.Sprintf("gpus: %q is not a known device; names are like H100, H100-SXM, A100-SXM-80GB, or CPU.", name))
		}
	}
	for _, w := range report.Warnings {
		fmt.Fprintln(v.lineOutput, "  warning:", w)
	}
}
