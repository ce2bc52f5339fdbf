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
	"warpboard/views/charts"
	"warpboard/views/format"
)

// Measures are the parts of an ended run's card beside its stages and cases.
type Measures struct {
	Timeline    charts.TimelineVM
	Kernels     []KernelFacts
	Measured    []MeasuredCase
	Details     string // address of the profile, if there is one
	ProfileNote string // why there is none, or none yet
	Ran         Ran
	Compare     templ.SafeURL // beside the board's first; empty for the first itself
}

// MeasuredCase is one timed case, with the work that the task says one call is and the device's
// roofs from the run's profile. What is not known is 0.
type MeasuredCase struct {
	Case                 job.CaseResult
	Bytes, Flops         float64 // of one call
	PeakBytes, PeakFlops float64 // per second
	PeakKind             string  // of PeakFlops: "FP32"
}

// Rates are the achieved bandwidth and arithmetic, each with its part of the roof where that is known.
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

// Conditions are what was seen of the device while the run was timed.
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

// KernelFacts is what the compiler said of one kernel; sizes are in bytes, and -1 is not said.
type KernelFacts struct {
	Name      string // readable; Symbol is the compiler's
	Symbol    string
	Registers int // of each thread
	Shared    int // static, of each block
	Stack     int // of each thread
	Spills    int // stores and loads of each thread
}

// KernelsOf reads a build's further keys: ptxas.<symbol>.registers and the like.
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
			Shared: max(number("smem"), 0), // ptxas leaves it out when there is none
			Stack:  number("stack"), Spills: spills,
		})
	}
	return kernels
}

// symbolName makes a C++ symbol readable: _ZN3top4tileIfEEvPT_ is top::tile<float>. What is no such symbol stays as
// it is. The bound keeps a symbol that a program made up from filling the page.
func symbolName(symbol string) string {
	name := demangle.Filter(symbol, demangle.NoParams, demangle.NoRust, demangle.MaxLength(maxNameBits))
	return strings.ReplaceAll(name, "(anonymous namespace)::", "")
}

// maxNameBits bounds a readable name to 1 KiB.
const maxNameBits = 10

func bytesOr(n int) string {
	if n < 0 {
		return format.Nothing
	}
	return format.Bytes(int64(n))
}
