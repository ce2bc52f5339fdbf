package job

import "fmt"

// Bounds of findings. A worker keeps no more, and the site refuses more.
const (
	MaxFindings    = 20  // of one tool
	maxAllFindings = 256 // of a stage
	MaxFindingText = 512 // bytes of each text
)

// Finding is what a tool of compute-sanitizer reported of a kernel. The tool runs in the sandbox of the submission, which can
// write anything into its log: all of it is the submission's claim.
type Finding struct {
	Tool    string `json:"tool"`              // memcheck, racecheck, initcheck or synccheck
	Warning bool   `json:"warning,omitempty"` // else an error
	Message string `json:"message"`           // "Invalid __global__ write of size 4 bytes"
	Detail  string `json:"detail,omitempty"`  // "Address 0x… is out of bounds"
	Kernel  string `json:"kernel,omitempty"`  // demangled; empty: a call of the host
	File    string `json:"file,omitempty"`    // without its folder
	Line    int    `json:"line,omitempty"`
	Block   string `json:"block,omitempty"`  // of the first one: "0,0,0"
	Thread  string `json:"thread,omitempty"` // likewise
	Count   int    `json:"count"`            // how often it was reported at this place
}

// Sentence is a finding in a line: "error: Invalid __global__ write of size 4 bytes in oob(float *) at submission.cu:6, 28 times".
func (f Finding) Sentence() string {
	text := "error: "
	if f.Warning {
		text = "warning: "
	}
	text += f.Message
	if f.Kernel != "" {
		text += " in " + f.Kernel
	}
	if f.Line > 0 {
		text += fmt.Sprintf(" at %s:%d", f.File, f.Line)
	}
	if f.Count > 1 {
		text += fmt.Sprintf(", %d times", f.Count)
	}
	return text
}

func (f Finding) check() error {
	if f.Line < 0 || f.Count < 0 {
		return fmt.Errorf("a finding has line %d and count %d", f.Line, f.Count)
	}
	return texts(MaxFindingText, f.Tool, f.Message, f.Detail, f.Kernel, f.File, f.Block, f.Thread)
}
