package harness

import (
	"math"
	"math/rand/v2"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/tasks"
)

// measured returns a case with these median times of its processes, in nanoseconds.
func measured(index int, processes ...float64) job.CaseResult {
	return job.CaseResult{Index: index, Status: job.StatusPass, Median: quantile(processes, 0.5), ProcessMedians: processes,
		ClockTimes: job.ClockTimes{CountedClock: job.ClockEvent}}
}

func TestAnIntervalHoldsTheTruthAsOftenAsItSays(t *testing.T) {
	const truth, trials = 100_000.0, 3000
	chance := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{5, 6, 7, 8, 12, 25} {
		holds := 0
		for range trials {
			processes := make([]float64, n)
			for i := range processes {
				processes[i] = truth * math.Exp(0.01*chance.NormFloat64())
			}
			cases := []job.CaseResult{measured(0, processes...)}
			i, ok := IntervalWithinRun(tasks.RankLastCase, cases[0].Median, cases)
			if !ok || i.ProcessCount != n || i.Low > cases[0].Median || i.High < cases[0].Median {
				t.Fatalf("%v of %v: %+v", ok, processes, i)
			}
			if i.Low <= truth && truth <= i.High {
				holds++
			}
		}
		if share := float64(holds) / trials; share < 0.94 || share > 0.995 {
			t.Errorf("%d processes: it holds the truth in %.1f %% of the trials", n, 100*share)
		}
	}
}

// Runs differ by more than the processes within a run. Without adding this variation, a fifth to a third of the
// intervals would not contain the true score.
func TestAnIntervalHoldsTheTruthWhereRunsDiffer(t *testing.T) {
	const trials = 3000
	chance := rand.New(rand.NewPCG(3, 4))
	for _, truth := range []float64{8e3, 40e3, 120e3, 1.2e6} {
		for _, runs := range []int{1, 4} {
			holds, withoutRuns := 0, 0
			for range trials {
				var processes []float64
				for range runs {
					shift := RunToRunDeviation(truth) * chance.NormFloat64()
					for range 5 {
						processes = append(processes, truth*math.Exp(shift+RunToRunDeviation(truth)*chance.NormFloat64()))
					}
				}
				cases := []job.CaseResult{measured(0, processes...)}
				for _, by := range []struct {
					holds    *int
					interval func() (Interval, bool)
				}{
					{&holds, func() (Interval, bool) {
						return intervalOfRuns(tasks.RankLastCase, cases[0].Median, cases,
							float64(runs))
					}},
					{&withoutRuns, func() (Interval,
						bool) {
						return IntervalWithinRun(tasks.RankLastCase, cases[0].Median, cases)
					}},
				} {
					if i, ok := by.interval(); !ok || i.Low > cases[0].Median || i.High < cases[0].Median {
						t.Fatal(i, ok)
					} else if i.Low <= truth && truth <= i.High {
						*by.holds++
					}
				}
			}
			if share, without := float64(holds)/trials, float64(withoutRuns)/trials; share < 0.94 || without > 0.85 {
				t.Errorf("%v ns, %d runs: it holds the truth in %.1f %% of the trials, without what runs differ by in %.1f %%", truth, runs, 100*share, 100*without)
			}
		}
	}
}

func TestAnIntervalOfAVeryShortTimeIsNotOfEverything(t *testing.T) {
	cases := []job.CaseResult{measured(0, 2, 2, 2, 2, 2)}
	if i, ok := ScoreInterval(tasks.RankLastCase, 2, cases); !ok || i.Low < 1 || i.High > 4 {
		t.Errorf("%+v", i)
	}
}

func TestAScoreIsNoisyUnlessItsIntervalIsNarrow(t *testing.T) {
	for name, tt := range map[string]struct {
		processes []float64
		noisy     bool
	}{
		"one":                     {[]float64{100}, true},
		"four alike":              {[]float64{100, 100, 100, 100}, true},
		"five alike":              {[]float64{100, 100, 100, 100, 100}, false},
		"five close":              {[]float64{100, 100.2, 99.9, 100.1, 100}, false},
		"five apart":              {[]float64{100, 101, 99, 100.5, 100}, true},
		"twenty, one of them far": {append(slices19(100), 900), false},
	} {
		cases := []job.CaseResult{measured(0, tt.processes...)}
		if i, ok := ScoreInterval(tasks.RankLastCase, cases[0].Median, cases); !ok || i.Noisy != tt.noisy {
			t.Errorf("%s: %+v, want noisy %v", name, i, tt.noisy)
		}
	}
	if i, ok := ScoreInterval(tasks.RankLastCase, 100, []job.CaseResult{{Median: 100}}); ok {
		t.Errorf("a case without processes has %+v", i)
	}
}

func slices19(ns float64) (all []float64) {
	for range 19 {
		all = append(all, ns)
	}
	return all
}

func TestTheIntervalBelongsToTheScoreNotToACase(t *testing.T) {
	cases := []job.CaseResult{measured(0, 10e3, 10e3, 10e3, 10e3, 10e3), measured(1, 40e3, 40e3, 40e3, 40e3, 40e3)}
	for ranking, want := range map[tasks.Ranking]float64{tasks.RankLastCase: 40e3, tasks.RankMean: 25e3,
		tasks.RankGeometricMean: 20e3} {
		score, err := Score(ranking, cases)
		if err != nil {
			t.Fatal(err)
		}
		i, _ := ScoreInterval(ranking, score, cases)
		// The processes agree: only the difference between runs remains.
		half := normalHalfWidth * RunToRunDeviation(want)
		if math.Abs(score-want) > 1e-6 || math.Abs(i.Low-want*math.Exp(-half)) > 1e-6*want ||
			math.Abs(i.High-want*math.Exp(half)) > 1e-6*want {
			t.Errorf("%s: score %v in %+v, want %v", ranking, score, i, want)
		}
	}
}

func TestProcessesThatDoNotGiveTheTimeHaveNoScore(t *testing.T) {
	other := measured(0, 100, 101, 102)
	other.Median = 50
	forged := measured(0, 100, math.NaN(), 102)
	forged.Median = 101
	apart := []job.CaseResult{measured(0, 100, 101), measured(1, 100)}
	unjudged := measured(0, 100, 100)
	unjudged.ClockTimes, unjudged.Mean = job.ClockTimes{}, 100
	for name, cases := range map[string][]job.CaseResult{"another median": {other}, "no number": {forged},
		"different numbers": apart, "no judge": {unjudged}} {
		if score, err := Score(tasks.RankLastCase, cases); err == nil {
			t.Errorf("%s: scored %v", name, score)
		}
	}
}

// The database refuses an interval that begins below the smallest valid time.
func TestAWideIntervalStaysWithinTimes(t *testing.T) {
	for _, scores := range [][]float64{{1000, 1e6}, {1, 1, 1e9}, {1e17, 1e18}} {
		if low, high := intervalOfScores(scores); low < minTime || high > maxTime*(1+1e-9) || low > high {
			t.Errorf("%v: from %v to %v", scores, low, high)
		}
	}
}
