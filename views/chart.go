package views

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
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
)

// newStepChart lays out at least one step.
func newStepChart(steps []HistoryStep) stepChart {
	logs := make([]float64, len(steps))
	for i, s := range steps {
		logs[i] = math.Log10(s.ScoreNS)
	}
	low, high := slices.Min(logs), slices.Max(logs)
	margin := max((high-low)*chartMargin, chartLeast)
	low, high = low-margin, high+margin

	first, last := steps[0].When, steps[len(steps)-1].When
	c := stepChart{First: first, Last: last, SameDay: chartDay(first) == chartDay(last)}
	for _, score := range chartScores(math.Pow(10, low), math.Pow(10, high)) {
		y := 100 * (high - math.Log10(score)) / (high - low)
		c.Rows = append(c.Rows, chartRow{
			Path: fmt.Sprintf("M0 %.2fH100", y), At: fmt.Sprintf("%.2f%%", y), Label: roundTime(score),
		})
	}
	c.trace(steps, func(i int) (x, y float64) {
		x = chartFrom
		if span := last.Sub(first); span > 0 {
			x += (chartTo - chartFrom) * float64(steps[i].When.Sub(first)) / float64(span)
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
			Title: fmt.Sprintf("%s, %s, %s", Nanoseconds(s.ScoreNS), s.Person.Name, s.When.UTC().Format("2 Jan 2006, 15:04 UTC")),
		})
	}
	c.Line = line.String() + "H100"
	c.Area = fmt.Sprintf("%sV100H%.2fZ", c.Line, chartFrom)
}

// chartScores are two to six round scores between low and high: the finest of these series that is
// not too fine. A scale that holds fewer than two of them has equal steps.
func chartScores(low, high float64) []float64 {
	for _, digits := range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}} {
		var scores []float64
		for power := math.Pow(10, math.Floor(math.Log10(low))); power <= high; power *= 10 {
			for _, digit := range digits {
				if score := digit * power; score >= low && score <= high {
					scores = append(scores, score)
				}
			}
		}
		if len(scores) < 2 {
			return evenScores(low, high)
		}
		if len(scores) <= 6 {
			return scores
		}
	}
	var scores []float64
	first, last := math.Ceil(math.Log10(low)), math.Floor(math.Log10(high))
	for power := first; power <= last; power += math.Ceil((last - first + 1) / 6) {
		scores = append(scores, math.Pow(10, power))
	}
	return scores
}

func evenScores(low, high float64) []float64 {
	power := math.Pow(10, math.Floor(math.Log10(high-low)))
	var scores []float64
	for _, digit := range []float64{0.2, 0.5, 1, 2} {
		step := digit * power
		scores = scores[:0]
		for n := math.Ceil(low / step); n*step <= high; n++ {
			scores = append(scores, n*step)
		}
		if len(scores) <= 6 {
			break
		}
	}
	return scores
}

// roundTime leaves out the zeros at the end, which say nothing of a round number.
func roundTime(ns float64) string {
	q := Nanoseconds(ns)
	if strings.Contains(q.Number, ".") {
		q.Number = strings.TrimRight(strings.TrimRight(q.Number, "0"), ".")
	}
	return q.String()
}

func chartDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }
