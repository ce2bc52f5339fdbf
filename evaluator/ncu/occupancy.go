package ncu

import (
	"cmp"
	"slices"
)

// Occupancy is how many warps the SMs held, and what held it back.
type Occupancy struct {
	Theoretical      Fact      `json:"theoretical"` // percent
	Achieved         Fact      `json:"achieved"`
	TheoreticalWarps Fact      `json:"theoretical_warps"` // per SM
	AchievedWarps    Fact      `json:"achieved_warps"`
	Limiters         []Limiter `json:"limiters"` // tightest first
}

// Limiter is one resource and the blocks per SM that it allows.
type Limiter struct {
	Fact
	Limits bool `json:"limits"` // it allows the fewest
}

// OccupancyOf derives a kernel's occupancy.
func OccupancyOf(k *Kernel) Occupancy {
	o := Occupancy{
		Theoretical:      k.fact("Theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct"),
		Achieved:         k.fact("Achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
		TheoreticalWarps: k.fact("Theoretical warps per SM", "sm__maximum_warps_avg_per_active_cycle"),
		AchievedWarps:    k.fact("Achieved warps per SM", "sm__warps_active.avg.per_cycle_active"),
	}
	for _, f := range k.facts([]named{
		{"Registers", "launch__occupancy_limit_registers"},
		{"Shared memory", "launch__occupancy_limit_shared_mem"},
		{"Warps", "launch__occupancy_limit_warps"},
		{"Blocks per SM", "launch__occupancy_limit_blocks"},
		{"Barriers", "launch__occupancy_limit_barriers"},
	}) {
		if f.Value.Measured {
			o.Limiters = append(o.Limiters, Limiter{Fact: f})
		}
	}
	slices.SortStableFunc(o.Limiters, func(a, b Limiter) int { return cmp.Compare(a.Value.Value, b.Value.Value) })
	for i := range o.Limiters {
		o.Limiters[i].Limits = o.Limiters[i].Value.Value == o.Limiters[0].Value.Value
	}
	return o
}
