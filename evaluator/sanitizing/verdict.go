package sanitizing

import (
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// maxListedFindings limits the findings in a tool's message; the stage has all of them.
const maxListedFindings = 5

// verdict returns the status of a tool's run, and a message; "" if it found nothing.
func (r *toolRun) verdict() (job.Status, string) {
	switch {
	case r.timeLimit <= 0:
		return job.StatusTimeout, fmt.Sprintf("%s did not run: the tools before it used up the time for all of them.", r.tool)
	case r.process.ExceededLimit == "wall" && r.log.errorCount > 0:
		return job.StatusFail, strings.TrimSpace(r.firstFindingsText()) + fmt.Sprintf("\n%s was stopped after %s; there may be more errors.", r.tool, secondsText(r.timeLimit))
	case r.process.ExceededLimit == "wall":
		return job.StatusTimeout, fmt.Sprintf("%s did not end within %s and was stopped. Tests of smaller inputs take it less time.", r.tool, secondsText(r.timeLimit)) + r.firstFindingsText()
	case r.process.ExceededLimit != "":
		return job.StatusLimitExceeded, fmt.Sprintf("%s was stopped at the %s limit.", r.tool, r.process.ExceededLimit) + r.firstFindingsText()
	case r.log.errorCount > 0:
		return job.StatusFail, strings.TrimSpace(r.firstFindingsText())
	case !r.log.coversWholeRun():
		return job.StatusError, fmt.Sprintf("%s did not come to its end: %s", r.tool, r.incompleteReason())
	case r.testStatus != job.StatusPass && r.testStatus != job.StatusFail:
		return job.StatusError, fmt.Sprintf("%s found nothing until the program ended too early. %s", r.tool, r.failure.Reason)
	}
	message := strings.TrimSpace(r.firstFindingsText())
	if r.testStatus == job.StatusFail {
		message = strings.TrimSpace("Answers of the tests were wrong. " + r.failure.Reason + "\n" + message)
	}
	return job.StatusPass, message
}

// firstFindingsText lists the first findings in sentences.
func (r *toolRun) firstFindingsText() string {
	var b strings.Builder
	for i, f := range r.log.findings {
		if i == maxListedFindings {
			fmt.Fprintf(&b, "\nand %d more", len(r.log.findings)-maxListedFindings)
			break
		}
		b.WriteString("\n" + f.Sentence())
	}
	if r.log.unprintedErrors > 0 {
		fmt.Fprintf(&b, "\n%d errors more were not written down by the tool", r.log.unprintedErrors)
	}
	return b.String()
}

// incompleteReason returns the reason why the log is incomplete: the tool's message, or the last line of the program's
// output.
func (r *toolRun) incompleteReason() string {
	text := r.log.toolProblem
	if text == "" {
		text = strings.TrimSpace(r.process.Stderr + "\n" + r.process.Stdout)
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if text == "" {
		return fmt.Sprintf("it left no summary, and ended with exit code %d.", r.process.ExitCode)
	}
	return sandbox.CleanOutput([]byte(clipText(text, 300)))
}

// stageVerdict returns the status of the stage, and a failure with the messages of the tools that did not pass, without
// duplicates.
func stageVerdict(cases []job.CaseResult) (job.Status, *job.Failure) {
	status, why, specs := job.StatusPass, []string{}, map[string][]string{}
	for _, c := range cases {
		if c.Status == job.StatusPass {
			continue
		}
		if status == job.StatusPass || c.Status == job.StatusFail {
			status = c.Status
		}
		sentence := shortMessage(c)
		if specs[sentence] == nil {
			why = append(why, sentence)
		}
		specs[sentence] = append(specs[sentence], c.SpecLine)
	}
	if status == job.StatusPass {
		return status, nil
	}
	for i, sentence := range why {
		why[i] = strings.Join(specs[sentence], ", ") + " " + sentence
	}
	failure := &job.Failure{Reason: strings.Join(why, " ")}
	if status == job.StatusTimeout {
		failure.Limit = "wall"
	}
	return status, failure
}

// shortMessage returns the message about a tool that did not pass, without the tool's name.
func shortMessage(c job.CaseResult) string {
	first, more, _ := strings.Cut(c.Message, "\n")
	switch {
	case c.Status != job.StatusFail:
		return strings.TrimPrefix(first, c.SpecLine+" ")
	case more != "":
		return "found an " + strings.TrimSuffix(first, ".") + ", and more."
	}
	return "found an " + strings.TrimSuffix(first, ".") + "."
}

func secondsText(limit time.Duration) string {
	return fmt.Sprintf("%v s", limit.Round(time.Millisecond).Seconds())
}
