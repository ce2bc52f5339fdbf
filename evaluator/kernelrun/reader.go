package kernelrun

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The bounds of what the program may say: user code shares its process.
const (
	maxLine = 4 << 20
	maxSaid = 64 << 20
)

// Reader follows what the program says on its pipe while it runs. It is an io.Writer.
type Reader struct {
	onStage  func(stage string)
	line     []byte
	said     int
	last     Result
	compiled []byte
	kernel   string // which kernel is being compiled
	done     bool
	began    time.Time // of the stage
}

// NewReader returns a reader that calls onStage when a stage begins.
func NewReader(onStage func(stage string)) *Reader { return &Reader{onStage: onStage} }

// Write takes a piece of the pipe. It never fails: what cannot be read is left out.
func (r *Reader) Write(b []byte) (int, error) {
	n := len(b)
	if r.said += n; r.said > maxSaid {
		return n, nil
	}
	for {
		head, rest, whole := bytes.Cut(b, []byte("\n"))
		if len(r.line)+len(head) <= maxLine {
			r.line = append(r.line, head...)
		}
		if !whole {
			return n, nil
		}
		r.take(r.line)
		r.line, b = r.line[:0], rest
	}
}

func (r *Reader) take(line []byte) {
	var said struct {
		Stage    string  `json:"stage"`
		Kernel   string  `json:"kernel"`
		Report   *Report `json:"report"`
		Compiled []byte  `json:"compiled"`
		Done     bool    `json:"done"`
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
	case StageCompiling, StageValidating, StageProfiling:
		r.kernel = said.Kernel
		r.begin(said.Stage)
	}
}

// Compiled is what a later run of the same kernels can use instead of compiling, as CompiledFile; nil when
// the program sent nothing.
func (r *Reader) Compiled() []byte { return r.compiled }

func (r *Reader) begin(stage string) {
	if stage == r.last.Stage {
		return
	}
	r.endStage()
	r.last.Stage = stage
	r.onStage(stage)
}

// endStage notes how long the stage took; the program may come back to one.
func (r *Reader) endStage() {
	if r.last.Stage != "" {
		if r.last.StageSeconds == nil {
			r.last.StageSeconds = map[string]float64{}
		}
		r.last.StageSeconds[r.last.Stage] += time.Since(r.began).Seconds()
	}
	r.began = time.Now()
}

// Ending is how the program's process ended.
type Ending struct {
	ExitCode int
	Signal   string
	Limit    string
	Stdout   string
	Stderr   string
}

// Conclude returns the result after the last Write. What was known before a crash or the time limit
// stays, and the part that was under way says what happened. It fails when the program never began: that
// is not the kernel's fault.
func (r *Reader) Conclude(e Ending) (Result, error) {
	if r.last.Stage == "" && e.Limit == "" {
		return r.last, fmt.Errorf("the evaluation's program ended with exit code %d before it began: %s", e.ExitCode, lastLine(e.Stderr))
	}
	r.endStage()
	r.last.ExitCode, r.last.Signal, r.last.Limit = e.ExitCode, e.Signal, e.Limit
	r.last.TimedOut = e.Limit == "wall" && !r.done
	r.last.Stdout, r.last.Stderr = tail(e.Stdout), tail(e.Stderr)
	if !r.done {
		r.blame(e.String() + " while " + cmp.Or(r.last.Stage, "starting") + ".")
	}
	return r.last, nil
}

// blame puts what ended the process where it happened.
func (r *Reader) blame(what string) {
	report := &r.last.Report
	switch {
	case r.last.Stage == StageProfiling:
		report.ProfilingError = "Profiling failed:\n" + what
	case r.last.Stage == StageValidating:
		report.Correctness, report.ValidationError = false, what
	case r.kernel == "ref":
		report.RefCompilationError = "Compilation error:\n" + what
		report.ValidationError = skipped
	default:
		report.CompilationError = "Compilation error:\n" + what
	}
}

// String is the beginning of a sentence.
func (e Ending) String() string {
	switch {
	case e.Limit == "wall":
		return "The time limit was reached"
	case e.Limit != "":
		return "The kernel's process hit its " + e.Limit + " limit and was killed"
	case e.Signal != "":
		return "The kernel's process was killed by " + e.Signal
	default:
		return fmt.Sprintf("The kernel's process ended by itself, with exit code %d,", e.ExitCode)
	}
}

func lastLine(s string) string {
	b := bytes.TrimSpace([]byte(s))
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
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
