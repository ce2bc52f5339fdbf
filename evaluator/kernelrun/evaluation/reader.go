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

// The bounds of what the program may say: it repeats what user code raised.
const (
	maxLine = 4 << 20
	maxSaid = 64 << 20
)

// reader reads the program's pipe while it runs.
type reader struct {
	onStage  func(stage string)
	lines    harness.Lines
	said     int
	last     kernelrun.Result
	compiled map[string]string // what a later run need not compile, by kernel
	kernel   string            // which kernel is being compiled
	gone     string            // whose process ended too early: custom, ref or inputs
	inputs   string            // the kernel whose source the inputs come from
	refused  string            // how a process broke the judge's protocol
	done     bool
	began    time.Time // of the stage
	// references are those that the judge keeps, nil if it did not say; lost says that the one that was asked for is none of them.
	references map[string]kept
	lost       bool

	printed, failed sandbox.Capture // by the kernels, on both streams
}

// newReader returns a reader that calls onStage when a stage begins.
func newReader(onStage func(stage string)) *reader {
	r := &reader{onStage: onStage}
	r.lines = harness.Lines{Max: maxLine, Each: r.take}
	return r
}

// read takes a piece of the pipe. What cannot be understood is left out.
func (r *reader) read(b []byte) {
	if r.said += len(b); r.said <= maxSaid {
		r.lines.Feed(b)
	}
}

func (r *reader) stdout(b []byte) { _, _ = r.printed.Write(b) }

func (r *reader) stderr(b []byte) { _, _ = r.failed.Write(b) }

func (r *reader) take(line []byte) {
	var said struct {
		Stage    string            `json:"stage"`
		Kernel   string            `json:"kernel"`
		Report   *kernelrun.Report `json:"report"`
		Compiled map[string]string `json:"compiled"`
		Gone     string            `json:"gone"`
		Refused  string            `json:"refused"`
		Done     bool              `json:"done"`
		Lost     bool              `json:"lost"`

		References map[string]kept `json:"references"`
	}
	if json.Unmarshal(line, &said) != nil {
		return
	}
	if said.Report != nil {
		r.last.Report = *said.Report
	}
	if said.Compiled != nil {
		r.compiled = said.Compiled
	}
	if said.References != nil {
		r.references = said.References
	}
	r.done, r.lost = r.done || said.Done, r.lost || said.Lost
	r.gone, r.refused = cmp.Or(said.Gone, r.gone), cmp.Or(said.Refused, r.refused)
	switch said.Stage {
	case kernelrun.StageCompiling, kernelrun.StageValidating, kernelrun.StageProfiling:
		r.kernel = said.Kernel
		r.begin(said.Stage)
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

// endStage notes how long the stage took; the program may come back to one.
func (r *reader) endStage() {
	if r.last.Stage != "" {
		if r.last.StageSeconds == nil {
			r.last.StageSeconds = map[string]float64{}
		}
		r.last.StageSeconds[r.last.Stage] += time.Since(r.began).Seconds()
	}
	r.began = time.Now()
}

// conclude returns the result after the last line. What was known before a crash or the time limit stays, and the part
// that was under way says what happened. It fails when the judge did: that is not the kernel's fault.
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
		r.blame(cmp.Or(r.refused, r.howEnded(o)+" while "+cmp.Or(r.last.Stage, "starting")+"."+deviceError(r.last.Stderr)))
	}
	return r.last, nil
}

// blame puts what ended the process where it happened.
func (r *reader) blame(what string) {
	report := &r.last.Report
	if r.gone == refLabel || r.gone == "inputs" && r.inputs == refLabel {
		report.Fault = kernelrun.FaultReference
	}
	switch {
	case r.last.Stage == kernelrun.StageProfiling && r.refused == "":
		report.ProfilingError = "Profiling failed:\n" + what
	case r.last.Stage != kernelrun.StageCompiling && r.last.Stage != "": // a program that breaks the protocol was never right
		report.Correctness, report.ValidationError = false, what
	case r.kernel == refLabel:
		report.Fault = kernelrun.FaultReference
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skipped
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// whose is the beginning of a sentence about the process that is gone.
func (r *reader) whose() string {
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

// howEnded is the beginning of a sentence.
func (r *reader) howEnded(o sandbox.Outcome) string {
	switch who := r.whose(); {
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

// deviceError repeats the last error of the device that a process printed before it ended, as a sentence. An error of a kernel ends
// its process, because each later call of the device fails with it.
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

// maxOutput is how much of an output stream a result keeps, in bytes.
const maxOutput = 16 << 10

// tail keeps the end of a text.
func tail(s string) string {
	if len(s) <= maxOutput {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-maxOutput:], "")
}
