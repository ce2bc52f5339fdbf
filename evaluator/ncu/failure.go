package ncu

import (
	"fmt"
	"strings"
)

// Ended is how a profiling command ended.
type Ended struct {
	ExitCode int
	Limit    string // which limit of the sandbox was hit, if one was: "wall", "memory"
	Output   string // stdout and stderr together
	Report   bool   // a report file is there
}

// known returns the sentence for a failure of ncu that it names in its output, or nothing.
func known(output string) string {
	for _, k := range []struct{ sign, sentence string }{
		{"ERR_NVGPUCTRPERM", "The driver refused access to the GPU's performance counters (ERR_NVGPUCTRPERM). The worker's operator must allow it: load the driver with NVreg_RestrictProfilingToAdminUsers=0."},
		{"driver is not compatible", "This ncu does not fit the worker's driver; the operator must install a matching version of Nsight Compute."},
		{"driver is not supported", "This ncu does not fit the worker's driver; the operator must install a matching version of Nsight Compute."},
		{"Profiling is not supported on device", "This ncu cannot profile this GPU; the operator must install a newer Nsight Compute."},
		{"Driver resource was unavailable", "Another profiler was using the GPU's counters; run the profile again later."},
		{"No kernels were profiled", "No kernel was launched inside the profiled range, so there is nothing to profile."},
		{"==ERROR== An error was reported by the driver", "The GPU driver reported an error while the kernel was replayed under the profiler."},
	} {
		if strings.Contains(output, k.sign) {
			return k.sentence
		}
	}
	return ""
}

// Explain says in one sentence why profiling left no usable report; it is empty when it did leave
// one. Whatever it says, a ranked result stands.
func Explain(e Ended) string {
	if sentence := known(e.Output); sentence != "" {
		return sentence
	}
	switch {
	case e.Limit == "wall":
		return "Profiling took longer than its time limit; ncu replays every kernel some forty times."
	case e.Limit != "":
		return fmt.Sprintf("Profiling hit its %s limit.", e.Limit)
	case e.Report && e.ExitCode == 0:
		return ""
	case strings.Contains(e.Output, "The application returned an error code"):
		return "The program failed under the profiler, though it passed without: " + errorLine(e.Output)
	case e.ExitCode != 0:
		return fmt.Sprintf("ncu ended with exit code %d: %s", e.ExitCode, errorLine(e.Output))
	}
	return "ncu ended without writing a report: " + errorLine(e.Output)
}

// errorLine picks the last line that ncu marks as an error, else the last line.
func errorLine(output string) string {
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
	const most = 300
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
