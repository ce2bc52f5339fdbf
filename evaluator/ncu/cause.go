package ncu

import (
	"cmp"
	"math"
	"slices"
)

// Cause is a counter that differs between two kernels in the same direction as their times, so that it may explain the
// difference.
type Cause struct {
	Key          string `json:"key"`
	Label        string `json:"label"`
	CounterNames string `json:"from"` // counters
	ValueA       Metric `json:"a"`
	ValueB       Metric `json:"b"`
	// Utilization is the utilization of the hardware unit that the counter belongs to, in the slower kernel, or the
	// share of its cycles in the counted state, from 0 to 1.
	Utilization float64 `json:"busy"`
	// ExplainedShare is the largest share of the time difference that the counter can explain, from 0 to 1: the ratio
	// of the counter relative to the ratio of the times, weighted by Utilization. Causes overlap, so their shares do
	// not add up to 1.
	ExplainedShare float64 `json:"explains"`
}

// Explanation lists possible causes of the time difference between two reports.
type Explanation struct {
	KernelA   *Kernel `json:"-"` // the pair of kernels with the largest difference
	KernelB   *Kernel `json:"-"`
	PairShare float64 `json:"part"`   // share of this pair in the total time difference
	TimeRatio float64 `json:"ratio"`  // time of B's report divided by that of A's
	Causes    []Cause `json:"causes"` // causes of the pair's difference, largest first
	// UnpairedKernels lists the kernels of the slower report that have no counterpart in the other report.
	UnpairedKernels      []string `json:"alone,omitempty"`
	UnpairedKernelsShare float64  `json:"alone_part,omitempty"` // share of these kernels in the total time difference
}

// minTimeDifference is the smallest relative time difference that is not noise, and minExplainedShare the smallest
// listed ExplainedShare.
const minTimeDifference, minExplainedShare = 0.03, 0.05

// ExplainDifference explains the difference of two reports' times. ok is false if they hardly differ or were not
// measured.
func ExplainDifference(a, b *Report) (why Explanation, ok bool) {
	timeA, timeB := totalTime(a), totalTime(b)
	if !(timeA > 0) || !(timeB > 0) || math.Abs(timeB/timeA-1) < minTimeDifference {
		return why, false
	}
	why.TimeRatio = timeB / timeA
	most := 0.0
	for _, p := range pairKernels(a, b) {
		if timeB < timeA {
			p.KernelA, p.KernelB = p.KernelB, p.KernelA // from here on, KernelB belongs to the slower report
		}
		saved := kernelTime(p.KernelB) - kernelTime(p.KernelA)
		switch {
		case p.KernelA == nil:
			why.UnpairedKernels, why.UnpairedKernelsShare = append(why.UnpairedKernels, p.KernelB.ShortName), why.UnpairedKernelsShare+saved/math.Abs(timeB-timeA)
		case p.KernelB != nil && saved > most:
			most, why.KernelA, why.KernelB = saved, p.KernelA, p.KernelB
		}
	}
	why.PairShare = min(most/math.Abs(timeB-timeA), 1)
	if why.KernelA != nil {
		why.Causes = causesOf(why.KernelA, why.KernelB, timeB < timeA)
	}
	if timeB < timeA {
		why.KernelA, why.KernelB = why.KernelB, why.KernelA
	}
	return why, why.KernelA != nil || len(why.UnpairedKernels) > 0
}

func totalTime(r *Report) (ns float64) {
	for i := range r.Kernels {
		ns += kernelTime(&r.Kernels[i])
	}
	return ns
}

func kernelTime(k *Kernel) float64 {
	if k == nil {
		return 0
	}
	ns, _ := k.Duration()
	return ns
}

// causesOf applies the rules to a faster and a slower kernel. swapped means that the slower one is A.
func causesOf(fast, slow *Kernel, swapped bool) (list []Cause) {
	ratio := math.Log(kernelTime(slow) / kernelTime(fast))
	add := func(c Cause, fast, slow Metric) {
		if c.ValueA, c.ValueB = fast, slow; swapped {
			c.ValueA, c.ValueB = slow, fast
		}
		if c.ExplainedShare >= minExplainedShare {
			list = append(list, c)
		}
	}
	for _, r := range causeRules() {
		f, s, busy := r.metric(fast), r.metric(slow), r.utilization(slow)
		if by, ok := r.factorOfChange(f, s); ok && busy > 0 {
			add(Cause{Key: r.key, Label: r.label, CounterNames: r.counters, Utilization: busy, ExplainedShare: busy * min(math.Log(by)/ratio, 1)}, f, s)
		}
	}
	for _, c := range stallCauses(fast, slow) {
		add(c, c.ValueA, c.ValueB)
	}
	slices.SortStableFunc(list, func(a, b Cause) int { return cmp.Compare(b.ExplainedShare, a.ExplainedShare) })
	return list
}

// factorOfChange returns the factor by which the counter is larger for the slower kernel (or smaller, if the rule says
// moreIsFaster). ok is false if both are equal or the slower kernel has the better value.
func (r causeRule) factorOfChange(fast, slow Metric) (float64, bool) {
	f, ok := fast.BaseValue()
	s, both := slow.BaseValue()
	if !ok || !both {
		return 0, false
	}
	if r.moreIsFaster {
		f, s = s, f
	}
	if s <= 0 || s <= f {
		return 0, false
	}
	return s / max(f, s/1e6), true
}

// stallCauses returns the warp states in which the slower kernel spends more cycles. ExplainedShare is the share of the
// state in the additional cycles, weighted by the share of cycles in which the schedulers issued nothing.
func stallCauses(fast, slow *Kernel) (list []Cause) {
	f, okF := fast.valueInBaseUnit(executedMetric)
	s, okS := slow.valueInBaseUnit(executedMetric)
	idle, ok := slow.valueInBaseUnit("smsp__issue_inst0.avg.pct_of_peak_sustained_active")
	if !okF || !okS || !ok {
		return nil
	}
	before, all := map[string]Stall{}, 0.0
	for _, st := range StallReasons(fast) {
		before[st.Label] = st
	}
	lost := func(st Stall) float64 { return max(st.Value.Value*s-before[st.Label].Value.Value*f, 0) }
	stalls := StallReasons(slow)
	for _, st := range stalls {
		all += lost(st)
	}
	for _, st := range stalls {
		if was := before[st.Label]; !st.IsIssuing && all > 0 && was.Value.Measured {
			list = append(list, Cause{Key: "stall: " + st.Label, Label: "Cycles per instruction waiting for " + cmp.Or(st.Explanation, st.Label),
				CounterNames: st.Origin, ValueA: was.Value, ValueB: st.Value, Utilization: idle / 100, ExplainedShare: idle / 100 * lost(st) / all})
		}
	}
	return list
}
