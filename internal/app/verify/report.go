package verify

import (
	"fmt"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/internal/gpuname"
	"warpboard/tasks"
	"warpboard/tasks/problems"
	"warpboard/views"
	"warpboard/views/format"
)

// verifyReport is what verify-task --json prints. Keys are only added.
type verifyReport struct {
	Path     string          `json:"path"`
	OK       bool            `json:"ok"`
	Error    string          `json:"error,omitempty"`
	Problems []problemReport `json:"problems,omitempty"` // why nothing of it can be used
	Tasks    []*taskReport   `json:"tasks"`
}

// taskReport is what is said of one task.
type taskReport struct {
	Name      string           `json:"name"`
	Folder    string           `json:"folder"`
	Refused   bool             `json:"refused"` // an upload of it would be
	Lang      tasks.Lang       `json:"lang,omitempty"`
	Devices   []string         `json:"devices,omitempty"` // that it names
	Device    string           `json:"device,omitempty"`  // that its solutions were run on
	Problems  []problemReport  `json:"problems,omitempty"`
	Warnings  []string         `json:"warnings,omitempty"`
	Works     *bool            `json:"works,omitempty"` // some solution shows that it can be built and run; absent: none was run
	Solutions []solutionReport `json:"solutions,omitempty"`
	Vacuous   []string         `json:"vacuous,omitempty"` // answers that compute nothing and pass the tests
}

type problemReport struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
}

type solutionReport struct {
	Name    string      `json:"name"`
	Correct bool        `json:"correct"` // it must pass; otherwise it must fail
	Outcome job.Outcome `json:"outcome"`
	Verdict verdict     `json:"verdict"`
	Stage   job.Stage   `json:"stage,omitempty"` // that it failed in
	ScoreNS *float64    `json:"score_ns,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Stderr  string      `json:"stderr,omitempty"` // its last lines in that stage
}

// verdict says what a solution's end shows.
type verdict string

const (
	asExpected    verdict = "as_expected"
	notAsExpected verdict = "not_as_expected"
	notJudged     verdict = "not_judged" // it failed before the task judged it, or the task itself does not work
)

// word is the verdict in the text, which highlights problems. Programs read the JSON, whose words stay.
func (v verdict) word() string {
	word := strings.ReplaceAll(string(v), "_", " ")
	if v == asExpected {
		return word
	}
	return strings.ToUpper(word)
}

// problems prints mistakes, and gives them as the report has them.
func (v *verifier) problems(indent string, list []problems.Problem) (out []problemReport) {
	for _, p := range list {
		fmt.Fprintln(v.text, indent+p.Error())
		out = append(out, problemReport(p))
	}
	return out
}

// describe prints a task in one line, and below it what its author should know.
func (v *verifier) describe(p tasks.Proposal, report *taskReport) {
	d := p.Bundle.Definition
	facts := []string{views.LangName(d.Lang)}
	if d.Form == tasks.FormLegacy {
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
	fmt.Fprintf(v.text, "%s: %s\n", p.Name, strings.Join(facts, ", "))
	report.Lang, report.Devices = d.Lang, p.GPUs
	report.Warnings = append(append(report.Warnings, p.Notes...), p.Bundle.Warnings...)
	for _, name := range p.GPUs {
		if !gpuname.Known(name) {
			report.Warnings = append(report.Warnings, fmt.Sprintf("gpus: %q is not a known device; names are like H100, H100-SXM, A100-SXM-80GB, or CPU.", name))
		}
	}
	for _, w := range report.Warnings {
		fmt.Fprintln(v.text, "  warning:", w)
	}
}
