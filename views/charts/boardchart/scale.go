package boardchart

import (
	"math"
	"strings"

	"warpboard/views/format"
)

const maxScaleLabels = 6 // labels at the left edge of a chart

// roundScaleScores returns two to six round scores between low and high, from the series with the smallest steps that
// are allowed. If fewer than two fit, the scores have equal steps; beyond the range of float64 there are none. Loops
// count whole numbers up to a known end, because a product that rounds to zero or to infinity would never reach it.
func roundScaleScores(low, high float64) []float64 {
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
			return evenScaleScores(low, high)
		}
		if len(scores) <= maxScaleLabels {
			return scores
		}
	}
	var scores []float64
	first, last := int(math.Ceil(math.Log10(low))), int(math.Floor(math.Log10(high)))
	for e := first; e <= last; e += (last - first + maxScaleLabels) / maxScaleLabels {
		scores = append(scores, math.Pow10(e))
	}
	return scores
}

// evenScaleScores returns at most six multiples of a round step.
func evenScaleScores(low, high float64) []float64 {
	power := math.Pow10(int(math.Floor(math.Log10(high - low))))
	for _, digit := range []float64{0.2, 0.5, 1, 2} {
		step := digit * power
		first, last := math.Ceil(low/step), math.Floor(high/step)
		if !(last-first < maxScaleLabels) { // too many labels, or NaN or Inf because the step is too small
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

// roundTime formats a time without trailing zeros.
func roundTime(ns float64) string {
	q := format.Nanoseconds(ns)
	if strings.Contains(q.Number, ".") {
		q.Number = strings.TrimRight(strings.TrimRight(q.Number, "0"), ".")
	}
	return q.String()
}
