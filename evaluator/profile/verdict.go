package profile

import "fmt"

// Verdict says in one sentence what bounds the kernel, from its speed-of-light numbers; it is empty
// when those were not measured. The thresholds are those of Nsight Compute's own rule.
func Verdict(k *Kernel) string {
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
		return fmt.Sprintf("Bound by latency: neither compute (%.1f %%) nor memory (%.1f %%) comes near its peak.", compute.Value, memory.Value) + mainStall(k)
	case compute.Value >= high && memory.Value >= high:
		return fmt.Sprintf("Compute (%.1f %%) and memory (%.1f %%) are both near their peaks.", compute.Value, memory.Value)
	case compute.Value > memory.Value:
		return fmt.Sprintf("Bound by compute: the SMs reach %.1f %% of their peak, memory %.1f %%.", compute.Value, memory.Value)
	default:
		return fmt.Sprintf("Bound by memory: it reaches %.1f %% of its peak (busiest: %s), compute %.1f %%.", memory.Value, busiest.Label, compute.Value)
	}
}

func mainStall(k *Kernel) string {
	for _, s := range Stalls(k) {
		if !s.Issuing && s.Value.Value > 0 {
			return fmt.Sprintf(" Warps wait most (%.0f %% of their cycles) for %s.", 100*s.Share, s.Help)
		}
	}
	return ""
}
