package evaluation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/sandbox"
)

// The bounds of what the program may say: user code shares its process.
const (
	maxLine = 4 << 20
	maxSaid = 64 << 20
)

// reader follows what the program says on its pipe while it runs.
type reader struct {
	onStage  func(stage string)
	lines    harness.Lines
	said     int
	last     kernelrun.Result
	compiled []byte
	kernel   string // which kernel is being compiled
	done     bool
	began    time.Time // of the stage
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

func (r *reader) take(line []byte) {
	var said struct {
		Stage    string            `json:"stage"`
		Kernel   string            `json:"kernel"`
		Report   *kernelrun.Report `json:"report"`
		Compiled []byte            `json:"compiled"`
		Done     bool              `json:"done"`
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
	r.done = r.done || said.Done
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

// conclude returns the result after the last Write. What was known before a crash or the time limit
// stays, and the part that was under way says what happened. It fails when the program never began: that
// is not the kernel's fault.
func (r *reader) conclude(o sandbox.Outcome) (kernelrun.Result, error) {
	if r.last.Stage == "" && o.Limit == "" {
		return r.last, fmt.Errorf("the evaluation's program ended with exit code %d before it began: %s", o.ExitCode, lastLine(o.Stderr))
	}
	r.endStage()
	r.last.ExitCode, r.last.Signal, r.last.Limit = o.ExitCode, o.Signal, o.Limit
	r.last.TimedOut = o.Limit == "wall" && !r.done
	r.last.Stdout, r.last.Stderr = tail(o.Stdout), tail(o.Stderr)
	if !r.done {
		r.blame(howEnded(o) + " while " + cmp.Or(r.last.Stage, "starting") + ".")
	}
	return r.last, nil
}

// blame puts what ended the process where it happened.
func (r *reader) blame(what string) {
	report := &r.last.Report
	switch {
	case r.last.Stage == kernelrun.StageProfiling:
		report.ProfilingError = "Profiling failed:\n" + what
	case r.last.Stage == kernelrun.StageValidating:
		report.Correctness, report.ValidationError = false, what
	case r.kernel == "ref":
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skipped
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// howEnded is the beginning of a sentence.
func howEnded(o sandbox.Outcome) string {
	switch {
	case o.Limit == "wall":
		return "The time limit was reached"
	case o.Limit != "":
		return "The kernel's process hit its " + o.Limit + " limit and was killed"
	case o.Signal != "":
		return "The kernel's process was killed by " + o.Signal
	default:
		return fmt.Sprintf("The kernel's process exited with code %d", o.ExitCode)
	}
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
