package charts

import (
	"math"
	"slices"

	"warpboard/evaluator/job"
	"warpboard/views/format"
)

// RepeatsView is one benchmark case with every repeat.
type RepeatsView struct {
	Case job.CaseResult
}

// histogram has the repeats in equal bins, with each repeat as a tick below.
type histogram struct {
	lowNS, highNS  float64 // shown range in nanoseconds
	repeatsAbove   int     // number of repeats above the range
	slowestNS      float64 // the slowest repeat
	bins           []int
	maxCount       int
	ticks          []float64 // positions of the repeats in the range, 0 to 1
	medianPosition float64   // 0 to 1
}

// newHistogram returns nil if there are fewer than two repeats.
func newHistogram(times []float64) *histogram {
	sorted := make([]float64, 0, len(times))
	for _, t := range times {
		if !math.IsNaN(t) && !math.IsInf(t, 0) {
			sorted = append(sorted, t)
		}
	}
	if len(sorted) < 2 {
		return nil
	}
	slices.Sort(sorted)
	shown, worst := withoutOutliers(sorted), sorted[len(sorted)-1]
	h := &histogram{lowNS: sorted[0], highNS: shown[len(shown)-1], repeatsAbove: len(sorted) - len(shown),
		slowestNS: worst}
	h.bins = make([]int, binCount(len(sorted)))
	for _, t := range shown {
		at := h.relativePosition(t)
		i := min(int(at*float64(len(h.bins))), len(h.bins)-1)
		h.bins[i]++
		h.maxCount = max(h.maxCount, h.bins[i])
		h.ticks = append(h.ticks, at)
	}
	h.medianPosition = h.relativePosition(sorted[len(sorted)/2])
	h.ticks = limitTicks(h.ticks)
	return h
}

// withoutOutliers omits the slowest 2 % of the times if they would use most of the width: one disturbed repeat would
// reduce all other bars to one.
func withoutOutliers(sorted []float64) []float64 {
	const most = 3 // maximum range with outliers, relative to the range without
	low, last := sorted[0], sorted[len(sorted)-1]
	near := sorted[int(0.98*float64(len(sorted)-1))]
	if near <= low || last/2-low/2 <= most*(near/2-low/2) { // halved, because the difference may overflow a float64
		return sorted
	}
	end, _ := slices.BinarySearch(sorted, near)
	for end < len(sorted) && sorted[end] == near {
		end++
	}
	return sorted[:end]
}

// binCount returns the square root of n, within limits, which suits histograms of unknown shape.
func binCount(n int) int { return min(max(int(math.Sqrt(float64(n))*1.5), 5), 30) }

// limitTicks returns at most 120 ticks, evenly selected, so that a page stays small.
func limitTicks(ticks []float64) []float64 {
	const most = 120
	if len(ticks) <= most {
		return ticks
	}
	out := make([]float64, most)
	for i := range out {
		out[i] = ticks[i*(len(ticks)-1)/(most-1)]
	}
	return out
}

// relativePosition returns the position of a time in the range, 0 to 1.
func (h *histogram) relativePosition(t float64) float64 {
	if h.highNS <= h.lowNS {
		return 0.5
	}
	return clamp((t/2-h.lowNS/2)/(h.highNS/2-h.lowNS/2), 0, 1) // halved, because the difference may overflow a float64
}

// Dimensions of the histogram: bars above the axis, ticks below.
const (
	histogramWidth    = 300.0
	histogramHeight   = 80.0
	histogramTicksTop = 86.0
)

func (h *histogram) barX(i int) float64 { return histogramWidth * float64(i) / float64(len(h.bins)) }

func (h *histogram) barWidth() float64 { return histogramWidth/float64(len(h.bins)) - 1 }

func (h *histogram) barHeight(i int) float64 {
	return histogramHeight * float64(h.bins[i]) / float64(h.maxCount)
}

func (h *histogram) xOfPosition(at float64) float64 { return at * (histogramWidth - 1.5) }

// statistic is one line of the table below the histogram.
type statistic struct{ name, value string }

// caseStatistics returns measured facts of a case that are neither in the drawing nor in the table of cases.
func caseStatistics(c job.CaseResult) []statistic {
	var out []statistic
	for _, s := range []struct {
		name string
		ns   float64
	}{
		{"Mean", c.Mean}, {"Standard deviation", c.StandardDeviation}, {"95th percentile", c.P95},
	} {
		if s.ns > 0 {
			out = append(out, statistic{s.name, repeatTimeText(s.ns, c)})
		}
	}
	if c.Runs > 0 {
		out = append(out, statistic{"Repeats", format.Decimal(float64(c.Runs))})
	}
	return out
}

// ShortestRepeat formats the shortest repeat.
func ShortestRepeat(c job.CaseResult) format.Quantity {
	if isWithinTolerance(c.Best, c) {
		limit := format.NanosecondsLike(c.ClockTimes.WallTolerance, c.Mean)
		return format.Quantity{
			Number:    "< " + limit.Number,
			UnitName:  limit.UnitName,
			ExactText: "Shorter than the clock's tolerance",
		}
	}
	return format.NanosecondsLike(c.Best, c.Mean)
}

// repeatTimeText formats a repeat's time.
func repeatTimeText(ns float64, c job.CaseResult) string {
	if isWithinTolerance(ns, c) {
		return ShortestRepeat(c).String()
	}
	return format.Nanoseconds(ns).String()
}

// isWithinTolerance reports whether a time is at most 1 ns after the judge subtracted the constant time of reading its
// clock. Such a time is too short to measure.
func isWithinTolerance(ns float64, c job.CaseResult) bool {
	return ns <= 1 && c.ClockTimes.WallTolerance > 0
}
