package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/views/format"
)

const (
	// maxSentences limits the explanation. minExplainedShare is the smallest part of the difference that the counters
	// must explain.
	maxSentences      = 3
	minExplainedShare = 0.2
)

// reasonText is a reason in words. evidence is the ID of the table row that has the same reason in numbers.
type reasonText struct{ text, evidence string }

// ReasonTexts explains, from the counters of both kernels, why one of the runs is faster. It returns nil if the times
// show no clear difference, if the kernels under the profiler differ in the other direction, or if no counter explains
// enough.
func (vm CompareView) ReasonTexts() (list []reasonText) {
	w, r := vm.Explanation, vm.HeadlineRatio()
	if w == nil || vm.SameSource || !r.IsClear() || (r.Value < 1) != (w.TimeRatio < 1) {
		return nil
	}
	fast, slow := vm.RunA.ShortName, vm.RunB.ShortName
	if w.TimeRatio < 1 {
		fast, slow = slow, fast
	}
	if w.UnpairedKernelsShare >= minExplainedShare {
		list = append(list, reasonText{fmt.Sprintf("%s does not run %s: %s of the difference.", fast, kernelsText(w.UnpairedKernels), shareText(w.UnpairedKernelsShare)), "profile"})
	}
	stalled := false
	for _, c := range w.Causes {
		stall := strings.HasPrefix(c.Key, stallKeyPrefix)
		if len(list) < maxSentences && c.ExplainedShare*w.PairShare >= minExplainedShare && !(stall && stalled) {
			list = append(list, reasonText{causeSentence(*w, c, fast, slow), causeElementID(c)})
			stalled = stalled || stall
		}
	}
	return list
}

// HeadlineRatio returns the ratio in the first sentence of the page.
func (vm CompareView) HeadlineRatio() versus.Ratio {
	if vm.coversOtherCases() {
		return vm.TimeComparison.MeanRatio
	}
	return vm.TimeComparison.ScoreRatio
}

// coversOtherCases reports whether the two scores are of different cases or by different rules.
func (vm CompareView) coversOtherCases() bool { return vm.Ranking == "" || vm.oneSidedCaseCount() > 0 }

const stallKeyPrefix = "stall: "

func kernelsText(names []string) string {
	if len(names) == 1 {
		return "the kernel " + names[0]
	}
	return format.Plural(len(names), "kernel", "kernels") + " (" + names[0] + ", …)"
}

// causeSentence returns a cause as a sentence with its numbers.
func causeSentence(w ncu.Explanation, c ncu.Cause, fast, slow string) string {
	f, s, kernelF, kernelS := c.ValueA, c.ValueB, w.KernelA, w.KernelB
	if w.TimeRatio < 1 {
		f, s, kernelF, kernelS = c.ValueB, c.ValueA, w.KernelB, w.KernelA
	}
	values := fmt.Sprintf("(%s instead of %s)", shortMetricText(f), shortMetricText(s))
	by := func(more string) string { return ratioPrefix(f, s) + more }
	busy := func(what string) string {
		return fmt.Sprintf("; %s was %s busy in %s.", what, format.Percent(c.Utilization), slow)
	}
	switch c.Key {
	case ncu.CauseDRAM:
		return fast + " moves " + by("fewer") + " bytes from and to DRAM " + values + busy("DRAM")
	case ncu.CauseL2:
		return fast + " reads " + by("fewer") + " bytes from L2 " + values + busy("L2")
	case ncu.CauseGlobalSectors:
		return fast + " accesses " + by("fewer") + " 32-byte sectors of global memory " + values + busy("L2")
	case ncu.CauseGlobalLoads:
		return fast + " executes " + by("fewer") + " load instructions on global memory " + strings.TrimSuffix(values, ")") + tmaCopiesNote(f) + ")" + busy("L1")
	case ncu.CauseSharedMemory:
		return fast + " needs " + by("fewer") + " shared-memory wavefronts " + values + busy("shared memory")
	case ncu.CauseSpills:
		return fast + " reads and writes " + by("fewer") + " sectors of local memory, where spilled registers go " + values + busy("L1")
	case ncu.CauseInstructions:
		return fast + " executes " + by("fewer") + " instructions " + values + fewerOpcodesText(kernelF, kernelS, w.Causes) + fmt.Sprintf("; %s issued one in %s of its cycles.", slow, format.Percent(c.Utilization))
	case ncu.CauseTensorCores:
		return fmt.Sprintf("%s keeps the tensor cores busy for %s of the cycles; %s does not use them.", fast, MetricText(f), slow)
	case ncu.CauseWarps:
		return fmt.Sprintf("%s keeps %s warps in flight per SM %s; %s is %s away from the peaks of compute and memory, so it is latency-bound.", fast, by("more"), values, slow, format.Percent(c.Utilization))
	case ncu.CauseDeviceFill:
		return fmt.Sprintf("The blocks of %s fill %s of the device, those of %s %s.", fast, MetricText(f), slow,
			MetricText(s))
	case ncu.CauseClock:
		return fmt.Sprintf("Under the profiler the SMs ran at %s for %s and at %s for %s.", MetricText(f), fast, MetricText(s), slow)
	}
	return fmt.Sprintf("Warps of %s spend %s cycles per instruction %s %s.", fast, by("fewer"), strings.TrimPrefix(c.Label, "Cycles per instruction "), values)
}

// tmaCopiesNote returns a note for a kernel that executed no load instructions: it copies by TMA, and the counter of
// loads omits such copies.
func tmaCopiesNote(loads ncu.Metric) string {
	if v, ok := loads.BaseValue(); ok && v == 0 {
		return "; TMA copies are not counted"
	}
	return ""
}

// shortMetricText formats a counter for a sentence, and abbreviates counts of 100,000 or more.
func shortMetricText(m ncu.Metric) string {
	if v, ok := m.BaseValue(); ok && v >= 1e5 && unitSymbol(m.BaseUnit()) == "" {
		return countText(v) + unitText(m.BaseUnit(), "")
	}
	return MetricText(m)
}

func countText(v float64) string {
	if v < 1e5 {
		return format.Decimal(v)
	}
	return strings.TrimRight(withUnitPrefix(v, ""), noBreakSpace)
}

// ratioPrefix formats a ratio of two metrics, "2.10× "; "" if one of them is 0.
func ratioPrefix(f, s ncu.Metric) string {
	x, _ := f.BaseValue()
	y, _ := s.BaseValue()
	if x <= 0 || y <= 0 {
		return ""
	}
	return factorText(math.Max(x, y)/math.Min(x, y)) + " "
}

// fewerOpcodesText names the opcode of which the slower kernel executes the most additional instructions. It returns ""
// if there is none, or if that is a load and another cause already mentions loads.
func fewerOpcodesText(fast, slow *ncu.Kernel, causes []ncu.Cause) string {
	has := map[string]float64{}
	for _, op := range ncu.InstructionMixOf(fast).Opcodes {
		has[op.Name] = op.WarpInstructions
	}
	name, most, was := "", 0.0, 0.0
	for _, op := range ncu.InstructionMixOf(slow).Opcodes {
		if d := op.WarpInstructions - has[op.Name]; d > most {
			name, most, was = op.Name, d, op.WarpInstructions
		}
	}
	loads := slices.ContainsFunc(causes, func(c ncu.Cause) bool { return c.Key == ncu.CauseGlobalLoads })
	if name == "" || loads && slices.Contains([]string{"LDG", "LD"}, name) {
		return ""
	}
	return fmt.Sprintf(", most of the difference %s: %s instead of %s", name, countText(has[name]), countText(was))
}

func causeElementID(c ncu.Cause) string {
	return "cause-" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(c.Key, stallKeyPrefix)), " ", "-")
}

// pairNote returns the note of the table of causes: the two kernels that it compares, and how to read its numbers.
func pairNote(w ncu.Explanation) string {
	name := w.KernelA.ShortName
	if w.KernelB.ShortName != name {
		name += " and " + w.KernelB.ShortName
	}
	return fmt.Sprintf("For %s: %s of the difference under the profiler. These are upper bounds. Counters overlap, so they do not add up.", name, shareText(w.PairShare))
}

func shareText(part float64) string { return format.Percent(min(part, 1)) }
