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

// Limits for the program's report, which repeats cases of the request and messages of user code. The program refuses
// a request whose report needs longer lines (MOST_REPORT in evaluate.py).
const (
	maxReportLine  = 4 << 20
	maxReportBytes = 64 << 20
)

// reportReader parses the program's report while it runs.
type reportReader struct {
	onStage           func(stage string)
	onMayPrepare      func() // called when processes for later evaluations may use the device; can be nil
	lines             harness.LineSplitter
	bytesRead         int
	result            kernelrun.Result
	compiledForms     map[string]string // compiled forms for later runs, by kernel
	compilingKernel   string            // kernel being compiled
	endedProcess      string            // process that ended too early: custom, ref, or inputs
	inputGenerator    string            // kernel whose source generates the inputs
	protocolViolation string            // description of a protocol violation by a process
	customRaised      bool              // the custom kernel raised in a timed call
	isComplete        bool
	stageStartedAt    time.Time
	// keptReferences has the references that the judge keeps; nil if it did not report them. referenceLost means that
	// the requested one is not among them.
	keptReferences map[string]keptReference
	referenceLost  bool

	stdoutText, stderrText sandbox.OutputCapture // output of the kernels on stdout and stderr
}

// newReportReader returns a reader that calls onStage when a stage starts.
func newReportReader(onStage func(stage string)) *reportReader {
	r := &reportReader{onStage: onStage}
	r.lines = harness.LineSplitter{MaxBytes: maxReportLine, OnLine: r.readLine}
	return r
}

// read parses a piece of the report. Invalid lines are ignored. A report that is too large violates the protocol,
// because its end is not read.
func (r *reportReader) read(b []byte) {
	if r.bytesRead += len(b); r.bytesRead <= maxReportBytes {
		r.lines.Feed(b)
		return
	}
	r.protocolViolation = cmp.Or(r.protocolViolation,
		fmt.Sprintf("The evaluation's report is larger than %d MiB: send smaller cases.", maxReportBytes>>20))
}

func (r *reportReader) stdout(b []byte) { _, _ = r.stdoutText.Write(b) }

func (r *reportReader) stderr(b []byte) { _, _ = r.stderrText.Write(b) }

func (r *reportReader) readLine(line []byte) {
	var message struct {
		Stage      string            `json:"stage"`
		Kernel     string            `json:"kernel"`
		Report     *kernelrun.Report `json:"report"`
		Compiled   map[string]string `json:"compiled"`
		Gone       string            `json:"gone"`
		Refused    string            `json:"refused"`
		Raised     bool              `json:"raised"`
		Done       bool              `json:"done"`
		MayPrepare bool              `json:"may_prepare"`
		Lost       bool              `json:"lost"`

		References map[string]keptReference `json:"references"`
	}
	if json.Unmarshal(line, &message) != nil {
		return
	}
	if message.Report != nil {
		r.result.Report = *message.Report
	}
	if message.Compiled != nil {
		r.compiledForms = message.Compiled
	}
	if message.References != nil {
		r.keptReferences = message.References
	}
	r.isComplete, r.referenceLost, r.customRaised = r.isComplete || message.Done, r.referenceLost || message.Lost, r.customRaised || message.Raised
	r.endedProcess, r.protocolViolation = cmp.Or(message.Gone, r.endedProcess), cmp.Or(message.Refused,
		r.protocolViolation)
	if message.MayPrepare && r.onMayPrepare != nil {
		r.onMayPrepare()
	}
	switch message.Stage {
	case kernelrun.StageCompiling, kernelrun.StageValidating, kernelrun.StageProfiling:
		r.compilingKernel = message.Kernel
		r.beginStage(message.Stage)
	}
}

func (r *reportReader) beginStage(stage string) {
	if stage == r.result.LastStage {
		return
	}
	r.endStage()
	r.result.LastStage = stage
	r.onStage(stage)
}

// endStage adds the elapsed time to that of the stage. A program may return to an earlier stage.
func (r *reportReader) endStage() {
	if r.result.LastStage != "" {
		if r.result.StageSeconds == nil {
			r.result.StageSeconds = map[string]float64{}
		}
		r.result.StageSeconds[r.result.LastStage] += time.Since(r.stageStartedAt).Seconds()
	}
	r.stageStartedAt = time.Now()
}

// conclude returns the result after the last line. After a crash or the time limit, earlier results stay, and the step
// in progress gets the reason. It returns an error if the judge failed, which the kernel did not cause.
func (r *reportReader) conclude(end judge.StageEnding) (kernelrun.Result, error) {
	o := end.Outcome
	if j := end.JudgeOutcome; j != nil {
		switch {
		case j.ExceededLimit != "" && o.ExceededLimit == "":
			o.ExceededLimit, r.endedProcess = j.ExceededLimit, "judge"
		case !r.isComplete && r.endedProcess == "" && r.protocolViolation == "" && o.ExceededLimit == "" &&
			!end.RunnerKilledFirst:
			return r.result, fmt.Errorf("the evaluation's judge ended with exit code %d and signal %q: %s", j.ExitCode, j.Signal, lastLine(j.Stderr))
		}
	} else if r.result.LastStage == "" && o.ExceededLimit == "" {
		return r.result, fmt.Errorf("the evaluation's program ended with exit code %d before it began: %s", o.ExitCode, lastLine(o.Stderr))
	}
	r.endStage()
	r.result.ExitCode, r.result.Signal, r.result.ExceededLimit = o.ExitCode, o.Signal, o.ExceededLimit
	r.result.TimedOut = o.ExceededLimit == "wall" && !r.isComplete
	r.result.Stdout, r.result.Stderr = lastOutput(r.stdoutText.String()), lastOutput(r.stderrText.String())
	if !r.isComplete {
		r.setStepError(cmp.Or(r.protocolViolation, r.endedProcessText(o)+" while "+cmp.Or(r.result.LastStage, "starting")+"."+lastDeviceError(r.result.Stderr)))
	}
	return r.result, nil
}

// customKernelFailed reports whether the custom kernel was wrong, raised an exception, or ended its process or the
// judge's. It returns false if the reference failed or the time limit was reached.
func (r *reportReader) customKernelFailed() bool {
	return r.result.Fault == "" && !r.result.TimedOut && (!r.result.Correctness || r.customRaised || !r.isComplete)
}

// setStepError stores a text as the error of the step in progress.
func (r *reportReader) setStepError(what string) {
	report := &r.result.Report
	if r.endedProcess == refLabel || r.endedProcess == "inputs" && r.inputGenerator == refLabel {
		report.Fault = kernelrun.FaultReference
	}
	switch {
	case r.result.LastStage == kernelrun.StageProfiling && r.protocolViolation == "":
		report.ProfilingError = "Profiling failed:\n" + what
	case r.result.LastStage != kernelrun.StageCompiling && r.result.LastStage != "": // a protocol violation also invalidates the answers
		report.Correctness, report.ValidationError = false, what
	case r.compilingKernel == refLabel:
		report.Fault = kernelrun.FaultReference
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skippedMessage
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// endedProcessSubject returns the subject of a sentence about the process that ended the stage.
func (r *reportReader) endedProcessSubject() string {
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

// endedProcessText returns the beginning of a sentence about how the process ended.
func (r *reportReader) endedProcessText(o sandbox.Outcome) string {
	switch who := r.endedProcessSubject(); {
	case o.ExceededLimit == "wall":
		return "The time limit was reached"
	case o.ExceededLimit != "":
		return who + " hit its " + o.ExceededLimit + " limit and was killed"
	case o.Signal != "":
		return who + " was killed by " + o.Signal
	default:
		return fmt.Sprintf("%s exited with code %d", who, o.ExitCode)
	}
}

var deviceErrorPattern = regexp.MustCompile(`(?i)CUDA error: [a-z][a-z -]+|CUDA_ERROR_[A-Z_]+`)

// lastDeviceError returns a sentence with the last device error that a process printed, or "". A kernel's error ends
// its process, because each later call of the device fails with it.
func lastDeviceError(stderr string) string {
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

// maxOutputBytes limits an output stream in a result, in bytes.
const maxOutputBytes = 16 << 10

// lastOutput returns the end of a text, up to maxOutputBytes.
func lastOutput(s string) string {
	if len(s) <= maxOutputBytes {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-maxOutputBytes:], "")
}
