package harness

import (
	"math"
	"math/rand/v2"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// TestPooledRunsGainNothingByLuck combines 20 runs of one kernel, whose scores differ by 1 %.
func TestPooledRunsGainNothingByLuck(t *testing.T) {
	const truth, trials, submissions = 100e3, 400, 20
	r := rand.New(rand.NewPCG(5, 6))
	luckiest, pooled, holds := 0.0, 0.0, 0
	for range trials {
		var runs [][][]float64
		best := math.Inf(1)
		for range submissions {
			run := make([]float64, 5)
			for p := range run {
				run[p] = truth * math.Exp(0.01*r.NormFloat64())
			}
			alone, _, err := CombineRuns(tasks.RankLastCase, [][][]float64{{run}})
			if err != nil {
				t.Fatal(err)
			}
			runs, best = append(runs, [][]float64{run}), min(best, alone)
		}
		together, interval, err := CombineRuns(tasks.RankLastCase, runs)
		if err != nil || interval.ProcessCount != 5*submissions {
			t.Fatal(interval, err)
		}
		luckiest, pooled = luckiest+best/truth/trials, pooled+together/truth/trials
		if interval.Low <= truth && truth <= interval.High {
			holds++
		}
	}
	if luckiest > 0.992 { // otherwise the single runs differ too little for this test
		t.Errorf("the luckiest of %d runs is only %.2f %% better than the truth", submissions, 100*(1-luckiest))
	}
	if math.Abs(pooled-1) > 0.0005 {
		t.Errorf("pooled they are %.3f %% better than the truth", 100*(1-pooled))
	}
	if share := float64(holds) / trials; share < 0.92 {
		t.Errorf("the interval holds the truth in %.1f %% of the trials", 100*share)
	}
}

// A run that was cancelled after its first process does not show the variation between runs.
func TestARunOfOneProcessHardlyNarrowsACombinedInterval(t *testing.T) {
	run := []float64{8000, 8000, 8000, 8000, 8000, 8000, 8000, 8000, 8000}
	width := func(runs ...[][]float64) float64 {
		_, i, err := CombineRuns(tasks.RankLastCase, runs)
		if err != nil {
			t.Fatal(err)
		}
		return i.High - i.Low
	}
	alone := width([][]float64{run})
	if cancelled := width([][]float64{run}, [][]float64{{8000}}); cancelled < 0.85*alone {
		t.Errorf("%v wide, and with a cancelled run %v", alone, cancelled)
	}
	if twice := width([][]float64{run}, [][]float64{run}); math.Abs(twice-alone/math.Sqrt2) > 0.01*alone {
		t.Errorf("%v wide, and of two runs %v", alone, twice)
	}
}

func TestTheCombinedScoreOfOneRunIsItsScore(t *testing.T) {
	for _, ranking := range []tasks.Ranking{tasks.RankLastCase, tasks.RankMean, tasks.RankGeometricMean} {
		runs := [][]float64{{100, 101, 99, 102, 98}, {400, 404, 396, 408, 392}}
		cases := []job.CaseResult{measured(0, runs[0]...), measured(1, runs[1]...)}
		want, err := Score(ranking, cases)
		if err != nil {
			t.Fatal(err)
		}
		wantInterval, _ := ScoreInterval(ranking, want, cases)
		if got, interval, err := CombineRuns(ranking, [][][]float64{runs}); err != nil || got != want ||
			interval != wantInterval {
			t.Errorf("%s: %v in %+v, %v; want %v in %+v", ranking, got, interval, err, want, wantInterval)
		}
	}
	if _, _, err := CombineRuns(tasks.RankLastCase, [][][]float64{{{1}}, {{1}, {2}}}); err == nil {
		t.Error("runs of different cases have a score")
	}
}
