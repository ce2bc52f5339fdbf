package views

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

// oddFloats are numbers that arithmetic on scales trips over.
var oddFloats = []float64{
	0, -1, 1, 500, 1.1e-308, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1e-300, 1e300,
}

// Whatever a row says, the chart of a board ends, stays small, and names places that a browser can draw.
func FuzzBoardChart(f *testing.F) {
	for _, a := range oddFloats {
		for _, b := range oddFloats {
			f.Add(a, b, int64(0), int64(time.Hour))
		}
	}
	f.Fuzz(func(t *testing.T, first, last float64, began, ended int64) {
		steps := []HistoryStep{
			{When: time.Unix(0, began).UTC(), ScoreNS: first}, {When: time.Unix(0, ended).UTC(), ScoreNS: last},
			{When: time.Unix(0, began).UTC(), ScoreNS: last},
		}
		var page bytes.Buffer
		if err := history(steps).Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		c := newStepChart(steps)
		paths := c.Line + c.Area
		for _, row := range c.Rows {
			paths += row.Path + row.At
		}
		for _, point := range c.Points {
			paths += point.Path
		}
		if strings.Contains(paths, "NaN") || strings.Contains(paths, "Inf") {
			t.Errorf("the chart of %g and %g has no places: %s", first, last, paths)
		}
		if len(c.Rows) > mostScores || page.Len() > 20_000 {
			t.Errorf("the chart of %g and %g has %d labels in %d bytes", first, last, len(c.Rows), page.Len())
		}
	})
}

// Between any two numbers there are at most six labels.
func FuzzChartScores(f *testing.F) {
	for _, low := range oddFloats {
		for _, high := range append(oddFloats, math.Nextafter(low, math.Inf(1)), low*1.1) {
			f.Add(low, high)
		}
	}
	f.Fuzz(func(t *testing.T, low, high float64) {
		scores := chartScores(low, high)
		if len(scores) > mostScores {
			t.Errorf("between %g and %g there are %d labels", low, high, len(scores))
		}
		for _, s := range scores {
			if !(s >= low*(1-1e-9) && s <= high*(1+1e-9)) {
				t.Errorf("%g is not between %g and %g", s, low, high)
			}
		}
	})
}
