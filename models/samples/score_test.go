package samples

import (
	"math"
	"math/rand/v2"
	"testing"

	"warpboard/evaluator/harness"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/tasks"
)

// simulated returns n turns, each with five processes that differ by 0.5 %. The speeds of the slots differ by the
// relative deviation between from turn to turn.
func simulated(t *testing.T, chance *rand.Rand, n int, between float64) (turns []Sample) {
	for range n {
		slot := 100e3 * math.Exp(between*chance.NormFloat64())
		processes := make([]float64, 5)
		for p := range processes {
			processes[p] = slot * math.Exp(0.005*chance.NormFloat64())
		}
		ns, i, err := harness.CombineRuns(tasks.RankLastCase, [][][]float64{{processes}})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, Sample{Purpose: work.PurposeConfirm, CaseTimes: [][]float64{processes},
			MeasuredValues: MeasuredValues{ScoreNS: ns, Interval: boards.Interval{LowNS: &i.Low, HighNS: &i.High, Processes: 5}}})
	}
	return turns
}

func TestOneCaseOfTurnsIsTheirScoreIfItIsTheOnlyOne(t *testing.T) {
	turns := simulated(t, rand.New(rand.NewPCG(1, 2)), 4, 0.01)
	want := ScoreOf(turns, tasks.RankGeometricMean)
	got, each := ConfirmedCaseTimes(turns, 0)
	like := func(a, b float64) bool { return math.Abs(a/b-1) < maxRoundingError }
	if !like(got.ScoreNS, want.ScoreNS) || !like(*got.LowNS, *want.LowNS) || !like(*got.HighNS, *want.HighNS) ||
		len(each) != 4 || !like(each[3], turns[3].ScoreNS) {
		t.Errorf("%v in turns of %v, want %v", got, each, want)
	}
	if _, each := ConfirmedCaseTimes(turns, 1); each != nil {
		t.Errorf("a case that no turn has took %v", each)
	}
}

func TestTheIntervalOfTurnsHoldsTheTruthAsOftenAsItSays(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 4, 12} {
		for between, least := range map[float64]float64{0: 0.94, 0.002: 0.85} {
			const trials = 2000
			holds, width := 0, 0.0
			for range trials {
				all := ScoreOf(simulated(t, chance, n, between), tasks.RankLastCase)
				if *all.LowNS <= 100e3 && *all.HighNS >= 100e3 {
					holds++
				}
				width += (*all.HighNS - *all.LowNS) / 100e3 / trials
			}
			share := float64(holds) / trials
			t.Logf("%d turns that differ by %.1f %%: it holds the truth in %.1f %%, and is %.2f %% wide", n, 100*between,
				100*share, 100*width)
			if share < least {
				t.Errorf("%d turns that differ by %.1f %%: it holds the truth in %.1f %%", n, 100*between, 100*share)
			}
		}
	}
}

// TestOneBadTurnMovesNoScore checks that one slow turn of three does not change the score.
func TestOneBadTurnMovesNoScore(t *testing.T) {
	turns := simulated(t, rand.New(rand.NewPCG(5, 6)), 3, 0)
	bad := 140e3
	turns[1].ScoreNS, turns[1].HighNS, turns[1].CaseTimes = bad, &bad, [][]float64{{bad, bad, bad, bad, bad}}
	if all := ScoreOf(turns, tasks.RankLastCase); math.Abs(all.ScoreNS-100e3) > 1000 {
		t.Errorf("the score is %v", all.ScoreNS)
	}
}
