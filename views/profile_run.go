package views

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"warpboard/evaluator/job"
	"warpboard/views/charts"
)

// Measures is what a run's card shows of a run that has ended, beside its stages and cases.
type Measures struct {
	Timeline    charts.TimelineVM
	Kernels     []KernelFacts
	Measured    []MeasuredCase
	Details     string        // address of the profile, if there is one
	ProfileNote string        // why there is none yet, or none at all
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
		value := PerSecond(rate, unit)
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
	for _, key := range sortedKeys(m.Conditions) {
		name := Sentence(strings.ReplaceAll(key, "_", " "))
		if rest, ok := strings.CutPrefix(name, "Sm "); ok {
			name = "SM " + rest
		}
		seen = append(seen, Fact{name, m.Conditions[key]})
	}
	return seen
}

// PerSecond shows a rate with a decimal prefix: 3.35e12 bytes → 3.350 TB/s.
func PerSecond(rate float64, unit string) string {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return nothing
	}
	prefixes := []string{"", "k", "M", "G", "T", "P", "E"}
	x, i := fourDigits(rate), 0
	for ; x >= 1000 && i < len(prefixes)-1; i++ {
		x /= 1000
	}
	return plain(x) + "\u00a0" + prefixes[i] + unit + "/s"
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
	for _, key := range sortedKeys(extra) {
		symbol, ok := strings.CutPrefix(key, "ptxas.")
		if symbol, ok = strings.CutSuffix(symbol, ".registers"); !ok || !strings.HasPrefix(key, "ptxas.") {
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

var symbolPart = regexp.MustCompile(`^\d+`)

// symbolName takes the names out of a C++ symbol: _ZN3top4tileEPKf → top::tile. What is no such symbol
// stays as it is.
func symbolName(symbol string) string {
	rest, ok := strings.CutPrefix(symbol, "_Z")
	if !ok {
		return symbol
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "N"), "L")
	var names []string
	for {
		digits := symbolPart.FindString(rest)
		length, err := strconv.Atoi(digits)
		if err != nil || length <= 0 || len(digits)+length > len(rest) {
			break
		}
		name := rest[len(digits) : len(digits)+length]
		if rest = rest[len(digits)+length:]; !strings.HasPrefix(name, "_GLOBAL__N_") {
			names = append(names, name)
		}
		if !strings.HasPrefix(symbol, "_ZN") {
			break
		}
	}
	if len(names) == 0 {
		return symbol
	}
	return strings.Join(names, "::")
}

func bytesOr(n int) string {
	if n < 0 {
		return nothing
	}
	return Bytes(int64(n))
}
