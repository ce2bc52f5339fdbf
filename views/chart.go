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
	Rows       []chartRow // scores at the left, the highest first
	First      string     // first and last day at the bottom
	Last       string
}

type chartPoint struct{ Path, Title string }

type chartRow struct{ Path, Label string }

const (
	chartRows          = 4
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
	c := stepChart{First: chartDay(first), Last: chartDay(last)}
	if c.First == c.Last {
		c.Last = ""
	}
	for i := range chartRows {
		part := float64(i) / (chartRows - 1)
		c.Rows = append(c.Rows, chartRow{
			Path:  fmt.Sprintf("M0 %.2fH100", 100*part),
			Label: Nanoseconds(math.Pow(10, high-(high-low)*part)).String(),
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

func chartDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }
