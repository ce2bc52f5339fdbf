package harness

import (
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// Exit codes of eval programs, in addition to 0.
const (
	exitException = 1
	exitUsage     = 2
	exitCUDA      = 110
	exitNoPipe    = 111
	exitFailed    = job.ExitFailed
	exitBadSpec   = job.ExitBadSpec
	exitTimeout   = 114

	exitRunnerGone = 115 // of a judge: the submission's process has ended
	exitRefused    = 116 // the submission's process broke the protocol; "refused" in the report has the reason
	exitTask       = 117 // the task's own code failed; "task" in the report has the reason
)

// exitTexts explains exit codes to the submitter.
var exitTexts = map[int]string{
	exitException: "it ended with an exception; its last lines on stderr say which",
	exitUsage:     "the task's program does not know this stage",
	exitCUDA:      "a CUDA call failed; stderr names the call and the error",
	exitNoPipe:    "the task's program could not open its result pipe",
	exitBadSpec:   "the task's program could not read this case's arguments",
	exitTimeout:   "the task's program gave up waiting",
}

// signalTexts explains common signals.
var signalTexts = map[string]string{
	"SIGSEGV": "segmentation fault (invalid memory access)",
	"SIGBUS":  "bus error (access to memory that does not exist)",
	"SIGFPE":  "integer division by zero or overflow",
	"SIGILL":  "an instruction that this processor does not know",
	"SIGABRT": "it aborted: a failed assertion, an uncaught exception or a corrupted heap",
	"SIGKILL": "it was killed from outside",
	"SIGSYS":  "a system call that the sandbox forbids",
	"SIGPIPE": "it wrote to a closed pipe",
}

// Judge returns the status and the failure of a stage from the end of its processes and its report. limit is the
// stage's time limit. want lists the cases that must be reported for a pass; it is empty if the program decides (a
// bundle's own). The failure is nil if and only if the status is StatusPass.
func Judge(end judge.Ending, limit time.Duration, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	if end.Judge == nil {
		return judgeProcess(end.Outcome, limit, p, want)
	}
	extra := p.Extra()
	j := *end.Judge
	switch {
	case end.RunnerKilledFirst && exitedNormally(end.Outcome), j.Limit == "" && j.ExitCode == exitRunnerGone && exitedNormally(end.Outcome):
		return job.StatusError, &job.Failure{Reason: "The program ended without a verdict" + progressText(p) + ": it left before its calls were done."}
	case end.RunnerKilledFirst:
		return judgeProcess(end.Outcome, limit, p, want)
	case j.Cancelled || j.Limit == "wall":
		return judgeProcess(j, limit, p, want)
	case end.Outcome.Limit == "wall": // it was killed, and the judge noticed in time
		return judgeProcess(end.Outcome, limit, p, want)
	case j.Signal == "" && j.Limit == "" && (j.ExitCode == 0 || j.ExitCode == exitFailed):
		return verdict(j, p, want)
	case j.Signal == "" && j.Limit == "" && j.ExitCode == exitBadSpec:
		return judgeProcess(j, limit, p, want)
	case j.Signal == "SIGKILL" && j.Limit == "":
		return job.StatusError, &job.Failure{IsInfrastructureError: true, Signal: j.Signal,
			Reason: "The judge's process was killed from outside" + progressText(p) + ", and not by a limit. Neither the task nor the submission is to blame."}
	case j.Limit != "": // the task's fault, whatever the judge reported
	case j.ExitCode == exitRunnerGone:
		return judgeProcess(end.Outcome, limit, p, want)
	case j.ExitCode == exitRefused && extra["refused"] != "":
		return job.StatusError, &job.Failure{Reason: strings.TrimSuffix(extra["refused"], ".") + progressText(p) + "."}
	case j.ExitCode == exitTask && extra["task"] != "":
		return job.StatusError, &job.Failure{CausedByTask: true, Reason: "The task failed" + progressText(p) + ", not the submission: " + strings.TrimSuffix(extra["task"], ".") + "."}
	}
	_, failure := judgeProcess(j, limit, p, nil)
	failure.CausedByTask = true
	failure.Reason = "The task failed, not the submission. " + strings.Replace(failure.Reason, "The program", "Its generator, reference or checker", 1)
	return job.StatusError, failure
}

// exitedNormally reports whether a process exited with success or with a failed check.
func exitedNormally(out sandbox.Outcome) bool {
	return !out.Cancelled && out.Limit == "" && out.Signal == "" && (out.ExitCode == 0 || out.ExitCode == exitFailed)
}

// judgeProcess returns the status and failure for one process.
func judgeProcess(out sandbox.Outcome, limit time.Duration, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	where := progressText(p)
	switch {
	case out.Cancelled:
		return job.StatusCancelled, &job.Failure{Reason: "The run was cancelled."}
	case out.Limit == "wall":
		return job.StatusTimeout, &job.Failure{
			Limit:  out.Limit,
			Reason: fmt.Sprintf("The time limit of %v s was reached%s.", limit.Seconds(), where),
		}
	case out.Limit != "":
		return job.StatusLimit, &job.Failure{Limit: out.Limit, Signal: out.Signal,
			Reason: fmt.Sprintf("The program hit its %s limit%s.", out.Limit, where)}
	case out.Signal != "":
		return job.StatusError, &job.Failure{
			Signal: out.Signal,
			Reason: endedText("was killed by "+out.Signal, where, signalTexts[out.Signal]),
		}
	case out.ExitCode != 0 && out.ExitCode != exitFailed:
		return job.StatusError, &job.Failure{ExitCode: out.ExitCode,
			Reason: endedText(fmt.Sprintf("ended with exit code %d", out.ExitCode), where, exitTexts[out.ExitCode])}
	}
	return verdict(out, p, want)
}

// verdict returns the status and failure for a program that exited with success or a failed check.
func verdict(out sandbox.Outcome, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	failure := func(status job.Status, reason string) (job.Status, *job.Failure) {
		return status, &job.Failure{ExitCode: out.ExitCode, Reason: reason}
	}
	for _, c := range p.Cases() {
		if c.Status == job.StatusFail && p.Check() != "pass" {
			return failure(job.StatusFail, wrongAnswerText(c)+inProcess(p))
		}
	}
	inconsistency := checkReport(p, want)
	switch {
	case p.inconsistency != "":
		return failure(job.StatusError, p.inconsistency)
	case p.Check() == "":
		return failure(job.StatusError, "The program ended without a verdict"+progressText(p)+": it left before its checks were done.")
	case p.Check() != "pass":
		return failure(job.StatusFail, "The program reported that its check failed.")
	case inconsistency != "":
		return failure(job.StatusError, inconsistency)
	case out.ExitCode == exitFailed:
		return failure(job.StatusFail, "The program's exit code says that its check failed.")
	case len(want) > passedCases(p):
		return failure(job.StatusError, fmt.Sprintf("The program reported %d of %d cases: it left before the others were done.", passedCases(p), len(want)))
	}
	return job.StatusPass, nil
}

// wrongAnswerText describes the first case with a wrong answer.
func wrongAnswerText(c job.CaseResult) string {
	text := fmt.Sprintf("Case %d gave a wrong answer", c.Index)
	if c.Spec != "" {
		text = fmt.Sprintf("Case %d (%s) gave a wrong answer", c.Index, c.Spec)
	}
	if first, _, _ := strings.Cut(c.Message, "\n"); first != "" {
		text += ": " + first
	}
	return strings.TrimSuffix(text, ".") + "."
}

func endedText(how, where, why string) string {
	if why != "" {
		why = ": " + why
	}
	return "The program " + how + where + why + "."
}

func passedCases(p *Parser) int {
	n := 0
	for _, c := range p.Cases() {
		if c.Status == job.StatusPass {
			n++
		}
	}
	return n
}

// inProcess returns the number of the current process as a phrase, or "" for the first.
func inProcess(p *Parser) string {
	if p.Processes() == 0 {
		return ""
	}
	return fmt.Sprintf(" It was right in the %d fresh processes before.", p.Processes())
}

// progressText names the case that was running when the program ended, if the report shows it.
func progressText(p *Parser) string {
	cases := p.Cases()
	for _, c := range cases {
		if c.Status == "" {
			return fmt.Sprintf(" in case %d (%s)%s", c.Index, c.Spec, ofProcess(p))
		}
	}
	if p.Processes() > 0 && len(p.cases) == 0 {
		return " before the first case" + ofProcess(p)
	}
	if len(cases) > 0 && p.Total() > len(cases) {
		return fmt.Sprintf(" after %d of %d cases%s", len(cases), p.Total(), ofProcess(p))
	}
	if len(cases) == 0 {
		return " before its first case"
	}
	return ""
}

// ofProcess returns the number of the current process as a phrase, or "" for the first.
func ofProcess(p *Parser) string {
	if p.Processes() == 0 {
		return ""
	}
	return fmt.Sprintf(" of fresh process %d", p.Processes()+1)
}

// Finish sets the status of incomplete cases to that of the stage.
func Finish(cases []job.CaseResult, stage job.Status) []job.CaseResult {
	out := make([]job.CaseResult, len(cases))
	for i, c := range cases {
		if c.Status == "" {
			c.Status = stage
			if stage == job.StatusPass {
				c.Status = job.StatusError
			}
		}
		out[i] = c
	}
	return out
}
