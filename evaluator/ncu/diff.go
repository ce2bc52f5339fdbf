package ncu

import "math"

// Diff is one number of both kernels.
type Diff struct {
	Label string `json:"label"`
	A     Metric `json:"a"`
	B     Metric `json:"b"`
	// Change is B relative to A (0.25 is a quarter more), or the difference in points when Unit is
	// "%"; it means something only when Comparable.
	Change     float64 `json:"change"`
	Comparable bool    `json:"comparable"`
	// Effect sorts: 0 for equal, 1 at most. A percentage counts by its points, everything else by
	// the difference relative to both, so that noise in tiny percentages stays at the bottom.
	Effect float64 `json:"effect"`
}

// NewDiff compares two metrics in the base of their unit; different kinds of unit are not comparable.
func NewDiff(label string, a, b Metric) Diff {
	d := Diff{Label: label, A: a, B: b}
	x, ok := a.Base()
	y, both := b.Base()
	if !ok || !both || a.BaseUnit() != b.BaseUnit() {
		if a.Text != b.Text {
			d.Effect = 0.5 // shown between great and small changes: something is there on one side only
		}
		return d
	}
	d.Comparable = true
	switch {
	case a.Unit == "%":
		d.Change, d.Effect = y-x, math.Min(math.Abs(y-x)/100, 1)
	case x == y:
	case x == 0 || math.IsInf(y/x, 0):
		d.Comparable, d.Effect = false, 1
	default:
		d.Change, d.Effect = y/x-1, math.Min(math.Abs(y-x)/(math.Abs(x)+math.Abs(y)), 1)
	}
	return d
}
