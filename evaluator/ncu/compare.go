package ncu

import (
	"cmp"
	"math"
	"slices"
)

// Pair has two kernels to compare. One of them is nil if the other report has no counterpart.
type Pair struct {
	A, B     *Kernel       `json:"-"`
	NameA    string        `json:"a,omitempty"` // short names; empty without a kernel
	NameB    string        `json:"b,omitempty"`
	Sections []SectionDiff `json:"sections,omitempty"` // largest effect first
}

// SectionDiff compares one section of the details page.
type SectionDiff struct {
	Name           string  `json:"name"`
	RelativeEffect float64 `json:"effect"` // largest of its rows
	Rows           []Diff  `json:"rows"`   // largest effect first
}

// Compare pairs the kernels of two reports (by name and order, then by order) and compares every section of each pair.
func Compare(a, b *Report) []Pair {
	pairs := pairKernels(a, b)
	for i := range pairs {
		p := &pairs[i]
		if p.A != nil {
			p.NameA = p.A.ShortName
		}
		if p.B != nil {
			p.NameB = p.B.ShortName
		}
		if p.A != nil && p.B != nil {
			p.Sections = compareSections(p.A, p.B)
		}
	}
	return pairs
}

func pairKernels(a, b *Report) []Pair {
	taken := make([]bool, len(b.Kernels))
	take := func(match func(*Kernel) bool) *Kernel {
		for i := range b.Kernels {
			if !taken[i] && match(&b.Kernels[i]) {
				taken[i] = true
				return &b.Kernels[i]
			}
		}
		return nil
	}
	out := make([]Pair, len(a.Kernels))
	for i := range a.Kernels {
		k := &a.Kernels[i]
		out[i] = Pair{A: k, B: take(func(o *Kernel) bool { return o.ShortName == k.ShortName })}
	}
	for i := range out {
		if out[i].B == nil {
			out[i].B = take(func(*Kernel) bool { return true })
		}
	}
	for rest := take(func(*Kernel) bool { return true }); rest != nil; rest = take(func(*Kernel) bool { return true }) {
		out = append(out, Pair{B: rest})
	}
	return out
}

func compareSections(a, b *Kernel) []SectionDiff {
	a, b = a.withDerivedSections(), b.withDerivedSections()
	var names []string
	for _, k := range []*Kernel{a, b} {
		for _, s := range k.Sections {
			if len(s.Rows) > 0 && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	out := make([]SectionDiff, 0, len(names))
	for _, name := range names {
		out = append(out, compareSection(name, a, b))
	}
	slices.SortStableFunc(out, func(x, y SectionDiff) int { return cmp.Compare(y.RelativeEffect, x.RelativeEffect) })
	return out
}

func compareSection(name string, a, b *Kernel) SectionDiff {
	d := SectionDiff{Name: name}
	var labels []string
	for _, k := range []*Kernel{a, b} {
		for _, s := range k.Sections {
			for _, r := range s.Rows {
				if s.Name == name && !slices.Contains(labels, r.Label) {
					labels = append(labels, r.Label)
				}
			}
		}
	}
	for _, label := range labels {
		row := NewDiff(label, a.Row(name, label), b.Row(name, label))
		d.Rows = append(d.Rows, row)
	}
	if name == warpStatesSection || name == memoryChartSection {
		setEffects(d.Rows)
	}
	for _, row := range d.Rows {
		d.RelativeEffect = max(d.RelativeEffect, row.RelativeEffect)
	}
	slices.SortStableFunc(d.Rows, func(x, y Diff) int { return cmp.Compare(y.RelativeEffect, x.RelativeEffect) })
	return d
}

// Diff compares one value of both kernels.
type Diff struct {
	Label string `json:"label"`
	A     Metric `json:"a"`
	B     Metric `json:"b"`
	// Change is B relative to A (0.25 is a quarter more), or the difference in percentage points if the unit is "%". It
	// is meaningful only if Comparable.
	Change     float64 `json:"change"`
	Comparable bool    `json:"comparable"`
	// RelativeEffect is a sort key from 0 (equal) to 1. For a percentage it is the difference in points, for others the
	// difference relative to both values, so that noise in tiny percentages comes last.
	RelativeEffect float64 `json:"effect"`
}

// NewDiff compares two metrics in base units. Metrics with different kinds of units are not comparable.
func NewDiff(label string, a, b Metric) Diff {
	d := Diff{Label: label, A: a, B: b}
	x, ok := a.BaseValue()
	y, both := b.BaseValue()
	if !ok || !both || a.BaseUnit() != b.BaseUnit() {
		if a.Text != b.Text {
			d.RelativeEffect = 0.5 // sorted between large and small changes: only one side has a value
		}
		return d
	}
	d.Comparable = true
	switch {
	case a.UnitName == "%":
		d.Change, d.RelativeEffect = y-x, math.Min(math.Abs(y-x)/100, 1)
	case x == y:
	case x == 0 || math.IsInf(y/x, 0):
		d.Comparable, d.RelativeEffect = false, 1
	default:
		d.Change, d.RelativeEffect = y/x-1, math.Min(math.Abs(y-x)/(math.Abs(x)+math.Abs(y)), 1)
	}
	return d
}
