package versus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// judged returns a case that a judge timed in fresh processes.
func judged(spec string, processes ...float64) job.CaseResult {
	c := job.CaseResult{SpecLine: spec, Status: job.StatusPass, ProcessMedians: processes,
		ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}}
	sorted := slices.Sorted(slices.Values(processes))
	c.Median = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return c
}

func TestOnlyFreshProcessesCanShowADifference(t *testing.T) {
	five := judged("n: 1", 100e3, 101e3, 102e3, 103e3, 104e3)
	for name, c := range map[string]struct {
		b     job.CaseResult
		apart bool
	}{
		"the same":                 {five, false},
		"twice as slow":            {judged("n: 1", 200e3, 202e3, 204e3, 206e3, 208e3), true},
		"twice as fast":            {judged("n: 1", 50e3, 51e3, 52e3, 53e3, 54e3), true},
		"below what is told apart": {judged("n: 1", 102.3e3, 102.31e3, 102.32e3, 102.33e3, 102.34e3), false},
		"wide":                     {judged("n: 1", 60e3, 90e3, 110e3, 140e3, 190e3), false},
		"one process":              {judged("n: 1", 300e3), false},
		"repeats without processes": {job.CaseResult{SpecLine: "n: 1", Status: job.StatusPass, Mean: 300, StandardError: 0.1,
			Runs: 100}, false},
		"wrong": {job.CaseResult{SpecLine: "n: 1", Status: job.StatusFail, Mean: 300}, false},
	} {
		f := CompareRuns(tasks.RankGeometricMean, []job.CaseResult{five}, []job.CaseResult{c.b})
		if f.ScoreRatio.IsClear() != c.apart || f.Cases[0].Ratio.IsClear() != c.apart {
			t.Errorf("%s: apart %v, by the case %v: %+v", name, f.ScoreRatio.IsClear(), f.Cases[0].Ratio.IsClear(),
				f.ScoreRatio)
		}
		back := CompareRuns(tasks.RankGeometricMean, []job.CaseResult{c.b}, []job.CaseResult{five})
		if diff := cmp.Diff(f.ScoreRatio.Inverse(), back.ScoreRatio, near); diff != "" {
			t.Errorf("%s: the other way round it is not the inverse:\n%s", name, diff)
		}
	}
}

// near compares floating-point numbers with a tolerance, because sums may be in another order.
var near = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(math.Abs(a)+math.Abs(b)) })

func TestScoresOfBothWithoutASharedCaseAreThoseOfTheirOwn(t *testing.T) {
	timed, untimed := []job.CaseResult{judged("n: 1", 100, 101)},
		[]job.CaseResult{{SpecLine: "n: 1", Status: job.StatusPass}}
	for name, c := range map[string]struct {
		b    []job.CaseResult
		want [2]float64
	}{
		"a test, which has no times": {untimed, [2]float64{100.5, 0}},
		"no case":                    {nil, [2]float64{100.5, 0}},
		"other cases":                {[]job.CaseResult{judged("n: 2", 400, 404)}, [2]float64{100.5, 402}},
	} {
		a, b := ScoresOfBoth(tasks.RankLastCase, timed, c.b)
		if diff := cmp.Diff(c.want, [2]float64{a, b}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCasesOfOneSideCountInNoMean(t *testing.T) {
	f := CompareRuns(tasks.RankLastCase,
		[]job.CaseResult{judged("n: 1", 100, 101), judged("n: 2", 400, 404), judged("only A", 9, 9)},
		[]job.CaseResult{judged("only B", 1, 1), judged("n: 2", 100, 101), judged("n: 1", 100, 101)})
	var specs []string
	for _, c := range f.Cases {
		specs = append(specs, c.Spec)
	}
	if diff := cmp.Diff([]string{"n: 1", "n: 2", "only A", "only B"}, specs); diff != "" || f.SharedCaseCount != 2 {
		t.Errorf("%d shared cases, %s", f.SharedCaseCount, diff)
	}
	if diff := cmp.Diff([]float64{0.25, 0.5}, []float64{f.ScoreRatio.Value, f.MeanRatio.Value}, near); diff != "" {
		t.Errorf("by the last case and by the mean:\n%s", diff)
	}
}

// TestCompareRunsSeparatesUnequalKernelsAndRarelyEqualOnes compares kernels with random times: at most 2 % of equal
// kernels may differ clearly, and at least 98 % of those that are 10 % slower must. A rule that ignores half of the
// noise fails.
func TestCompareRunsSeparatesUnequalKernelsAndRarelyEqualOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int, ns, noise float64) job.CaseResult {
		p := make([]float64, n)
		for i := range p {
			p[i] = ns * math.Exp(noise*r.NormFloat64())
		}
		return judged("n: 1", p...)
	}
	for _, n := range []int{5, 9, 25} {
		wrong, found := 0, 0
		const tries = 400
		for range tries {
			a := []job.CaseResult{draw(n, 1e6, 0.02)}
			if CompareRuns(tasks.RankLastCase, a, []job.CaseResult{draw(n, 1e6, 0.02)}).ScoreRatio.IsClear() {
				wrong++
			}
			if CompareRuns(tasks.RankLastCase, a, []job.CaseResult{draw(n, 1.1e6, 0.02)}).ScoreRatio.IsClear() {
				found++
			}
		}
		if wrong > tries*2/100 || found < tries*98/100 {
			t.Errorf("%d processes: %d of %d equal kernels are told apart, %d that are 10 %% slower", n, wrong, tries,
				found)
		}
	}
}

func TestManyCasesOfManyProcessesAreQuick(t *testing.T) {
	tier.Needs(t, tier.Timed)
	var a, b []job.CaseResult
	for i := range 100 {
		p := make([]float64, 25)
		for k := range p {
			p[k] = float64(1000 + (k*k+i)%17)
		}
		a, b = append(a, judged(fmt.Sprint(i), p...)), append(b, judged(fmt.Sprint(i), p...))
	}
	began := time.Now()
	f := CompareRuns(tasks.RankGeometricMean, a, b)
	if took := time.Since(began); f.SharedCaseCount != 100 || took > 5*time.Second {
		t.Errorf("%d cases took %v", f.SharedCaseCount, took)
	}
}

func TestTimesThatNoClockShowsMakeNoRatio(t *testing.T) {
	for _, ns := range []float64{0, -1, math.NaN(), math.Inf(1), 1e-300, 1e300} {
		f := CompareRuns(tasks.RankGeometricMean, []job.CaseResult{judged("n: 1", 1e300, 1e300)},
			[]job.CaseResult{judged("n: 1", ns, ns)})
		for _, r := range []Ratio{f.ScoreRatio, f.MeanRatio, f.Cases[0].Ratio} {
			if math.IsNaN(r.Value) || math.IsInf(r.Value, 0) || math.IsNaN(r.Low+r.High) || math.IsInf(r.High, 0) {
				t.Errorf("%g: %+v", ns, r)
			}
		}
	}
}
