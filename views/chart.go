package views

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpboard/views/format"
)

// stepChart is the history of a board's best score as paths in a box of 100 × 100 that is
// stretched to any size: time to the right, score upwards on a logarithmic scale, because records
// fall by factors. Labels stand outside of the box, so that they keep their size.
type stepChart struct {
	Line, Area string
	Points     []chartPoint
	Rows       []chartRow // round scores at the left, the least first
	First      time.Time  // of the first and last record
	Last       time.Time
	SameDay    bool // the two are told apart by the clock
}

type chartPoint struct{ Path, Title string }

type chartRow struct{ Path, At, Label string }

const (
	chartLeast         = 0.02 // decades that the scale shows at least: noise must not look like a fall
	chartMargin        = 0.12 // of the scale, above and below
	chartFrom, chartTo = 2.0, 94.0
	mostScores         = 6 // at the left edge
)

// newStepChart lays out the steps whose score is a time; a chart without one is empty.
func newStepChart(steps []HistoryStep) stepChart {
	steps = slices.DeleteFunc(slices.Clone(steps), func(s HistoryStep) bool { return !(s.ScoreNS > 0) || math.IsInf(s.ScoreNS, 0) })
	if len(steps) == 0 {
		return stepChart{}
	}
	logs := make([]float64, len(steps))
	for i, s := range steps {
		logs[i] = math.Log10(s.ScoreNS)
	}
	low, high := slices.Min(logs), slices.Max(logs)
	margin := max((high-low)*chartMargin, chartLeast)
	low, high = low-margin, high+margin

	first, last := steps[0].When, steps[len(steps)-1].When
	c := stepChart{First: first, Last: last, SameDay: format.Day(first) == format.Day(last)}
	for _, score := range chartScores(math.Pow(10, low), math.Pow(10, high)) {
		y := 100 * (high - math.Log10(score)) / (high - low)
		c.Rows = append(c.Rows, chartRow{
			Path: fmt.Sprintf("M0 %.2fH100", y), At: fmt.Sprintf("%.2f%%", y), Label: roundTime(score),
		})
	}
	c.trace(steps, func(i int) (x, y float64) {
		x = chartFrom
		if span := last.Sub(first); span > 0 {
			x += (chartTo - chartFrom) * min(max(float64(steps[i].When.Sub(first))/float64(span), 0), 1)
		}
		return x, 100 * (high - logs[i]) / (high - low)
	})
	return c
}

// trace draws one tread per record, the last one to the right edge.
func (c *stepChart) trace(steps []HistoryStep, at func(int) (x, y float64)) {
	var line strings.Builder
	for i, s := range steps {
		x, y := at(i)
		if i == 0 {
			fmt.Fprintf(&line, "M%.2f %.2f", x, y)
		} else {
			fmt.Fprintf(&line, "H%.2fV%.2f", x, y)
		}
		c.Points = append(c.Points, chartPoint{
			Path:  fmt.Sprintf("M%.2f %.2fh0", x, y), // no length: round ends make it a dot of any box
			Title: fmt.Sprintf("%s, %s, %s", format.Nanoseconds(s.ScoreNS), s.Person.Name, format.Minute(s.When)),
		})
	}
	c.Line = line.String() + "H100"
	c.Area = fmt.Sprintf("%sV100H%.2fZ", c.Line, chartFrom)
}

// chartScores are two to six round scores between low and high: the finest of these series that is
// not too fine. A scale that holds fewer than two of them has equal steps, and one that ends beyond what
// a float64 can hold has none. Loops count in whole numbers that are known before: a product that
// rounds to zero or to infinity never grows to its end.
func chartScores(low, high float64) []float64 {
	if !(low > 0 && low < high) || math.IsInf(high, 0) {
		return nil
	}
	from, to := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	for _, digits := range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}} {
		var scores []float64
		for e := from; e <= to; e++ {
			for _, digit := range digits {
				if score := digit * math.Pow10(e); score >= low && score <= high {
					scores = append(scores, score)
				}
			}
		}
		if len(scores) < 2 {
			return evenScores(low, high)
		}
		if len(scores) <= mostScores {
			return scores
		}
	}
	var scores []float64
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	for e := first; e <= last; e += (last - first + mostScores) / mostScores {
		scores = append(scores, math.Pow10(e))
	}
	return scores
}

// evenScores are at most six multiples of a round step.
func evenScores(low, high float64) []float64 {
	power := math.Pow10(int(math.Floor(math.Log10(high - low))))
	for _, digit := range []float64{0.2, 0.5, 1, 2} {
		step := digit * power
		first, last := math.Ceil(low/step), math.Floor(high/step)
		if !(last-first < mostScores) { // also where a step is too small to count with
			continue
		}
		var scores []float64
		for i := range int(last-first) + 1 {
			scores = append(scores, (first+float64(i))*step)
		}
		return scores
	}
	return nil
}

// roundTime leaves out the zeros at the end, which say nothing of a round number.
func roundTime(ns float64) string {
	q := format.Nanoseconds(ns)
	if strings.Contains(q.Number, ".") {
		q.Number = strings.TrimRight(strings.TrimRight(q.Number, "0"), ".")
	}
	return q.String()
}
