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

// Measures are the parts of an ended run's card besides its stages and cases.
type Measures struct {
	Timeline      charts.TimelineVM
	Kernels       []KernelFacts
	MeasuredCases []MeasuredCase
	DetailsURL    string // address of the profile; may be empty
	ProfileNote   string // reason for having no profile, or none yet
	Ran           Ran
	CompareURL    templ.SafeURL // comparison with the board's first; empty for the first itself
}

// MeasuredCase is one timed case, with the declared work of a call and the device's peaks from the run's profile.
// Unknown values are 0.
type MeasuredCase struct {
	Case                 job.CaseResult
	Bytes, Flops         float64 // per call
	PeakBytes, PeakFlops float64 // per second
	PeakKind             string  // kind of PeakFlops: "FP32"
}

// Rates returns the achieved bandwidth and arithmetic rate, each with its share of the peak if known.
func (m MeasuredCase) Rates() []Fact {
	var rates []Fact
	add := func(name, unit string, amount, peak float64, of string) {
		if !(amount > 0) || !(m.Case.Time() > 0) {
			return
		}
		rate := amount / m.Case.Time() * 1e9
		value := format.Prefixed(rate, unit+"/s")
		if peak > 0 {
			value += fmt.Sprintf(", %.0f\u00a0%% of the %s roof", 100*rate/peak, of)
		}
		rates = append(rates, Fact{name, value})
	}
	add("Bandwidth", "B", m.Bytes, m.PeakBytes, "DRAM")
	add("Arithmetic", "FLOP", m.Flops, m.PeakFlops, m.PeakKind)
	return rates
}

// Conditions returns the observed conditions of the device while the run was timed.
func (r RunCard) Conditions() []Fact {
	if r.Machine == nil {
		return nil
	}
	return conditions(*r.Machine)
}

func conditions(m job.Machine) []Fact {
	var seen []Fact
	for _, key := range slices.Sorted(maps.Keys(m.Conditions)) {
		name := format.Capital(strings.ReplaceAll(key, "_", " "))
		if rest, ok := strings.CutPrefix(name, "Sm "); ok {
			name = "SM " + rest
		}
		seen = append(seen, Fact{name, m.Conditions[key]})
	}
	return seen
}

// KernelFacts are the compiler's facts about one kernel; sizes are in bytes, and -1 means unknown.
type KernelFacts struct {
	Name        string // demangled; Symbol is mangled
	Symbol      string
	Registers   int // per thread
	SharedBytes int // static, per block
	StackBytes  int // per thread
	Spills      int // stores and loads per thread
}

// KernelsOf parses a build's further keys: ptxas.<symbol>.registers and the like.
func KernelsOf(extra map[string]string) []KernelFacts {
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
			SharedBytes: max(number("smem"), 0), // ptxas omits it if there is none
			StackBytes:  number("stack"), Spills: spills,
		})
	}
	return kernels
}

// symbolName demangles a C++ symbol: _ZN3top4tileIfEEvPT_ is top::tile<float>. Other symbols stay unchanged. The limit
// keeps a made-up symbol from filling the page.
func symbolName(symbol string) string {
	name := ncu.Demangle(symbol, maxNameBits, demangle.NoParams, demangle.NoRust)
	return strings.ReplaceAll(name, "(anonymous namespace)::", "")
}

// maxNameBits limits a demangled name to 1 KiB.
const maxNameBits = 10

func bytesOr(n int) string {
	if n < 0 {
		return format.Nothing
	}
	return format.Bytes(int64(n))
}
