package toolchain

import (
	"fmt"
	"regexp"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// compilerErrorPattern matches the line of a compiler's or linker's output that names the error. It expects English
// messages of gcc, nvcc, and ld; the sandbox sets LANG to C.UTF-8. Without a match the short reason is generic; the
// whole output is stored in any case.
var compilerErrorPattern = regexp.MustCompile(`(?m)^.*(\berror\b|undefined reference|multiple definition|cannot find -l|Error:).*$`)

// noKernelPattern matches the linker's error for a submission that does not define the function that the harness calls.
var noKernelPattern = regexp.MustCompile("undefined reference to [`']custom_kernel\\(")

// explainFailure stores in the result why a step failed.
func (c *compilation) explainFailure(result *job.StageResult, s buildStep) {
	result.Stdout, result.Stderr = s.outcome.Stdout, s.outcome.Stderr
	what := "compiling " + s.file.FileName
	if s.file.FileName == "linking" {
		what = s.file.FileName
	}
	status, failure := commandFailure(s.outcome, what)
	if !s.file.HasSubmission && status == job.StatusError {
		failure.Reason = fmt.Sprintf("The task's own file %s does not compile; its author has to fix it: %s", s.file.FileName, failure.Reason)
	}
	failBuild(result, status, failure)
}

// commandFailure returns the status and failure for a compiler or interpreter that did not succeed. what describes the
// activity, such as "compiling kernel.cu".
func commandFailure(o sandbox.Outcome, what string) (job.Status, job.Failure) {
	failure := job.Failure{ExitCode: o.ExitCode, Signal: o.Signal, Limit: o.ExceededLimit}
	upper := strings.ToUpper(what[:1]) + what[1:]
	switch {
	case o.Cancelled:
		failure.Reason = "The run was cancelled."
		return job.StatusCancelled, failure
	case o.ExceededLimit == "wall":
		failure.Reason = upper + " took longer than the time limit of a build."
		return job.StatusTimeout, failure
	case o.ExceededLimit != "":
		failure.Reason = fmt.Sprintf("%s hit the %s limit of a build.", upper, o.ExceededLimit)
		return job.StatusLimitExceeded, failure
	case o.Signal != "":
		failure.Reason = fmt.Sprintf("%s was killed by %s.", upper, o.Signal)
		return job.StatusError, failure
	}
	failure.Reason = upper + " failed: " + firstErrorLine(o)
	if !strings.HasSuffix(failure.Reason, "?") { // compilers also ask: did you mean …?
		failure.Reason += "."
	}
	if noKernelPattern.MatchString(failure.Reason) {
		failure.Reason += " The submission must define output_t custom_kernel(input_t data) with this parameter, by value, not static, and outside any namespace."
	}
	return job.StatusError, failure
}

// firstErrorLine returns the first line that names an error, or else a note with the exit code.
func firstErrorLine(o sandbox.Outcome) string {
	for _, text := range []string{o.Stderr, o.Stdout} {
		if line := compilerErrorPattern.FindString(text); line != "" {
			return strings.TrimSuffix(strings.TrimSpace(line), ".")
		}
	}
	if o.ExitCode == 0 {
		return "the compiler left no output file"
	}
	return fmt.Sprintf("the compiler ended with exit code %d", o.ExitCode)
}
