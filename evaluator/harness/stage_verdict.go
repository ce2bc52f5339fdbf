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

	exitRunnerGone = 115 // exit code of a judge: the submission's process has ended
	exitRefused    = 116 // the submission's process broke the protocol; "refused" in the report has the reason
	exitTaskFailed = 117 // the task's own code failed; "task" in the report has the reason
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

// StageVerdict returns the status and the failure of a stage from the end of its processes and its report. limit is the
// stage's time limit. want lists the cases that must be reported for a pass; it is empty if the program decides (a
// bundle's own). The failure is nil if and only if the status is StatusPass.
func StageVerdict(end judge.StageEnding, limit time.Duration, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	if end.JudgeOutcome == nil {
		return processStatus(end.Outcome, limit, p, want)
	}
	extra := p.ExtraKeys()
	j := *end.JudgeOutcome
	switch {
	case end.RunnerKilledFirst && exitedNormally(end.Outcome), j.ExceededLimit == "" && j.ExitCode == exitRunnerGone && exitedNormally(end.Outcome):
		return job.StatusError, &job.Failure{Reason: "The program ended without a verdict" + progressText(p) + ": it left before its calls were done."}
	case end.RunnerKilledFirst:
		return processStatus(end.Outcome, limit, p, want)
	case j.Cancelled || j.ExceededLimit == "wall":
		return processStatus(j, limit, p, want)
	case end.Outcome.ExceededLimit == "wall": // the runner was killed, and the judge noticed in time
		return processStatus(end.Outcome, limit, p, want)
	case j.Signal == "" && j.ExceededLimit == "" && (j.ExitCode == 0 || j.ExitCode == exitFailed):
		return programVerdict(j, p, want)
	case j.Signal == "" && j.ExceededLimit == "" && j.ExitCode == exitBadSpec:
		return processStatus(j, limit, p, want)
	case j.Signal == "SIGKILL" && j.ExceededLimit == "":
		return job.StatusError, &job.Failure{IsInfrastructureError: true, Signal: j.Signal,
			Reason: "The judge's process was killed from outside" + progressText(p) + ", and not by a limit. Neither the task nor the submission is to blame."}
	case j.ExceededLimit != "": // the task's fault, whatever the judge reported
	case j.ExitCode == exitRunnerGone:
		return processStatus(end.Outcome, limit, p, want)
	case j.ExitCode == exitRefused && extra["refused"] != "":
		return job.StatusError, &job.Failure{Reason: strings.TrimSuffix(extra["refused"], ".") + progressText(p) + "."}
	case j.ExitCode == exitTaskFailed && extra["task"] != "":
		return job.StatusError, &job.Failure{CausedByTask: true, Reason: "The task failed" + progressText(p) + ", not the submission: " + strings.TrimSuffix(extra["task"], ".") + "."}
	}
	_, failure := processStatus(j, limit, p, nil)
	failure.CausedByTask = true
	failure.Reason = "The task failed, not the submission. " + strings.Replace(failure.Reason, "The program", "Its generator, reference or checker", 1)
	return job.StatusError, failure
}

// exitedNormally reports whether a process exited with success or with a failed check.
func exitedNormally(out sandbox.Outcome) bool {
	return !out.Cancelled && out.ExceededLimit == "" && out.Signal == "" &&
		(out.ExitCode == 0 || out.ExitCode == exitFailed)
}

// processStatus returns the status and failure for one process.
func processStatus(out sandbox.Outcome, limit time.Duration, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	where := progressText(p)
	switch {
	case out.Cancelled:
		return job.StatusCancelled, &job.Failure{Reason: "The run was cancelled."}
	case out.ExceededLimit == "wall":
		return job.StatusTimeout, &job.Failure{
			Limit:  out.ExceededLimit,
			Reason: fmt.Sprintf("The time limit of %v s was reached%s.", limit.Seconds(), where),
		}
	case out.ExceededLimit != "":
		return job.StatusLimitExceeded, &job.Failure{Limit: out.ExceededLimit, Signal: out.Signal,
			Reason: fmt.Sprintf("The program hit its %s limit%s.", out.ExceededLimit, where)}
	case out.Signal != "":
		return job.StatusError, &job.Failure{
			Signal: out.Signal,
			Reason: endedSentence("was killed by "+out.Signal, where, signalTexts[out.Signal]),
		}
	case out.ExitCode != 0 && out.ExitCode != exitFailed:
		return job.StatusError, &job.Failure{ExitCode: out.ExitCode,
			Reason: endedSentence(fmt.Sprintf("ended with exit code %d", out.ExitCode), where, exitTexts[out.ExitCode])}
	}
	return programVerdict(out, p, want)
}

// programVerdict returns the status and failure for a program that exited with success or a failed check.
func programVerdict(out sandbox.Outcome, p *Parser, want []tasks.Case) (job.Status, *job.Failure) {
	failure := func(status job.Status, reason string) (job.Status, *job.Failure) {
		return status, &job.Failure{ExitCode: out.ExitCode, Reason: reason}
	}
	for _, c := range p.Cases() {
		if c.Status == job.StatusFail && p.Verdict() != "pass" {
			return failure(job.StatusFail, wrongAnswerText(c)+inProcessPhrase(p))
		}
	}
	inconsistency := checkReport(p, want)
	switch {
	case p.inconsistency != "":
		return failure(job.StatusError, p.inconsistency)
	case p.Verdict() == "":
		return failure(job.StatusError, "The program ended without a verdict"+progressText(p)+": it left before its checks were done.")
	case p.Verdict() != "pass":
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
	if c.SpecLine != "" {
		text = fmt.Sprintf("Case %d (%s) gave a wrong answer", c.Index, c.SpecLine)
	}
	if first, _, _ := strings.Cut(c.Message, "\n"); first != "" {
		text += ": " + first
	}
	return strings.TrimSuffix(text, ".") + "."
}

func endedSentence(how, where, why string) string {
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

// inProcessPhrase returns a sentence with the number of earlier processes whose answers were right, or "" for the first
// process.
func inProcessPhrase(p *Parser) string {
	if p.ProcessCount() == 0 {
		return ""
	}
	return fmt.Sprintf(" It was right in the %d fresh processes before.", p.ProcessCount())
}

// progressText names the case that was running when the program ended, if the report shows it.
func progressText(p *Parser) string {
	cases := p.Cases()
	for _, c := range cases {
		if c.Status == "" {
			return fmt.Sprintf(" in case %d (%s)%s", c.Index, c.SpecLine, ofProcessPhrase(p))
		}
	}
	if p.ProcessCount() > 0 && len(p.cases) == 0 {
		return " before the first case" + ofProcessPhrase(p)
	}
	if len(cases) > 0 && p.AnnouncedCases() > len(cases) {
		return fmt.Sprintf(" after %d of %d cases%s", len(cases), p.AnnouncedCases(), ofProcessPhrase(p))
	}
	if len(cases) == 0 {
		return " before its first case"
	}
	return ""
}

// ofProcessPhrase returns a phrase such as " of fresh process 2" for the current process, or "" for the first.
func ofProcessPhrase(p *Parser) string {
	if p.ProcessCount() == 0 {
		return ""
	}
	return fmt.Sprintf(" of fresh process %d", p.ProcessCount()+1)
}

// FinishCases sets the status of incomplete cases to that of the stage.
func FinishCases(cases []job.CaseResult, stage job.Status) []job.CaseResult {
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
