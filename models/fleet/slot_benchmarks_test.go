package fleet

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// history returns n benchmarks with normally distributed times (sigma relative to the mean). The times of the newest
// benchmarks, at the start of the list, are multiplied by the factors in last.
func history(r *rand.Rand, n int, sigma float64, last ...float64) []SlotBenchmark {
	list := make([]SlotBenchmark, n)
	for i := range list {
		list[i] = SlotBenchmark{ReadNS: 1e6 * (1 + sigma*r.NormFloat64()), MathNS: 2e6 * (1 + sigma*r.NormFloat64())}
	}
	for i, factor := range last {
		list[i].ReadNS *= factor
	}
	return list
}

func TestDescribeBenchmarkDriftIgnoresTheNoiseOfTheSlot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, test := range map[string]struct {
		list []SlotBenchmark
		want string // part of the expected description; empty for none
	}{
		"steady":                     {history(r, 52, 0.001), ""},
		"too few":                    {history(r, 6, 0.001, 2, 2), ""},
		"6 % slower, twice":          {history(r, 52, 0.001, 1.06, 1.06), "reads memory differs by +"},
		"10 % faster, twice":         {history(r, 20, 0.001, 0.9, 0.9), "by -"},
		"once":                       {history(r, 52, 0.001, 1.5), ""},
		"one up, one down":           {history(r, 52, 0.001, 1.5, 0.5), ""},
		"1 %: as clocks move":        {history(r, 52, 0.0001, 1.01, 1.01), ""},
		"5 % where noise is as much": {history(r, 52, 0.05, 1.05, 1.05), ""},
		"twice as long, noisy":       {history(r, 52, 0.05, 2, 2), "reads memory"},
	} {
		if got := DescribeBenchmarkDrift(test.list); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestASteadySlotHardlyEverSeemsToDrift(t *testing.T) {
	r, wrong := rand.New(rand.NewPCG(3, 4)), 0
	for range 5000 {
		if DescribeBenchmarkDrift(history(r, 30, 0.03)) != "" {
			wrong++
		}
	}
	if wrong > 5 { // at most one false alarm in 1,000 benchmarks, about a week's number
		t.Errorf("%d of 5000 steady histories drift", wrong)
	}
	for _, v := range []float64{0, math.NaN(), math.Inf(1)} {
		list := history(r, 30, 0.01)
		list[0].ReadNS, list[1].ReadNS = v, v
		DescribeBenchmarkDrift(list) // any result is fine, but the call must return
	}
}
