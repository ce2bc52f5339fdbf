package views

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/ianlancetaylor/demangle"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/views/charts"
	"warpboard/views/format"
)

// RunMeasurements are the parts of the card of an ended run in addition to stages and cases.
type RunMeasurements struct {
	Timeline        charts.TimelineView
	Kernels         []KernelFacts
	MeasuredCases   []MeasuredCase
	DetailsURL      string // address of the profile; may be empty
	ProfileNote     string // reason for having no profile, or none yet
	LaunchedKernels LaunchedKernels
	CompareURL      templ.SafeURL // comparison with the board's 1st place; empty for the 1st place itself
}

// MeasuredCase is one timed case, with the declared bytes and operations of a call and the peaks of the device in the
// profile of the run; 0 if unknown.
type MeasuredCase struct {
	Case                 job.CaseResult
	Bytes, Flops         float64 // per call
	PeakBytes, PeakFlops float64 // per second
	PeakFlopsKind        string  // kind of PeakFlops: "FP32"
}

// Rates returns the achieved bandwidth and operations per second, each with its share of the peak if known.
func (m MeasuredCase) Rates() []NamedValue {
	var rates []NamedValue
	add := func(name, unitName string, amount, peak float64, of string) {
		if !(amount > 0) || !(m.Case.Time() > 0) {
			return
		}
		rate := amount / m.Case.Time() * 1e9
		value := format.WithUnitPrefix(rate, unitName+"/s")
		if peak > 0 {
			value += fmt.Sprintf(", %.0f\u00a0%% of the %s roof", 100*rate/peak, of)
		}
		rates = append(rates, NamedValue{name, value})
	}
	add("Bandwidth", "B", m.Bytes, m.PeakBytes, "DRAM")
	add("Arithmetic", "FLOP", m.Flops, m.PeakFlops, m.PeakFlopsKind)
	return rates
}

// MeasuringConditions returns what was observed on the device while the run was timed.
func (r RunCard) MeasuringConditions() []NamedValue {
	if r.Machine == nil {
		return nil
	}
	return runConditions(*r.Machine)
}

func runConditions(m job.Machine) []NamedValue {
	var seen []NamedValue
	for _, key := range slices.Sorted(maps.Keys(m.GPUConditions)) {
		name := format.UpperFirst(strings.ReplaceAll(key, "_", " "))
		if rest, ok := strings.CutPrefix(name, "Sm "); ok {
			name = "SM " + rest
		}
		seen = append(seen, NamedValue{name, m.GPUConditions[key]})
	}
	return seen
}

// KernelFacts has what the compiler reported about one kernel. Sizes are in bytes; -1 means unknown.
type KernelFacts struct {
	Name        string // demangled; Symbol is mangled
	Symbol      string
	Registers   int // per thread
	SharedBytes int // static, per block
	StackBytes  int // per thread
	Spills      int // bytes that spills store and load, per thread
}

// ParseKernelFacts parses the keys that a build adds: ptxas.<symbol>.registers and the like.
func ParseKernelFacts(extra map[string]string) []KernelFacts {
	var kernels []KernelFacts
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		rest, ofCompiler := strings.CutPrefix(key, "ptxas.")
		symbol, ok := strings.CutSuffix(rest, ".registers")
		if !ofCompiler || !ok {
			continue
		}
		number := func(what string) int {
			n, err := strconv.Atoi(extra["ptxas."+symbol+"."+what])
			if err != nil {
				return -1
			}
			return n
		}
		spills := number("spill_stores")
		if loads := number("spill_loads"); spills >= 0 && loads >= 0 {
			spills += loads
		}
		kernels = append(kernels, KernelFacts{
			Name: symbolName(symbol), Symbol: symbol, Registers: number("registers"),
			SharedBytes: max(number("smem"), 0), // -1 becomes 0: ptxas omits smem if a kernel has none
			StackBytes:  number("stack"), Spills: spills,
		})
	}
	return kernels
}

// symbolName demangles a C++ symbol: _ZN3top4tileIfEEvPT_ is top::tile<float>. Other symbols are unchanged.
// maxNameSizeBits limits the result, because a short forged symbol can expand to a very long name.
func symbolName(symbol string) string {
	name := ncu.Demangle(symbol, maxNameSizeBits, demangle.NoParams, demangle.NoRust)
	return strings.ReplaceAll(name, "(anonymous namespace)::", "")
}

// maxNameSizeBits limits a demangled name to 1 KiB.
const maxNameSizeBits = 10

func bytesOrNotMeasured(n int) string {
	if n < 0 {
		return format.NotMeasured
	}
	return format.Bytes(int64(n))
}
