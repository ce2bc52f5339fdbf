package ncu

import (
	"cmp"
	"math"
	"slices"
)

// KernelPair has two kernels to compare. One of them is nil if the other report has no counterpart.
type KernelPair struct {
	KernelA, KernelB *Kernel       `json:"-"`
	NameA            string        `json:"a,omitempty"` // short names; empty without a kernel
	NameB            string        `json:"b,omitempty"`
	Sections         []SectionDiff `json:"sections,omitempty"` // largest effect first
}

// SectionDiff compares one section of the details page.
type SectionDiff struct {
	Name           string       `json:"name"`
	RelativeEffect float64      `json:"effect"` // largest of its rows
	Rows           []MetricDiff `json:"rows"`   // largest effect first
}

// CompareReports pairs the kernels of two reports (by name and order, then by order) and compares every section of each
// pair.
func CompareReports(a, b *Report) []KernelPair {
	pairs := pairKernels(a, b)
	for i := range pairs {
		p := &pairs[i]
		if p.KernelA != nil {
			p.NameA = p.KernelA.ShortName
		}
		if p.KernelB != nil {
			p.NameB = p.KernelB.ShortName
		}
		if p.KernelA != nil && p.KernelB != nil {
			p.Sections = compareSections(p.KernelA, p.KernelB)
		}
	}
	return pairs
}

func pairKernels(a, b *Report) []KernelPair {
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
	out := make([]KernelPair, len(a.Kernels))
	for i := range a.Kernels {
		k := &a.Kernels[i]
		out[i] = KernelPair{KernelA: k, KernelB: take(func(o *Kernel) bool { return o.ShortName == k.ShortName })}
	}
	for i := range out {
		if out[i].KernelB == nil {
			out[i].KernelB = take(func(*Kernel) bool { return true })
		}
	}
	for rest := take(func(*Kernel) bool { return true }); rest != nil; rest = take(func(*Kernel) bool { return true }) {
		out = append(out, KernelPair{KernelB: rest})
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
		row := CompareMetrics(label, a.SectionValue(name, label), b.SectionValue(name, label))
		d.Rows = append(d.Rows, row)
	}
	if name == warpStatesSection || name == memoryChartSection {
		setRelativeEffects(d.Rows)
	}
	for _, row := range d.Rows {
		d.RelativeEffect = max(d.RelativeEffect, row.RelativeEffect)
	}
	slices.SortStableFunc(d.Rows, func(x, y MetricDiff) int { return cmp.Compare(y.RelativeEffect, x.RelativeEffect) })
	return d
}

// MetricDiff compares one value of both kernels.
type MetricDiff struct {
	Label  string `json:"label"`
	ValueA Metric `json:"a"`
	ValueB Metric `json:"b"`
	// Change is B relative to A (0.25 is a quarter more), or the difference in percentage points if the unit is "%". It
	// is meaningful only if IsComparable.
	Change       float64 `json:"change"`
	IsComparable bool    `json:"comparable"`
	// RelativeEffect is a sort key from 0 (equal) to 1. For a percentage it is the difference in points, for others the
	// difference relative to both values, so that noise in tiny percentages comes last.
	RelativeEffect float64 `json:"effect"`
}

// CompareMetrics compares two metrics in base units. Metrics with different kinds of units are not comparable.
func CompareMetrics(label string, a, b Metric) MetricDiff {
	d := MetricDiff{Label: label, ValueA: a, ValueB: b}
	x, ok := a.BaseValue()
	y, both := b.BaseValue()
	if !ok || !both || a.BaseUnit() != b.BaseUnit() {
		if a.Text != b.Text {
			d.RelativeEffect = 0.5 // a medium sort key, because only one kernel has a value
		}
		return d
	}
	d.IsComparable = true
	switch {
	case a.UnitName == "%":
		d.Change, d.RelativeEffect = y-x, math.Min(math.Abs(y-x)/100, 1)
	case x == y:
	case x == 0 || math.IsInf(y/x, 0):
		d.IsComparable, d.RelativeEffect = false, 1
	default:
		d.Change, d.RelativeEffect = y/x-1, math.Min(math.Abs(y-x)/(math.Abs(x)+math.Abs(y)), 1)
	}
	return d
}
