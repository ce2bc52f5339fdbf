package nsight

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"warpboard/evaluator/job"
)

// NVTXRange is the NVTX range that the harness opens around the profiled call.
const NVTXRange = "custom_kernel"

// ProfilingLinePrefix is the beginning of the line that ncu prints when it starts to profile a launch. The program
// waits until the launch is profiled.
const ProfilingLinePrefix = "==PROF== Profiling \""

// DefaultMaxLaunches limits the profiled launches of one case.
const DefaultMaxLaunches = job.MaxProfiledLaunches

// Options configures one profiling run.
type Options struct {
	// ReportPath is ncu's output file inside the sandbox: "/out/profile.0.ncu-rep".
	ReportPath string
	// MaxLaunches limits the profiled launches; 0 means DefaultMaxLaunches.
	MaxLaunches int
	// Filter selects what is profiled. If it sets LaunchCount or Sections, these replace MaxLaunches or Sections. ncu
	// counts the launches to skip over the whole process, not separately for each benchmark case.
	Filter *job.ProfileFilter
	// Sections lists the sections to collect; empty means ncu's full set.
	Sections []string
	// AllLaunches profiles every launch instead of those inside NVTXRange, for programs that open no range.
	AllLaunches bool
}

// ProfileCommand returns the argv that profiles program. The caller must mount tool.RequiredDirs read-only, provide the
// same devices as for a timed run, and limit the time.
func ProfileCommand(tool Tool, program []string, o Options) []string {
	var filter job.ProfileFilter
	if o.Filter != nil {
		filter = *o.Filter
	}
	kernels, sections := cmp.Or(filter.LaunchCount, o.MaxLaunches, DefaultMaxLaunches), o.Sections
	if len(filter.Sections) > 0 {
		sections = filter.Sections
	}
	argv := []string{tool.ProgramPath}
	for _, section := range sections {
		argv = append(argv, "--section", section)
	}
	if len(sections) == 0 {
		argv = append(argv, "--set", "full")
	}
	argv = append(argv, "--import-source", "1")
	if filter.Kernel != "" {
		argv = append(argv, "--kernel-name", filter.Kernel)
		if filter.KernelNameBase != "" {
			argv = append(argv, "--kernel-name-base", filter.KernelNameBase)
		}
	}
	if filter.LaunchSkip > 0 {
		argv = append(argv, "--launch-skip", strconv.Itoa(filter.LaunchSkip))
	}
	if !o.AllLaunches {
		argv = append(argv, "--nvtx", "--nvtx-include", NVTXRange+"/")
	}
	// Clocks stay unlocked, because locking needs rights that the sandbox lacks, and the profile should show the kernel
	// as it was ranked.
	argv = append(argv, "-c", strconv.Itoa(kernels), "--clock-control", "none",
		"--target-processes", "all", "-f", "-o", exportArgument(tool, o.ReportPath), "--")
	return append(argv, program...)
}

// exportArgument returns the argument that makes ncu write to report: versions up to 2026.2 add .ncu-rep themselves,
// and later ones write another format (.ncu-repz) unless the name has this suffix.
func exportArgument(tool Tool, report string) string {
	if tool.Version >= "2026.3" {
		return report
	}
	return strings.TrimSuffix(report, ".ncu-rep")
}

// printPagesScript prints all pages concurrently, each into a file with the page's name, because each ncu first reads
// the whole report, which takes seconds if it contains torch's modules. Each has its own home directory, because ncu
// may write settings there.
const printPagesScript = `page() {
  name=$1; shift; mkdir "$dir/home.$name"
  HOME=$dir/home.$name "$ncu" --import "$report" --csv --page "$@" >"$dir/$name" &
}
ncu=$1 report=$2 dir=$3
page details details
page raw raw
page source source --print-source sass
page lines source --print-source cuda,sass
wait`

// PrintPagesCommand returns the command that prints the pages of a report into files in a directory. It needs no
// device. If the kernels have no line information, "lines" may be empty, which is not an error.
func PrintPagesCommand(tool Tool, report, dir string) []string {
	return []string{"/bin/sh", "-c", printPagesScript, "import", tool.ProgramPath, report, dir}
}

// CommandResult describes the end of a profiling command.
type CommandResult struct {
	ExitCode      int
	ExceededLimit string // exceeded limit of the sandbox, if any: "wall", "memory"
	Output        string // stdout and stderr together
	HasReport     bool   // a report file exists
	Filter        *job.ProfileFilter
}

// NoKernelLaunchedText is the message for a case without a report although ncu worked.
const NoKernelLaunchedText = "No kernel was launched inside the profiled range, so there is nothing to profile."

// knownFailureSentence returns a sentence for a failure that ncu's output identifies, or "".
func knownFailureSentence(output string) string {
	for _, k := range []struct{ sign, sentence string }{
		{"ERR_NVGPUCTRPERM", "The driver refused access to the GPU's performance counters (ERR_NVGPUCTRPERM). The worker's operator must allow it: load the driver with NVreg_RestrictProfilingToAdminUsers=0."},
		{"driver is not compatible", "This ncu does not fit the worker's driver; the operator must install a matching version of Nsight Compute."},
		{"driver is not supported", "This ncu does not fit the worker's driver; the operator must install a matching version of Nsight Compute."},
		{"Profiling is not supported on device", "This ncu cannot profile this GPU; the operator must install a newer Nsight Compute."},
		{"Driver resource was unavailable", "Another program holds the GPU's counters, usually DCGM on a monitored cluster. The operator can pause it (dcgmi profile --pause); otherwise profile again later."},
		{"No kernels were profiled", NoKernelLaunchedText},
		{"==ERROR== An error was reported by the driver", "The GPU driver reported an error while the kernel was replayed under the profiler."},
	} {
		if strings.Contains(output, k.sign) {
			return k.sentence
		}
	}
	return ""
}

// NoKernelMatchedText is the message for a case without a report if the profile has a filter.
const NoKernelMatchedText = "No kernel matched the filter."

// maxListedKernels limits the kernels in a sentence, and maxQuotedBytes each kernel name and each quoted line of ncu,
// in bytes.
const maxListedKernels, maxQuotedBytes = 20, 300

// noKernelMatchedText returns NoKernelMatchedText with the names of the kernels that ran, if ncu lists them.
func noKernelMatchedText(f *job.ProfileFilter, output string) string {
	sentence := fmt.Sprintf("No kernel matched the filter (%s).", f)
	var names []string
	_, listed, _ := strings.Cut(output, "Available Kernels:\n")
	for line := range strings.Lines(listed) {
		number, name, ok := strings.Cut(strings.TrimSpace(line), ". ")
		if _, err := strconv.Atoi(number); !ok || err != nil || len(names) == maxListedKernels {
			break
		}
		names = append(names, job.ShortenText(name, maxQuotedBytes))
	}
	if len(names) > 0 {
		sentence += " These kernels ran: " + strings.Join(names, ", ") + "."
	}
	return sentence
}

// ExplainFailure returns a sentence with the reason for a missing or unusable report, or "" if there is a report.
// Ranked results do not depend on it.
func ExplainFailure(e CommandResult) string {
	sentence := knownFailureSentence(e.Output)
	if sentence == NoKernelLaunchedText && !e.Filter.Empty() {
		return noKernelMatchedText(e.Filter, e.Output)
	}
	if sentence != "" {
		return sentence
	}
	switch {
	case e.ExceededLimit == "wall":
		return "Profiling took longer than its time limit; ncu replays every kernel some forty times."
	case e.ExceededLimit != "":
		return fmt.Sprintf("Profiling hit its %s limit.", e.ExceededLimit)
	case e.HasReport && e.ExitCode == 0:
		return ""
	case strings.Contains(e.Output, "The application returned an error code"):
		return "The program failed under the profiler, though it passed without: " + lastErrorLine(e.Output)
	case e.ExitCode != 0:
		return fmt.Sprintf("ncu ended with exit code %d: %s", e.ExitCode, lastErrorLine(e.Output))
	}
	return "ncu ended without writing a report: " + lastErrorLine(e.Output)
}

// lastErrorLine returns the last line that ncu marks as an error, or else the last line.
func lastErrorLine(output string) string {
	line := ""
	for l := range strings.Lines(output) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), "==ERROR=="); ok {
			line = strings.TrimSpace(rest)
		}
	}
	if line == "" {
		line = lastLine(output)
	}
	if line == "" {
		return "it printed nothing."
	}
	return job.ShortenText(line, maxQuotedBytes)
}
