package charts

import (
	"fmt"
	"math"
	"slices"

	"warpboard/evaluator/versus"
)

// dumbbells is a chart of the cases for which both runs have times. A row has a dot for the time of run B relative to
// run A, and a bar for the interval of this ratio. All rows share one logarithmic axis, so differences of a few percent
// are visible even among cases with very different times.
type dumbbells struct {
	rows  []dumbbell
	ticks []ratioTick
}

// dumbbell has the positions of a case's ratio and of its interval's ends, in percent of the width.
type dumbbell struct {
	caseResult                          versus.ComparedCase
	position, lowPosition, highPosition string
	extendsLeft, extendsRight           bool // the interval extends beyond the axis
}

type ratioTick struct {
	position, text string
	isOne          bool
}

const (
	minAxisRange = 0.02 // minimum range of the axis, so that noise does not fill it
	// maxAxisRange limits the axis, as a natural logarithm, so that one false time cannot move all other dots to one
	// point. maxIntervalEnd is the limit for the ends of intervals.
	maxAxisRange, maxIntervalEnd = 12.0, 6.0
)

func newDumbbells(cases []versus.ComparedCase) *dumbbells {
	low, high := -minAxisRange, minAxisRange
	var d dumbbells
	reach := func(ratio, most float64) {
		v := clamp(math.Log(ratio), -most, most)
		low, high = min(low, v), max(high, v)
	}
	for _, c := range cases {
		if c.Ratio.Value == 0 {
			continue
		}
		d.rows = append(d.rows, dumbbell{caseResult: c})
		reach(c.Ratio.Value, maxAxisRange)
		if c.Ratio.HasInterval() {
			reach(c.Ratio.Low, maxIntervalEnd)
			reach(c.Ratio.High, maxIntervalEnd)
		}
	}
	if len(d.rows) == 0 {
		return nil
	}
	margin := 0.04 * (high - low)
	low, high = low-margin, high+margin
	at := func(ratio float64) string {
		return fmt.Sprintf("%.2f%%", 100*clamp((math.Log(ratio)-low)/(high-low), 0, 1))
	}
	for i, row := range d.rows {
		r, to := row.caseResult.Ratio, &d.rows[i]
		to.position = at(r.Value)
		if r.HasInterval() {
			to.lowPosition, to.highPosition = at(r.Low), at(r.High)
			to.extendsLeft, to.extendsRight = math.Log(r.Low) < low, math.Log(r.High) > high
		}
	}
	for _, ratio := range ratioTicks(low, high) {
		d.ticks = append(d.ticks, ratioTick{position: at(ratio), text: fmt.Sprintf("%g×", ratio), isOne: ratio == 1})
	}
	return &d
}

const (
	// outerTickFactor is the maximum ratio of a time beyond the outermost tick to that tick.
	outerTickFactor = 1.6
	// minTickGap is the minimum distance between two ticks, as a fraction of the axis: their texts must fit on a phone.
	minTickGap = 0.11
)

// ratioTicks returns 1 and round ratios on both sides of 1, for an axis between two logarithms. It uses the series with
// the smallest steps whose texts fit.
func ratioTicks(low, high float64) []float64 {
	for _, series := range [][]float64{
		{0.95, 0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04, 1.05}, {0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06}, {0.8, 0.85, 0.9, 0.95, 1, 1.05, 1.1, 1.15, 1.2}, {0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3},
		{0.5, 0.6, 0.8, 1, 1.2, 1.5, 2}, {0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500},
		{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}, {0.001, 0.01, 0.1, 1, 10, 100, 1000}, {0.0001, 0.01, 1, 100, 10_000},
	} {
		ticks := slices.DeleteFunc(slices.Clone(series), func(r float64) bool { return !(math.Log(r) > low && math.Log(r) < high) })
		narrow := math.Inf(1)
		for i := range len(ticks) - 1 {
			narrow = min(narrow, (math.Log(ticks[i+1])-math.Log(ticks[i]))/(high-low))
		}
		if first, last := math.Log(series[0]), math.Log(series[len(series)-1]); narrow >= minTickGap && low >= outerTickFactor*first && high <= outerTickFactor*last {
			return ticks
		}
	}
	return []float64{1}
}
