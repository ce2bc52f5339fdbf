package sanitizing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/evaluator/toolchain"
	"warpboard/tasks"
)

const (
	logFile     = "sanitizer.log"
	maxLogBytes = 4 << 20 // maximum size of a tool's log
	// maxPrintedErrors limits the errors that a tool writes to its log. Errors of threads on the same line are merged,
	// so it exceeds the number of stored findings.
	maxPrintedErrors = 1000
	// judgeExitTimeout is the time for the judge to end after a tool was killed.
	judgeExitTimeout = 30 * time.Second
)

// Sanitizer runs the tools of compute-sanitizer inside the sandbox. Zero times mean the defaults in the comments.
type Sanitizer struct {
	Executable   *toolchain.Tool
	Runner       toolchain.ProcessRunner
	ToolTimeout  time.Duration // for one tool and all test cases; 3 minutes
	TotalTimeout time.Duration // for all tools; 10 minutes
}

// sanitizerTools lists the tools of compute-sanitizer in the order in which they run. The first is the fastest and
// finds most errors.
func sanitizerTools() []string { return []string{"memcheck", "synccheck", "initcheck", "racecheck"} }

// SanitizeRequest describes a check of a built program on its slot.
type SanitizeRequest struct {
	Job     job.Job
	Program toolchain.Program
	Cases   []tasks.Case
	// OnLog receives output while the stage runs; stream is "stdout" or "stderr". OnTool receives the result of each
	// ended tool.
	OnLog  func(stream string, text []byte)
	OnTool func(job.CaseResult)
}

// ToolCount returns the number of tools of compute-sanitizer. The stage has one case for each.
func ToolCount() int { return len(sanitizerTools()) }

// Sanitize runs each tool over the cases. The stage passes if all tools completed and found nothing. Its times have no
// meaning.
func (s *Sanitizer) Sanitize(ctx context.Context, req SanitizeRequest) (job.StageResult, error) {
	result := job.StageResult{Stage: job.StageSanitize, Status: job.StatusPass, StartedAt: time.Now().UTC()}
	end := time.Now().Add(durationOrDefault(s.TotalTimeout, 10*time.Minute))
	for i, tool := range sanitizerTools() {
		limit := min(durationOrDefault(s.ToolTimeout, 3*time.Minute), time.Until(end))
		ended := toolRun{tool: tool, timeLimit: limit}
		if limit > 0 {
			if err := s.runTool(ctx, req, &ended); err != nil {
				return result, err
			}
		}
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		status, message := ended.verdict()
		one := job.CaseResult{Index: i, SpecLine: tool, Status: status, Message: message}
		result.Cases, result.Findings = append(result.Cases, one), append(result.Findings, ended.log.findings...)
		ended.appendOutput(&result)
		req.OnTool(one)
	}
	result.EndedAt = time.Now().UTC()
	result.Status, result.Failure = stageVerdict(result.Cases)
	return result, nil
}

// toolRun is the run of one tool.
type toolRun struct {
	tool       string
	timeLimit  time.Duration // if 0 or less, no time was left and it did not run
	command    string
	process    sandbox.Outcome // outcome of the submission's process
	log        toolLog
	testStatus job.Status // status of the tests
	failure    *job.Failure
}

// runTool runs one tool. Its error is an infrastructure error.
func (s *Sanitizer) runTool(ctx context.Context, req SanitizeRequest, r *toolRun) error {
	judged, own := harness.NewParser(nil), harness.NewParser(nil)
	pipe, drain, err := newReportPipe(own)
	if err != nil {
		return err
	}
	asked := toolchain.StageRequest{
		Mode: harness.EvalMode(job.StageSanitize), Cases: req.Cases, Seed: harness.PublicSeed(req.Job.Task),
		Timeout: r.timeLimit + judgeExitTimeout, LingerTime: judgeExitTimeout, OnResultPipe: func(b []byte) { judged.Write(b) },
		OnStdout: func(b []byte) { req.OnLog("stdout", b) }, OnStderr: func(b []byte) { req.OnLog("stderr", b) },
	}
	req.OnLog("stderr", []byte(r.toolTitle()))
	ending, err := req.Program.RunWrapped(ctx, asked, func(ctx context.Context, spec sandbox.Spec) (sandbox.Outcome, error) {
		s.wrapProcess(&spec, r)
		spec.ResultPipe = pipe
		var err error
		r.process, err = s.Runner.Run(ctx, spec)
		return r.process, err
	})
	drain()
	if err != nil {
		return fmt.Errorf("run compute-sanitizer's %s: %w", r.tool, err)
	}
	parser, want := judged, req.Cases
	if ending.JudgeOutcome == nil {
		parser, want = own, nil // without a judge, the program itself reports a pass
	}
	parser.Close()
	r.testStatus, r.failure = harness.StageVerdict(ending, asked.Timeout, parser, want)
	if r.failure != nil && r.failure.IsInfrastructureError {
		return errors.New(r.failure.Reason)
	}
	r.log = readLog(r.tool, r.process.Files[logFile], submittedNames(req.Job.Task))
	return nil
}

// newReportPipe returns a result pipe for a program that judges itself. A runner with a judge does not use it.
func newReportPipe(parser *harness.Parser) (pipe *os.File, drain func(), err error) {
	from, pipe, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make the result pipe: %w", err)
	}
	drained := make(chan struct{})
	go func() {
		defer func() { from.Close(); drained <- struct{}{} }()
		io.Copy(parser, from) // never fails, and returns when the pipe is closed
	}()
	return pipe, func() { pipe.Close(); <-drained }, nil
}

// wrapProcess changes the spec of the submission's process so that it runs under the tool.
func (s *Sanitizer) wrapProcess(spec *sandbox.Spec, r *toolRun) {
	spec.Argv = slices.Concat([]string{s.Executable.Path}, toolOptions(r.tool), spec.Argv)
	r.command = strings.Join(spec.Argv, " ")
	spec.Mounts = append(spec.Mounts[:len(spec.Mounts):len(spec.Mounts)], s.Executable.Mounts()...)
	spec.AllowInternetSockets = true                 // the tool communicates with its child processes over TCP
	spec.Env["WARPBOARD_APART"] = "1"                // makes Warpboard's runner allocate each array separately
	spec.Env["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1" // makes torch allocate each tensor separately
	// racecheck starts a thread per processor. These threads must not count against the limits of the submission, nor
	// disturb timed runs.
	spec.Limits.WallTime, spec.Limits.CPU, spec.Limits.IsBackground = r.timeLimit, 0, true
	spec.Limits.Processes, spec.Limits.FileSize = 2*spec.Limits.Processes+runtime.NumCPU(), spec.Limits.TmpBytes
	spec.CollectFiles = map[string]int64{logFile: maxLogBytes}
}

// toolOptions returns a tool's options.
func toolOptions(tool string) []string {
	all := []string{
		"--tool", tool, "--log-file", "/out/" + logFile, "--print-limit", strconv.Itoa(maxPrintedErrors), "--show-backtrace", "device",
		"--kernel-name-exclude", "kernel_substring=" + harnessGateKernel,
	}
	if tool == "memcheck" {
		// torch and the harness make calls that may fail without being errors.
		return append(all, "--report-api-errors", "no")
	}
	return all
}

// submittedNames returns the names of the submission's files.
func submittedNames(def tasks.Definition) (names []string) {
	for _, f := range def.Files {
		if f.IsSubmission() {
			names = append(names, f.Name)
		}
	}
	return names
}

func (r *toolRun) toolTitle() string {
	return fmt.Sprintf("==WARPBOARD== compute-sanitizer %s\n", r.tool)
}

// appendOutput adds the command and the program's output under the tool.
func (r *toolRun) appendOutput(result *job.StageResult) {
	if r.command == "" {
		return
	}
	result.Command = strings.TrimPrefix(result.Command+"\n"+r.command, "\n")
	if r.process.Stdout != "" {
		result.Stdout += r.toolTitle() + r.process.Stdout
	}
	if r.process.Stderr != "" {
		result.Stderr += r.toolTitle() + r.process.Stderr
	}
}

func durationOrDefault(limit, otherwise time.Duration) time.Duration {
	if limit > 0 {
		return limit
	}
	return otherwise
}
