package job

import "fmt"

// Limits for findings, in workers and on the site.
const (
	MaxFindings    = 20  // number of findings of one tool
	maxAllFindings = 256 // number of findings of a stage
	MaxFindingText = 512 // bytes of each text in a finding
)

// Finding is a problem in a kernel, reported by a tool of compute-sanitizer. The tool runs in the submission's sandbox,
// where its log can be forged, so a finding is a claim of the submission.
type Finding struct {
	Tool        string `json:"tool"`              // memcheck, racecheck, initcheck or synccheck
	IsWarning   bool   `json:"warning,omitempty"` // true for a warning, false for an error
	Message     string `json:"message"`           // for example "Invalid __global__ write of size 4 bytes"
	Detail      string `json:"detail,omitempty"`  // for example "Address 0x… is out of bounds"
	Kernel      string `json:"kernel,omitempty"`  // demangled name of the kernel; empty for a host call
	File        string `json:"file,omitempty"`    // base name of the source file
	Line        int    `json:"line,omitempty"`
	Block       string `json:"block,omitempty"`  // block of the first occurrence, such as "0,0,0"
	Thread      string `json:"thread,omitempty"` // thread of the first occurrence, in the same form
	Occurrences int    `json:"count"`            // number of reports at the same source line
}

// Sentence formats a finding as a line: "error: Invalid __global__ write of size 4 bytes in oob(float *) at
// submission.cu:6, 28 times".
func (f Finding) Sentence() string {
	text := "error: "
	if f.IsWarning {
		text = "warning: "
	}
	text += f.Message
	if f.Kernel != "" {
		text += " in " + f.Kernel
	}
	if f.Line > 0 {
		text += fmt.Sprintf(" at %s:%d", f.File, f.Line)
	}
	if f.Occurrences > 1 {
		text += fmt.Sprintf(", %d times", f.Occurrences)
	}
	return text
}

func (f Finding) check() error {
	if f.Line < 0 || f.Occurrences < 0 {
		return fmt.Errorf("a finding has line %d and count %d", f.Line, f.Occurrences)
	}
	return checkTextSizes(MaxFindingText, f.Tool, f.Message, f.Detail, f.Kernel, f.File, f.Block, f.Thread)
}
