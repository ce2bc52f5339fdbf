package evaluation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
)

// Limits for the program's report, which repeats messages of user code.
const (
	maxLine   = 4 << 20
	maxReport = 64 << 20
)

// reader parses the program's report while it runs.
type reader struct {
	onStage         func(stage string)
	lines           harness.Lines
	bytesRead       int
	result          kernelrun.Result
	compiled        map[string]string // compiled forms for later runs, by kernel
	compilingKernel string            // kernel being compiled
	endedProcess    string            // process that ended too early: custom, ref, or inputs
	inputsFrom      string            // kernel whose source generates the inputs
	violation       string            // description of a protocol violation by a process
	customRaised    bool              // the custom kernel raised in a timed call
	completed       bool
	stageStartedAt  time.Time // of the stage
	// references has the references that the judge keeps; nil if it did not report them. referenceLost means that the
	// requested one is not among them.
	references    map[string]keptReference
	referenceLost bool

	stdoutText, stderrText sandbox.Capture // output of the kernels on stdout and stderr
}

// newReader returns a reader that calls onStage when a stage starts.
func newReader(onStage func(stage string)) *reader {
	r := &reader{onStage: onStage}
	r.lines = harness.Lines{MaxBytes: maxLine, OnLine: r.readLine}
	return r
}

// read parses a piece of the report. Invalid lines are ignored.
func (r *reader) read(b []byte) {
	if r.bytesRead += len(b); r.bytesRead <= maxReport {
		r.lines.Feed(b)
	}
}

func (r *reader) stdout(b []byte) { _, _ = r.stdoutText.Write(b) }

func (r *reader) stderr(b []byte) { _, _ = r.stderrText.Write(b) }

func (r *reader) readLine(line []byte) {
	var message struct {
		Stage    string            `json:"stage"`
		Kernel   string            `json:"kernel"`
		Report   *kernelrun.Report `json:"report"`
		Compiled map[string]string `json:"compiled"`
		Gone     string            `json:"gone"`
		Refused  string            `json:"refused"`
		Raised   bool              `json:"raised"`
		Done     bool              `json:"done"`
		Lost     bool              `json:"lost"`

		References map[string]keptReference `json:"references"`
	}
	if json.Unmarshal(line, &message) != nil {
		return
	}
	if message.Report != nil {
		r.result.Report = *message.Report
	}
	if message.Compiled != nil {
		r.compiled = message.Compiled
	}
	if message.References != nil {
		r.references = message.References
	}
	r.completed, r.referenceLost, r.customRaised = r.completed || message.Done, r.referenceLost || message.Lost, r.customRaised || message.Raised
	r.endedProcess, r.violation = cmp.Or(message.Gone, r.endedProcess), cmp.Or(message.Refused, r.violation)
	switch message.Stage {
	case kernelrun.StageCompiling, kernelrun.StageValidating, kernelrun.StageProfiling:
		r.compilingKernel = message.Kernel
		r.begin(message.Stage)
	}
}

func (r *reader) begin(stage string) {
	if stage == r.result.Stage {
		return
	}
	r.endStage()
	r.result.Stage = stage
	r.onStage(stage)
}

// endStage adds the elapsed time to that of the stage. A program may return to an earlier stage.
func (r *reader) endStage() {
	if r.result.Stage != "" {
		if r.result.StageSeconds == nil {
			r.result.StageSeconds = map[string]float64{}
		}
		r.result.StageSeconds[r.result.Stage] += time.Since(r.stageStartedAt).Seconds()
	}
	r.stageStartedAt = time.Now()
}

// conclude returns the result after the last line. After a crash or the time limit, earlier results stay, and the step
// in progress gets the reason. It returns an error if the judge failed, which the kernel did not cause.
func (r *reader) conclude(end judge.Ending) (kernelrun.Result, error) {
	o := end.Outcome
	if j := end.Judge; j != nil {
		switch {
		case j.Limit != "" && o.Limit == "":
			o.Limit, r.endedProcess = j.Limit, "judge"
		case !r.completed && r.endedProcess == "" && r.violation == "" && o.Limit == "" && !end.RunnerKilledFirst:
			return r.result, fmt.Errorf("the evaluation's judge ended with exit code %d and signal %q: %s", j.ExitCode, j.Signal, lastLine(j.Stderr))
		}
	} else if r.result.Stage == "" && o.Limit == "" {
		return r.result, fmt.Errorf("the evaluation's program ended with exit code %d before it began: %s", o.ExitCode, lastLine(o.Stderr))
	}
	r.endStage()
	r.result.ExitCode, r.result.Signal, r.result.Limit = o.ExitCode, o.Signal, o.Limit
	r.result.TimedOut = o.Limit == "wall" && !r.completed
	r.result.Stdout, r.result.Stderr = outputEnd(r.stdoutText.String()), outputEnd(r.stderrText.String())
	if !r.completed {
		r.blame(cmp.Or(r.violation, r.endedText(o)+" while "+cmp.Or(r.result.Stage, "starting")+"."+deviceError(r.result.Stderr)))
	}
	return r.result, nil
}

// kernelFailed reports whether the custom kernel was wrong, raised an exception, or ended its process or the judge's.
// It returns false if the reference failed or the time limit was reached.
func (r *reader) kernelFailed() bool {
	return r.result.Fault == "" && !r.result.TimedOut && (!r.result.Correctness || r.customRaised || !r.completed)
}

// blame stores what as the error of the step in progress.
func (r *reader) blame(what string) {
	report := &r.result.Report
	if r.endedProcess == refLabel || r.endedProcess == "inputs" && r.inputsFrom == refLabel {
		report.Fault = kernelrun.FaultReference
	}
	switch {
	case r.result.Stage == kernelrun.StageProfiling && r.violation == "":
		report.ProfilingError = "Profiling failed:\n" + what
	case r.result.Stage != kernelrun.StageCompiling && r.result.Stage != "": // a protocol violation also invalidates the answers
		report.Correctness, report.ValidationError = false, what
	case r.compilingKernel == refLabel:
		report.Fault = kernelrun.FaultReference
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skippedText
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// endedSubject returns the subject of a sentence about the process that ended the stage.
func (r *reader) endedSubject() string {
	switch r.endedProcess {
	case refLabel:
		return "The reference's process"
	case "inputs":
		return "The process that draws the inputs"
	case "judge":
		return "The judge's process, which holds inputs and outputs too,"
	}
	return "The kernel's process"
}

// endedText returns the beginning of a sentence about how the process ended.
func (r *reader) endedText(o sandbox.Outcome) string {
	switch who := r.endedSubject(); {
	case o.Limit == "wall":
		return "The time limit was reached"
	case o.Limit != "":
		return who + " hit its " + o.Limit + " limit and was killed"
	case o.Signal != "":
		return who + " was killed by " + o.Signal
	default:
		return fmt.Sprintf("%s exited with code %d", who, o.ExitCode)
	}
}

var deviceErrorPattern = regexp.MustCompile(`(?i)CUDA error: [a-z][a-z -]+|CUDA_ERROR_[A-Z_]+`)

// deviceError returns a sentence with the last device error that a process printed, or "". A kernel's error ends its
// process, because each later call of the device fails with it.
func deviceError(stderr string) string {
	found := deviceErrorPattern.FindAllString(stderr, -1)
	if len(found) == 0 {
		return ""
	}
	last := strings.TrimSpace(found[len(found)-1])
	if last == "CUDA_ERROR_ILLEGAL_ADDRESS" {
		last = "CUDA error: an illegal memory access was encountered"
	}
	return " It reported: " + last + "."
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// maxOutput limits an output stream in a result, in bytes.
const maxOutput = 16 << 10

// outputEnd returns the end of a text, up to maxOutput.
func outputEnd(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-maxOutput:], "")
}
