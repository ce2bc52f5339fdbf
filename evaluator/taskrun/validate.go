package taskrun

import (
	"context"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/attempt"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
)

// runValidation runs the validate stage, which follows the build in mode validate: the task's validation script with
// the submission beside it. The script imports the submission, so both share a process, and a submission can forge the
// answer, which therefore does not affect ranks.
func (r *Run) runValidation(ctx context.Context, program toolchain.Program) error {
	if err := r.BeginStageUnlessEnded(ctx, job.StageValidate, 0); err != nil {
		return err
	}
	result, limit := job.StageResult{Stage: job.StageValidate, StartedAt: time.Now().UTC()}, validationTime(r.Job)
	log := r.NewStageLog(job.StageValidate)
	ending, err := program.RunStage(ctx, toolchain.StageRequest{
		Mode: harness.EvalMode(job.StageValidate), Seed: harness.PublicSeed(r.Job.Task), Timeout: limit,
		OnStdout: func(b []byte) { log.Write("stdout", b) }, OnStderr: func(b []byte) { log.Write("stderr", b) },
	})
	log.Close()
	if err := r.InterruptionError(ctx, job.StageValidate, err); err != nil {
		return err
	}
	result.EndedAt, result.Stdout, result.Stderr = time.Now().UTC(), ending.Outcome.Stdout, ending.Outcome.Stderr
	script := job.CaseResult{SpecLine: r.Job.Task.Config.MainFile}
	script.Status, script.Message = validationVerdict(ending.Outcome, limit)
	script = trimCaseTexts(script)
	result.Status, result.Cases = script.Status, []job.CaseResult{script}
	if script.Status != job.StatusPass {
		result.Failure = &job.Failure{
			Reason:   script.Message,
			Limit:    ending.Outcome.ExceededLimit,
			Signal:   ending.Outcome.Signal,
			ExitCode: ending.Outcome.ExitCode,
		}
	}
	r.Result.ProgramNS += ending.Outcome.WallTime.Nanoseconds()
	r.StoreStage(result)
	return attempt.StageError(ctx, result)
}

// validationTime returns the largest time limit of the task.
func validationTime(j job.Job) time.Duration {
	return max(j.Task.Timeouts.Test, j.Task.Timeouts.Benchmark, j.Task.Timeouts.Ranked)
}

// validationVerdict returns the verdict of a script that has ended: StatusPass if the submission is valid, StatusFail
// if not. Any other status means that the script gave no answer.
func validationVerdict(out sandbox.Outcome, limit time.Duration) (job.Status, string) {
	switch {
	case out.Cancelled:
		return job.StatusCancelled, "The run was cancelled."
	case out.ExceededLimit == "wall":
		return job.StatusTimeout, fmt.Sprintf("The script reached its time limit of %v s.", limit.Seconds())
	case out.ExceededLimit != "":
		return job.StatusLimitExceeded, fmt.Sprintf("The script hit its %s limit.", out.ExceededLimit)
	case out.Signal != "":
		return job.StatusError, "The script was killed by " + out.Signal + "."
	case out.ExitCode != 0:
		return job.StatusError, strings.TrimSpace(fmt.Sprintf("The script ended with exit code %d. %s", out.ExitCode, lastLine(out.Stderr)))
	}
	last := lastLine(out.Stdout)
	for _, answer := range []struct {
		words  string
		status job.Status
	}{{"applies", job.StatusPass}, {"does not apply", job.StatusFail}} {
		if rest, ok := strings.CutPrefix(last, answer.words); ok && (rest == "" || rest[0] == ':') {
			return answer.status, strings.TrimSpace(strings.TrimPrefix(rest, ":"))
		}
	}
	return job.StatusError, `The script gave no answer: the last line that it prints must begin with "applies" or "does not apply", and may go on with a colon and a message.`
}

// lastLine returns the last line that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
