package ncu

import (
	"cmp"
	"slices"
	"strings"
)

// Occupancy is the number of warps per SM and its limits.
type Occupancy struct {
	TheoreticalPercent Fact               `json:"theoretical"` // percent
	AchievedPercent    Fact               `json:"achieved"`
	TheoreticalWarps   Fact               `json:"theoretical_warps"` // per SM
	AchievedWarps      Fact               `json:"achieved_warps"`
	Limiters           []OccupancyLimiter `json:"limiters"` // tightest first
}

// OccupancyLimiter is a resource and the number of blocks per SM that it allows.
type OccupancyLimiter struct {
	Fact
	IsTightest bool `json:"limits"` // this resource allows the fewest blocks
}

// OccupancyOf computes a kernel's occupancy.
func OccupancyOf(k *Kernel) Occupancy {
	o := Occupancy{
		TheoreticalPercent: k.metricFact("Theoretical occupancy", "sm__maximum_warps_per_active_cycle_pct"),
		AchievedPercent:    k.metricFact("Achieved occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active"),
		TheoreticalWarps:   k.metricFact("Theoretical warps per SM", "sm__maximum_warps_avg_per_active_cycle"),
		AchievedWarps:      k.metricFact("Achieved warps per SM", "sm__warps_active.avg.per_cycle_active"),
	}
	for _, f := range k.metricFacts([]labelledMetric{
		{"Registers", "launch__occupancy_limit_registers"},
		{"Shared memory", "launch__occupancy_limit_shared_mem"},
		{"Warps", "launch__occupancy_limit_warps"},
		{"Blocks per SM", "launch__occupancy_limit_blocks"},
		{"Barriers", "launch__occupancy_limit_barriers"},
	}) {
		if f.Value.Measured {
			o.Limiters = append(o.Limiters, OccupancyLimiter{Fact: f})
		}
	}
	slices.SortStableFunc(o.Limiters, func(a, b OccupancyLimiter) int {
		return cmp.Compare(a.Value.Value,
			b.Value.Value)
	})
	for i := range o.Limiters {
		o.Limiters[i].IsTightest = o.Limiters[i].Value.Value == o.Limiters[0].Value.Value
	}
	return o
}

// Stall is the number of cycles that warps spend in one state, per issued instruction.
type Stall struct {
	Fact
	Share       float64 `json:"share"`             // of all warp states, 0 to 1
	IsIssuing   bool    `json:"issuing,omitempty"` // not a stall: the warp was selected
	Explanation string  `json:"help,omitempty"`    // explanation of the state
}

const (
	stallPrefix = "smsp__average_warps_issue_stalled_"
	stallSuffix = "_per_issue_active.ratio"
)

// stallExplanations has a short explanation of each warp state, by ncu's name.
var stallExplanations = map[string]string{
	"barrier":            "other warps of the block to reach the barrier",
	"branch_resolving":   "the target of a branch",
	"dispatch_stall":     "the dispatcher, which holds the warp back",
	"drain":              "its stores to leave after its exit",
	"gmma":               "an asynchronous matrix instruction",
	"imc_miss":           "an immediate constant that missed its cache",
	"lg_throttle":        "room in the queue for local and global memory",
	"long_scoreboard":    "data from L1, L2 or DRAM",
	"math_pipe_throttle": "a busy arithmetic pipe",
	"membar":             "a memory barrier",
	"mio_throttle":       "room in the queue for shared memory and special functions",
	"misc":               "something else",
	"no_instruction":     "its next instruction to be fetched",
	"not_selected":       "its turn: another eligible warp was issued",
	"selected":           "no wait: it issued an instruction",
	"short_scoreboard":   "data from shared memory or a special function",
	"sleeping":           "the end of its sleep",
	"tex_throttle":       "room in the texture queue",
	"wait":               "a fixed latency of the instruction before",
	"warpgroup_arrive":   "its warp group",
}

// StallReasons returns the warp states, most cycles first. Unknown states have ncu's name.
func StallReasons(k *Kernel) []Stall {
	var out []Stall
	total := 0.0
	for _, name := range k.metricNames(stallPrefix, stallSuffix) {
		state := strings.TrimSuffix(strings.TrimPrefix(name, stallPrefix), stallSuffix)
		m := k.Metric(name)
		if !m.Measured {
			continue
		}
		m.UnitName = "cycle" // ncu prints "inst" for warps waiting per issue, which is cycles per instruction
		out = append(out, Stall{
			Fact: Fact{Label: formatStallState(state), Origin: name, Value: m}, IsIssuing: state == "selected", Explanation: stallExplanations[state],
		})
		total += m.Value
	}
	for i := range out {
		if total > 0 {
			out[i].Share = out[i].Value.Value / total
		}
	}
	slices.SortStableFunc(out, func(a, b Stall) int { return cmp.Compare(b.Value.Value, a.Value.Value) })
	return out
}

// formatStallState formats "long_scoreboard" as "Long scoreboard" and "lg_throttle" as "LG throttle".
func formatStallState(state string) string {
	first, rest, _ := strings.Cut(state, "_")
	switch {
	case first == "gmma" || first == "imc" || first == "lg" || first == "mio":
		first = strings.ToUpper(first)
	case first != "":
		first = strings.ToUpper(first[:1]) + first[1:]
	}
	return strings.TrimSpace(first + " " + strings.ReplaceAll(rest, "_", " "))
}
