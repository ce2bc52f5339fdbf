package ncu

import (
	"cmp"
	"fmt"
	"slices"
)

// SortedRules returns the recommendations of Nsight Compute, most important first: by estimated speedup, then warnings,
// then information.
func SortedRules(k *Kernel) []Rule {
	out := slices.Clone(k.Rules)
	slices.SortStableFunc(out, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.estimatedGain(), a.estimatedGain()),
			ruleTypeWeight(a.Severity)-ruleTypeWeight(b.Severity))
	})
	return out
}

func (r Rule) estimatedGain() float64 {
	if r.Speedup == nil {
		return -1
	}
	return *r.Speedup
}

func ruleTypeWeight(ruleType string) int {
	switch ruleType {
	case "OPT":
		return 0
	case "WRN":
		return 1
	}
	return 2
}

// KernelShare is the share of one kernel in the time of a report.
type KernelShare struct {
	KernelID int     `json:"kernel"`
	NS       float64 `json:"ns"`
	Share    float64 `json:"share"` // 0 to 1
}

// KernelShares returns the share of each kernel in the time, in launch order, without kernels that were not timed.
func KernelShares(r *Report) []KernelShare {
	var out []KernelShare
	total := 0.0
	for i := range r.Kernels {
		if ns, ok := r.Kernels[i].Duration(); ok {
			out = append(out, KernelShare{KernelID: r.Kernels[i].ID, NS: ns})
			total += ns
		}
	}
	for i := range out {
		if total > 0 {
			out[i].Share = out[i].NS / total
		}
	}
	return out
}

// BottleneckSentence returns a sentence with the bottleneck of the kernel, from its speed-of-light values, or "" if
// those were not measured. The thresholds come from Nsight Compute's own rule.
func BottleneckSentence(k *Kernel) string {
	const high, low = 80, 60
	sol := SpeedOfLight(k)
	compute, memory := sol[0].Value, sol[1].Value
	if !compute.Measured || !memory.Measured {
		return ""
	}
	busiest := sol[2]
	for _, f := range sol[3:] {
		if f.Value.Measured && f.Value.Value > busiest.Value.Value {
			busiest = f
		}
	}
	switch top := max(compute.Value, memory.Value); {
	case top < low:
		return fmt.Sprintf("Bound by latency: neither compute (%.1f %%) nor memory (%.1f %%) comes near its peak.", compute.Value, memory.Value) + smallGridAdvice(k) + mainStallState(k)
	case compute.Value >= high && memory.Value >= high:
		return fmt.Sprintf("Compute (%.1f %%) and memory (%.1f %%) are both near their peaks.", compute.Value, memory.Value)
	case compute.Value > memory.Value:
		return fmt.Sprintf("Bound by compute: the SMs reach %.1f %% of their peak%s, memory %.1f %%.", compute.Value, busiestPipe(k), memory.Value)
	default:
		return fmt.Sprintf("Bound by memory: it reaches %.1f %% of its peak (busiest: %s), compute %.1f %%.", memory.Value, busiest.Label, compute.Value)
	}
}

func busiestPipe(k *Kernel) string {
	if list := pipeUtilizations(k); len(list) > 0 {
		return " (busiest pipe: " + list[0].Label + ")"
	}
	return ""
}

// smallGridAdvice returns a sentence if the launch has too few blocks for the device, which no change inside the kernel
// fixes, or "".
func smallGridAdvice(k *Kernel) string {
	waves, blocks := k.Metric("launch__waves_per_multiprocessor"), k.Metric("launch__grid_size")
	if !waves.Measured || !blocks.Measured || waves.Value >= 1 {
		return ""
	}
	return fmt.Sprintf(" Its %.0f blocks are less than the device holds at once (%.2f waves): more or smaller blocks would use it better.", blocks.Value, waves.Value)
}

func mainStallState(k *Kernel) string {
	for _, s := range StallReasons(k) {
		if !s.IsIssuing && s.Value.Value > 0 {
			return fmt.Sprintf(" Warps wait most (%.0f %% of their cycles) for %s.", 100*s.Share, cmp.Or(s.Explanation, s.Label))
		}
	}
	return ""
}
