package charts

import (
	"fmt"
	"math"

	"warpboard/evaluator/job"
	"warpboard/evaluator/versus"
)

// dumbbells are the cases that both sides ran, each drawn as two dots with their intervals on one logarithmic axis of
// time relative to A: a few percent are seen beside cases that take a thousand times as long.
type dumbbells struct {
	rows  []dumbbell
	ticks []ratioTick
}

type dumbbell struct {
	c    versus.Case
	a, b mark
}

// mark is one side's time with its interval, where it has one, in percent of the width.
type mark struct{ at, low, high string }

type ratioTick struct {
	at, text string
	one      bool
}

const (
	leastRange = 0.02 // of the axis, so that noise does not fill it
	// mostRange bounds the axis, in e-foldings: a forged time must not press all others into one point.
	mostRange = 12.0
)

func newDumbbells(cases []versus.Case) *dumbbells {
	low, high := -leastRange, leastRange
	var d dumbbells
	for _, c := range cases {
		if c.Ratio.Value == 0 {
			continue
		}
		d.rows = append(d.rows, dumbbell{c: c})
		for _, v := range append(relative(c.A, c.A), relative(c.B, c.A)...) {
			low, high = max(min(low, v), -mostRange), min(max(high, v), mostRange)
		}
	}
	if len(d.rows) == 0 {
		return nil
	}
	margin := 0.04 * (high - low)
	low, high = low-margin, high+margin
	at := func(v float64) string { return fmt.Sprintf("%.2f%%", 100*within((v-low)/(high-low), 0, 1)) }
	for i, row := range d.rows {
		a, b := relative(row.c.A, row.c.A), relative(row.c.B, row.c.A)
		d.rows[i].a, d.rows[i].b = mark{at(a[0]), at(a[1]), at(a[2])}, mark{at(b[0]), at(b[1]), at(b[2])}
	}
	for _, ratio := range ratioTicks(math.Exp(low), math.Exp(high)) {
		d.ticks = append(d.ticks, ratioTick{at: at(math.Log(ratio)), text: fmt.Sprintf("%g×", ratio), one: ratio == 1})
	}
	return &d
}

// relative is a case's time and the ends of its interval, as logarithms of their ratios to A's time.
func relative(c, a *job.CaseResult) []float64 {
	low, high, ok := versus.Spread(c)
	if !ok {
		low, high = c.Time(), c.Time()
	}
	of := func(ns float64) float64 { return within(math.Log(ns)-math.Log(a.Time()), -mostRange, mostRange) }
	return []float64{of(c.Time()), of(low), of(high)}
}

// beyond is how many times farther from 1, on the logarithmic axis, times may lie than the outermost tick of a series.
const beyond = 1.6

// ratioTicks are 1 and some round ratios on both sides of it: from the finest series with few enough ticks.
func ratioTicks(low, high float64) []float64 {
	for _, series := range [][]float64{{0.95, 0.96, 0.97, 0.98, 0.99, 1.01, 1.02, 1.03, 1.04, 1.05}, {0.94, 0.96, 0.98, 1.02, 1.04, 1.06}, {0.8, 0.85, 0.9, 0.95, 1.05, 1.1, 1.15, 1.2},
		{0.5, 0.6, 0.8, 1.2, 1.5, 2}, {0.1, 0.2, 0.5, 2, 5, 10}, {0.001, 0.01, 0.1, 10, 100, 1000}} {
		ticks := []float64{1}
		for _, r := range series {
			if r > low && r < high {
				ticks = append(ticks, r)
			}
		}
		if few, wide := len(ticks) <= 6, low < math.Pow(series[0], beyond) || high > math.Pow(series[len(series)-1], beyond); few && !wide {
			return ticks
		}
	}
	return []float64{1}
}
