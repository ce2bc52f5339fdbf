package versus

import (
	"math"
	"slices"

	"github.com/aclements/go-moremath/stats"

	"warpboard/evaluator/harness"
)

const (
	// MinRelativeDifference is the smallest relative difference that counts, as on boards.
	MinRelativeDifference = 0.005
	// confidenceLevel is the confidence of intervals. It is higher than that of a score, because people compare many
	// pairs.
	confidenceLevel = 0.99
	// minForOrderStatistics is the number of processes per run from which the interval uses order statistics, which
	// assume no distribution.
	minForOrderStatistics = 7
)

// Ratio is B's time divided by A's.
type Ratio struct {
	Value     float64 // 0 if there are no times to compare
	Low, High float64 // interval; 0 if either side lacks fresh processes
}

// HasInterval reports whether the interval of the ratio is known.
func (r Ratio) HasInterval() bool { return r.Low > 0 }

// IsClear reports whether the data show a difference.
func (r Ratio) IsClear() bool {
	return r.HasInterval() && (r.Low > 1 || r.High < 1) &&
		math.Abs(math.Log(r.Value)) > math.Log1p(MinRelativeDifference)
}

// Inverse returns A's time divided by B's.
func (r Ratio) Inverse() Ratio {
	switch {
	case r.Value == 0:
		return r
	case !r.HasInterval():
		return Ratio{Value: 1 / r.Value}
	}
	return Ratio{1 / r.Value, 1 / r.High, 1 / r.Low}
}

// ratioWithInterval returns the ratio of two times. Its interval comes from the processes of both runs at an error rate
// of alpha, widened by the variation between runs.
func ratioWithInterval(a, b float64, as, bs []float64, alpha float64) Ratio {
	if !(a > 0 && b > 0) || math.IsInf(b/a, 0) || b/a == 0 {
		return Ratio{}
	}
	r := Ratio{Value: b / a}
	low, high := differenceInterval(logarithmsOf(as), logarithmsOf(bs), alpha)
	if math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return r
	}
	// The times are medians, so the ratio may lie slightly outside.
	r.Low, r.High = min(math.Exp(low), r.Value), max(math.Exp(high), r.Value)
	between := math.Hypot(harness.RunToRunDeviation(a), harness.RunToRunDeviation(b))
	r.Low, r.High = harness.WidenInterval(r.Value, r.Low, r.High, normalQuantile(alpha)*between)
	if r.Low == 0 || math.IsInf(r.High, 0) || math.IsNaN(r.Low+r.High) {
		r.Low, r.High = 0, 0
	}
	return r
}

// normalQuantile returns the half-width of a normal interval at an error rate, in standard deviations.
func normalQuantile(alpha float64) float64 { return math.Sqrt2 * math.Erfinv(1-alpha) }

func logarithmsOf(times []float64) []float64 {
	out := make([]float64, len(times))
	for i, t := range times {
		out[i] = math.Log(t)
	}
	return out
}

// differenceInterval returns the interval of b's values minus a's: by order statistics of all differences (Mann and
// Whitney, Hodges and Lehmann) if there are enough values, otherwise by Welch's t-test. It returns NaN if there is
// none.
func differenceInterval(a, b []float64, alpha float64) (low, high float64) {
	if min(len(a), len(b)) < 2 {
		return math.NaN(), math.NaN()
	}
	if min(len(a), len(b)) >= minForOrderStatistics {
		if low, high, ok := rankSumBounds(a, b, alpha); ok {
			return low, high
		}
	}
	return welchInterval(a, b, alpha)
}

// rankSumBounds returns the smallest and the largest difference after omitting as many on both sides as the error rate
// allows, by the normal approximation of Mann and Whitney's U. From 7 values on the approximation is within one rank of
// the exact value. ok is false if no interval has that error rate.
func rankSumBounds(a, b []float64, alpha float64) (low, high float64, ok bool) {
	differences := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	slices.Sort(differences)
	n, m := float64(len(a)), float64(len(b))
	z := normalQuantile(alpha)
	// For example 4, with 7 processes on each side and 99 % confidence.
	out := int(math.Floor(n*m/2 - z*math.Sqrt(n*m*(n+m+1)/12) + 0.5))
	if out <= 0 {
		return 0, 0, false
	}
	return differences[out-1], differences[len(differences)-out], true
}

func welchInterval(a, b []float64, alpha float64) (low, high float64) {
	va, vb := stats.Variance(a)/float64(len(a)), stats.Variance(b)/float64(len(b))
	difference, v := stats.Mean(b)-stats.Mean(a), va+vb
	if v == 0 {
		return difference, difference
	}
	freedom := v * v / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	half := stats.InvCDF(stats.TDist{V: freedom})(1-alpha/2) * math.Sqrt(v)
	return difference - half, difference + half
}
