package job

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"warpboard/tasks"
)

const (
	// MaxProfiledLaunches limits the profiled launches of one case, because each is replayed about forty times.
	MaxProfiledLaunches = 16
	// maxSkippedLaunches limits the launches that a filter can skip, and maxKernelName its kernel name, in bytes.
	maxSkippedLaunches = 10_000
	maxKernelName      = 200
	// kernelPatternPrefix is the prefix of a kernel name that is a pattern, as in ncu.
	kernelPatternPrefix = "regex:"
)

// ProfileFilter selects what Nsight Compute profiles for each benchmark case. Zero fields mean the defaults: all
// kernels, the first launches, and every section that pages show.
type ProfileFilter struct {
	Benchmark      *int     `json:"benchmark,omitempty" jsonschema:"number of the only benchmark to profile, from 0"`
	Kernel         string   `json:"kernel,omitempty" jsonschema:"name of the kernel without its parameters, or regex: and a pattern"`
	KernelNameBase string   `json:"kernel_name_base,omitempty" jsonschema:"name that kernel is compared with: function (the standard), demangled, with its parameters, or mangled"`
	LaunchSkip     int      `json:"launch_skip,omitempty" jsonschema:"launches of that kernel to pass over first"`
	LaunchCount    int      `json:"launch_count,omitempty" jsonschema:"launches to profile after those, at most 16"`
	Sections       []string `json:"sections,omitempty" jsonschema:"sections of Nsight Compute, such as SpeedOfLight"`
}

// ProfileSections returns the sections that a filter can select, by ncu's identifiers.
func ProfileSections() []string {
	return []string{"SpeedOfLight", "SpeedOfLight_RooflineChart", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Chart",
		"MemoryWorkloadAnalysis_Tables", "SchedulerStats", "WarpStateStats", "InstructionStats", "LaunchStats", "Occupancy", "SourceCounters",
		"WorkloadDistribution"}
}

// Check returns a sentence about the first invalid field, or nil. A nil filter is valid.
func (f *ProfileFilter) Check() error {
	if f == nil {
		return nil
	}
	for i, name := range f.Sections {
		if !slices.Contains(ProfileSections(), name) {
			return fmt.Errorf("there is no section %q: choose from %s", ShortenText(name, maxKernelName), strings.Join(ProfileSections(), ", "))
		}
		if slices.Contains(f.Sections[:i], name) {
			return fmt.Errorf("the section %s is named twice", name)
		}
	}
	switch {
	case f.Benchmark != nil && *f.Benchmark < 0:
		return fmt.Errorf("the benchmarks are counted from 0, and %d is below", *f.Benchmark)
	case !slices.Contains([]string{"", "function", "demangled", "mangled"}, f.KernelNameBase):
		return fmt.Errorf("the kernel's name is function, demangled, or mangled, not %q", ShortenText(f.KernelNameBase, maxKernelName))
	case f.LaunchSkip < 0 || f.LaunchSkip > maxSkippedLaunches:
		return fmt.Errorf("the launches to skip must be from 0 to %d, not %d", maxSkippedLaunches, f.LaunchSkip)
	case f.LaunchCount < 0 || f.LaunchCount > MaxProfiledLaunches:
		return fmt.Errorf("the launches to profile must be from 1 to %d, not %d", MaxProfiledLaunches, f.LaunchCount)
	}
	return checkKernel(f.Kernel)
}

// checkKernel checks a kernel name that becomes an argument of ncu. ncu must not parse it as an option, and an invalid
// pattern must fail before the run is queued.
func checkKernel(name string) error {
	pattern, isPattern := strings.CutPrefix(name, kernelPatternPrefix)
	switch {
	case len(name) > maxKernelName:
		return fmt.Errorf("the kernel name has %d bytes; at most %d are allowed", len(name), maxKernelName)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("the kernel name contains an invisible character")
	case strings.HasPrefix(name, "-"), strings.TrimSpace(name) != name:
		return fmt.Errorf("the kernel name %q must not begin with - and must not begin or end with a space", name)
	case isPattern && pattern == "":
		return fmt.Errorf("write a pattern after %s", kernelPatternPrefix)
	case !isPattern:
		return nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Errorf("the kernel pattern is not a regular expression: %w", err)
	}
	return nil
}

// Empty reports whether a filter selects everything.
func (f *ProfileFilter) Empty() bool {
	return f == nil || f.Benchmark == nil && f.Kernel == "" && !f.SelectsByNumber() && len(f.Sections) == 0
}

// SelectsByNumber reports whether a filter selects launches by number. ncu numbers them over a whole process.
func (f *ProfileFilter) SelectsByNumber() bool {
	return f != nil && (f.LaunchSkip > 0 || f.LaunchCount > 0)
}

// Equal reports whether two filters select the same.
func (f *ProfileFilter) Equal(other *ProfileFilter) bool {
	if f.Empty() || other.Empty() {
		return f.Empty() && other.Empty()
	}
	a, b := *f, *other
	a.Benchmark, b.Benchmark, a.Sections, b.Sections = nil, nil, nil, nil
	return reflect.DeepEqual(a, b) && slices.Equal(f.Sections, other.Sections) && f.selectedBenchmark() == other.selectedBenchmark()
}

// selectedBenchmark returns the selected benchmark, or -1 for all.
func (f *ProfileFilter) selectedBenchmark() int {
	if f == nil || f.Benchmark == nil {
		return -1
	}
	return *f.Benchmark
}

// ChooseCases returns the number of the first profiled benchmark and the cases to profile: all benchmarks, or the
// selected one. The error text continues a sentence.
func (f *ProfileFilter) ChooseCases(
	all []tasks.Case, benchmarks []tasks.Case,
) (first int, cases []tasks.Case, err error) {
	switch n := f.selectedBenchmark(); {
	case n < 0:
		return 0, all, nil
	case n < len(benchmarks):
		return n, benchmarks[n : n+1], nil
	default:
		return 0, nil, fmt.Errorf("there is no benchmark %d: they are 0 to %d", n, len(benchmarks)-1)
	}
}

// WithoutNames returns the filter without kernel names, for readers who may not see them.
func (f *ProfileFilter) WithoutNames() *ProfileFilter {
	if f == nil || f.Kernel == "" {
		return f
	}
	shown := *f
	shown.Kernel = "(private)"
	return &shown
}

// String describes the filter, such as "Kernel matmul, launches 3–5, sections Occupancy, SourceCounters".
func (f *ProfileFilter) String() string {
	if f.Empty() {
		return ""
	}
	var parts []string
	if n := f.selectedBenchmark(); n >= 0 {
		parts = append(parts, fmt.Sprintf("benchmark %d", n))
	}
	if pattern, ok := strings.CutPrefix(f.Kernel, kernelPatternPrefix); ok {
		parts = append(parts, "kernels like "+pattern)
	} else if f.Kernel != "" {
		parts = append(parts, "kernel "+f.Kernel)
	}
	first, last := f.LaunchSkip+1, f.LaunchSkip+f.LaunchCount
	switch {
	case !f.SelectsByNumber():
	case f.LaunchCount == 0:
		parts = append(parts, fmt.Sprintf("launches from %d", first))
	case first == last:
		parts = append(parts, fmt.Sprintf("launch %d", first))
	default:
		parts = append(parts, fmt.Sprintf("launches %d–%d", first, last))
	}
	if len(f.Sections) == 1 {
		parts = append(parts, "section "+f.Sections[0])
	} else if len(f.Sections) > 1 {
		parts = append(parts, "sections "+strings.Join(f.Sections, ", "))
	}
	text := strings.Join(parts, ", ")
	return strings.ToUpper(text[:1]) + text[1:]
}
