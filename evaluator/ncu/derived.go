package ncu

import (
	"math"
	"slices"
)

// The derived sections of which each row is a part of one whole.
const (
	warpStates  = "Warp States"
	memoryChart = "Memory Chart"
)

// weigh counts each row by its difference relative to the section's largest row of the same unit: what
// hardly takes part in the whole has no effect on it, however much it changed.
func weigh(rows []Diff) {
	largest := map[string]float64{}
	size := func(d Diff) float64 { return math.Max(d.A.Value, d.B.Value) }
	for _, d := range rows {
		largest[d.B.BaseUnit()] = max(largest[d.B.BaseUnit()], size(d))
	}
	for i, d := range rows {
		if whole := largest[d.B.BaseUnit()]; d.A.Measured && d.B.Measured && whole > 0 {
			rows[i].Effect = math.Abs(d.B.Value-d.A.Value) / whole
		}
	}
}

// compared returns a kernel with the derived views as further sections: the details page says neither
// what warps waited for nor what moved between the levels of memory.
func (k *Kernel) compared() *Kernel {
	all := &Kernel{Sections: slices.Clone(k.Sections)}
	add := func(section string, f Fact) {
		if f.Value.Measured {
			all.section(section).add(f.Label, f.Value)
		}
	}
	for _, s := range Stalls(k) {
		add(warpStates, s.Fact)
	}
	path := MemoryPathOf(k)
	for _, l := range path.Links {
		add(memoryChart, Fact{Label: path.Label(l), Value: inBase(l.Amount.Value)})
	}
	for _, p := range pipes(k) {
		add("Pipe Utilization", p)
	}
	for _, w := range RooflineOf(k).Kinds {
		add("Roofline", w.Rate)
		add("Roofline", w.Intensity)
	}
	return all
}
