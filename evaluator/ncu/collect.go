package ncu

import (
	"strconv"
	"strings"
)

// Range is the NVTX range that the harness opens around the call that is profiled.
const Range = "custom_kernel"

// DefaultKernels caps the launches of one report: each costs some forty replays.
const DefaultKernels = 16

// MaxReport bounds a report file in bytes: the program under ncu can write a report of its own making.
const MaxReport = 256 << 20

// Options bounds one profiling run.
type Options struct {
	// Report is where ncu writes, inside the sandbox: "/out/profile.0.ncu-rep".
	Report string
	// Kernels caps the profiled launches; 0 means DefaultKernels.
	Kernels int
	// Sections are the ncu sections to collect; none means its full set.
	Sections []string
	// Everything profiles every launch instead of those inside Range: for programs without NVTX.
	Everything bool
}

// Command returns the argv that profiles program. The caller mounts tool.Dirs read-only, gives the
// process the same devices as a timed run, and bounds its time.
func Command(tool Tool, program []string, o Options) []string {
	kernels := o.Kernels
	if kernels <= 0 {
		kernels = DefaultKernels
	}
	argv := []string{tool.Path}
	for _, section := range o.Sections {
		argv = append(argv, "--section", section)
	}
	if len(o.Sections) == 0 {
		argv = append(argv, "--set", "full")
	}
	argv = append(argv, "--import-source", "1")
	if !o.Everything {
		argv = append(argv, "--nvtx", "--nvtx-include", Range+"/")
	}
	// The clocks stay as they are: locking them needs rights that the sandbox rightly lacks, and the
	// profile shall show the kernel as it was ranked.
	argv = append(argv, "-c", strconv.Itoa(kernels), "--clock-control", "none",
		"--target-processes", "all", "-f", "-o", reportName(tool, o.Report), "--")
	return append(argv, program...)
}

// reportName is the report as ncu wants it: the versions up to 2026.2 add .ncu-rep themselves, and later
// ones write another format (.ncu-repz) unless the name says otherwise.
func reportName(tool Tool, report string) string {
	if tool.Version >= "2026.3" {
		return report
	}
	return strings.TrimSuffix(report, ".ncu-rep")
}

// Import is one reading of a report; its output goes to Pages.Set under the same name.
type Import struct {
	Page string // "details", "raw", "source", "lines"
	Argv []string
}

// ImportCommands returns the commands that print a report's pages. They need no device. "lines"
// may print nothing or fail where the kernels have no line information; that is no failure.
func ImportCommands(tool Tool, report string) []Import {
	page := func(name string, args ...string) Import {
		argv := append([]string{tool.Path, "--import", report, "--csv", "--page"}, args...)
		return Import{Page: name, Argv: argv}
	}
	return []Import{
		page("details", "details"),
		page("raw", "raw"),
		page("source", "source", "--print-source", "sass"),
		page("lines", "source", "--print-source", "cuda,sass"),
	}
}

// Set stores one page's output by the name that ImportCommands gave it; other names are ignored.
func (p *Pages) Set(page string, out []byte) {
	switch page {
	case "details":
		p.Details = out
	case "raw":
		p.Raw = out
	case "source":
		p.Source = out
	case "lines":
		p.Lines = out
	}
}
