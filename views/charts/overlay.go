package charts

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/versus"
	"warpboard/views/format"
)

// repeatsOverlay has the histograms of one case for both runs over one time axis: bars of run A above the axis, bars of
// run B below it.
type repeatsOverlay struct {
	caseSpec                   string
	outlinePathA, outlinePathB string // outlines, as SVG paths
	low, high                  float64
	repeatsAbove               int  // number of repeats above the axis
	isLogarithmic              bool // the axis is logarithmic
	lowIsTolerance             bool // low is the clock tolerance; some repeats were shorter
}

const (
	maxRepeatsOverlays = 8
	overlayBins        = 48
	overlayWidth       = 300.0
	overlayHeight      = 40.0 // height of the histogram on each side of the axis
	// maxLinearRatio is the maximum ratio of the last time to the first one on a linear axis: with a larger one, most
	// repeats would be in one bin.
	maxLinearRatio = 5
)

// newOverlays returns the overlays of the cases for which both runs have the time of every repeat.
func newOverlays(cases []versus.ComparedCase) (list []repeatsOverlay) {
	for _, c := range cases {
		if o, ok := newOverlay(c); ok && len(list) < maxRepeatsOverlays {
			list = append(list, o)
		}
	}
	return list
}

func newOverlay(c versus.ComparedCase) (o repeatsOverlay, ok bool) {
	a, b := repeatTimes(c.ResultA), repeatTimes(c.ResultB)
	if len(a) < 2 || len(b) < 2 {
		return o, false
	}
	shownA, shownB := withoutOutliers(a), withoutOutliers(b)
	o = repeatsOverlay{caseSpec: c.Spec, low: min(a[0], b[0]), high: max(shownA[len(shownA)-1], shownB[len(shownB)-1])}
	o.lowIsTolerance = isTolerance(o.low, c.ResultA) || isTolerance(o.low, c.ResultB)
	o.repeatsAbove = len(a) + len(b) - len(shownA) - len(shownB)
	if !(o.high > o.low) || math.IsInf(o.high-o.low, 0) {
		return o, false
	}
	o.isLogarithmic = o.low > 0 && o.high/o.low > maxLinearRatio
	binsA, binsB := o.bins(shownA), o.bins(shownB)
	most := max(slices.Max(binsA), slices.Max(binsB))
	o.outlinePathA, o.outlinePathB = outlinePath(binsA, most, -1), outlinePath(binsB, most, 1)
	return o, true
}

func repeatTimes(c *job.CaseResult) []float64 {
	if c == nil {
		return nil
	}
	times := slices.DeleteFunc(slices.Clone(c.Times), func(t float64) bool { return math.IsNaN(t) || math.IsInf(t, 0) })
	for i, t := range times {
		if isWithinTolerance(t, *c) {
			times[i] = c.ClockTimes.WallTolerance
		}
	}
	slices.Sort(times)
	return times
}

// isTolerance reports whether a time is the clock tolerance of its case, which replaces all times of repeats that are
// too short to measure.
func isTolerance(ns float64, c *job.CaseResult) bool {
	return ns == c.ClockTimes.WallTolerance && slices.ContainsFunc(c.Times, func(t float64) bool { return isWithinTolerance(t, *c) })
}

// lowText formats the lower end of the axis.
func (o repeatsOverlay) lowText() string {
	if o.lowIsTolerance {
		return "< " + format.Nanoseconds(o.low).String()
	}
	return format.Nanoseconds(o.low).String()
}

// bins returns the shares of the repeats in each slice of the axis.
func (o repeatsOverlay) bins(times []float64) []float64 {
	bins := make([]float64, overlayBins)
	for _, t := range times {
		bins[min(int(overlayBins*o.relativePosition(t)), overlayBins-1)] += 1 / float64(len(times))
	}
	return bins
}

// relativePosition returns the position of a time on the axis, from 0 to 1.
func (o repeatsOverlay) relativePosition(t float64) float64 {
	if o.isLogarithmic {
		return clamp(math.Log(t/o.low)/math.Log(o.high/o.low), 0, 1)
	}
	return clamp((t-o.low)/(o.high-o.low), 0, 1)
}

// outlinePath returns the SVG path of the steps of bins, upwards or downwards from the middle line.
func outlinePath(bins []float64, most, sign float64) string {
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %g", overlayHeight)
	for i, n := range bins {
		fmt.Fprintf(&path, "V%.1fH%.1f", overlayHeight*(1+sign*n/most), overlayWidth*float64(i+1)/overlayBins)
	}
	fmt.Fprintf(&path, "V%gZ", overlayHeight)
	return path.String()
}
