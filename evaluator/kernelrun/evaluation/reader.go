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

// Limits of the program's report, which repeats messages of user code.
const (
	maxLine   = 4 << 20
	maxReport = 64 << 20
)

// reader parses the program's report while it runs.
type reader struct {
	onStage   func(stage string)
	lines     harness.Lines
	bytesRead int
	last      kernelrun.Result
	compiled  map[string]string // compiled forms for later runs, by kernel
	kernel    string            // kernel being compiled
	gone      string            // process that ended too early: custom, ref, or inputs
	inputs    string            // kernel whose source generates the inputs
	refused   string            // description of a protocol violation by a process
	raised    bool              // the custom kernel raised in a timed call
	done      bool
	began     time.Time // of the stage
	// references are those that the judge keeps; nil if it did not report them. lost means that the requested one is
	// not among them.
	references map[string]keptReference
	lost       bool

	printed, failed sandbox.Capture // output of the kernels on stdout and stderr
}

// newReader returns a reader that calls onStage when a stage starts.
func newReader(onStage func(stage string)) *reader {
	r := &reader{onStage: onStage}
	r.lines = harness.Lines{Max: maxLine, Each: r.take}
	return r
}

// read parses a piece of the report. Invalid lines are ignored.
func (r *reader) read(b []byte) {
	if r.bytesRead += len(b); r.bytesRead <= maxReport {
		r.lines.Feed(b)
	}
}

func (r *reader) stdout(b []byte) { _, _ = r.printed.Write(b) }

func (r *reader) stderr(b []byte) { _, _ = r.failed.Write(b) }

func (r *reader) take(line []byte) {
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
		r.last.Report = *message.Report
	}
	if message.Compiled != nil {
		r.compiled = message.Compiled
	}
	if message.References != nil {
		r.references = message.References
	}
	r.done, r.lost, r.raised = r.done || message.Done, r.lost || message.Lost, r.raised || message.Raised
	r.gone, r.refused = cmp.Or(message.Gone, r.gone), cmp.Or(message.Refused, r.refused)
	switch message.Stage {
	case kernelrun.StageCompiling, kernelrun.StageValidating, kernelrun.StageProfiling:
		r.kernel = message.Kernel
		r.begin(message.Stage)
	}
}

func (r *reader) begin(stage string) {
	if stage == r.last.Stage {
		return
	}
	r.endStage()
	r.last.Stage = stage
	r.onStage(stage)
}

// endStage adds the elapsed time to the stage's; the program may return to a stage.
func (r *reader) endStage() {
	if r.last.Stage != "" {
		if r.last.StageSeconds == nil {
			r.last.StageSeconds = map[string]float64{}
		}
		r.last.StageSeconds[r.last.Stage] += time.Since(r.began).Seconds()
	}
	r.began = time.Now()
}

// conclude returns the result after the last line. Results from before a crash or the time limit stay, and the step in
// progress gets the reason. It returns an error if the judge failed, which is not the kernel's fault.
func (r *reader) conclude(end judge.Ending) (kernelrun.Result, error) {
	o := end.Outcome
	if j := end.Judge; j != nil {
		switch {
		case j.Limit != "" && o.Limit == "":
			o.Limit, r.gone = j.Limit, "judge"
		case !r.done && r.gone == "" && r.refused == "" && o.Limit == "" && !end.RunnerFirst:
			return r.last, fmt.Errorf("the evaluation's judge ended with exit code %d and signal %q: %s", j.ExitCode, j.Signal, lastLine(j.Stderr))
		}
	} else if r.last.Stage == "" && o.Limit == "" {
		return r.last, fmt.Errorf("the evaluation's program ended with exit code %d before it began: %s", o.ExitCode, lastLine(o.Stderr))
	}
	r.endStage()
	r.last.ExitCode, r.last.Signal, r.last.Limit = o.ExitCode, o.Signal, o.Limit
	r.last.TimedOut = o.Limit == "wall" && !r.done
	r.last.Stdout, r.last.Stderr = tail(r.printed.String()), tail(r.failed.String())
	if !r.done {
		r.blame(cmp.Or(r.refused, r.endedText(o)+" while "+cmp.Or(r.last.Stage, "starting")+"."+deviceError(r.last.Stderr)))
	}
	return r.last, nil
}

// kernelFailed reports whether the custom kernel was wrong, raised, or ended its process or the judge's. It returns
// false if the reference failed or the time limit was reached.
func (r *reader) kernelFailed() bool {
	return r.last.Fault == "" && !r.last.TimedOut && (!r.last.Correctness || r.raised || !r.done)
}

// blame stores the reason in the error of the step in progress.
func (r *reader) blame(what string) {
	report := &r.last.Report
	if r.gone == refLabel || r.gone == "inputs" && r.inputs == refLabel {
		report.Fault = kernelrun.FaultReference
	}
	switch {
	case r.last.Stage == kernelrun.StageProfiling && r.refused == "":
		report.ProfilingError = "Profiling failed:\n" + what
	case r.last.Stage != kernelrun.StageCompiling && r.last.Stage != "": // a protocol violation also invalidates the answers
		report.Correctness, report.ValidationError = false, what
	case r.kernel == refLabel:
		report.Fault = kernelrun.FaultReference
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skipped
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// endedSubject returns the subject of a sentence about the process that ended.
func (r *reader) endedSubject() string {
	switch r.gone {
	case refLabel:
		return "The reference's process"
	case "inputs":
		return "The process that draws the inputs"
	case "judge":
		return "The judge's process, which holds inputs and outputs too,"
	}
	return "The kernel's process"
}

// endedText returns the beginning of a sentence about the end.
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

var deviceErrors = regexp.MustCompile(`(?i)CUDA error: [a-z][a-z -]+|CUDA_ERROR_[A-Z_]+`)

// deviceError returns a sentence with the last device error that a process printed. A kernel's error ends its process,
// because each later call of the device fails with it.
func deviceError(stderr string) string {
	found := deviceErrors.FindAllString(stderr, -1)
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

// maxOutput limits the bytes of an output stream that a result keeps.
const maxOutput = 16 << 10

// tail returns the end of a text.
func tail(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-maxOutput:], "")
}
