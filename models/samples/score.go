package samples

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/tasks"
)

// unfinishedPenalty is larger than the ratio between two GPUs of one model. Otherwise a person whose samples were
// measured on a fast GPU would lose little by ending processes on a slow one. Raised, an honest crash costs its person
// more; lowered to 1, ending slow processes would pay.
const unfinishedPenalty = 2

// ScoreOf makes one score of the samples of one source, on one board and with the software of one epoch: those of one
// person that count, the oldest first, and those of the site. It returns the zero Score if none has a score.
//
//   - If the site has confirmed the source, only that counts: it selected nothing.
//   - Otherwise all count. A case's time is the median of all their processes; a process that did not finish counts as
//     unfinishedPenalty times the slowest one. Samples with other cases than most are
//     left out: no worker of the site's version sends one.
func ScoreOf(samples []Sample, ranking tasks.Ranking) Score {
	if turns := confirmations(samples); len(turns) > 0 {
		before := ScoreOf(samplesUntil(samples, turns[0].EndedAt), ranking).ScoreNS
		return Score{Measure: medianScore(turns, ranking), BeforeConfirmationNS: &before}
	}
	list := comparableSamples(samples)
	scored := slices.DeleteFunc(slices.Clone(list), func(s Sample) bool { return s.ScoreNS == 0 })
	switch {
	case len(scored) == 0:
		return Score{}
	case len(list) == 1:
		return Score{Measure: list[0].Measure}
	}
	ns, interval, err := harness.CombineRuns(ranking, processesOf(list))
	if err != nil {
		return Score{Measure: scored[0].Measure}
	}
	all := Score{Measure: averageMeasure(scored, ns), SampleCount: len(list)}
	all.ErrNS /= math.Sqrt(float64(len(scored)))
	// Runs of a task's own program have no processes, and together no interval: bands compare such scores as numbers.
	if !slices.ContainsFunc(scored, func(s Sample) bool { return s.Processes == 0 }) {
		all.Processes, all.Noisy = interval.Processes, interval.Noisy
		all.LowNS, all.HighNS = interval.Ends()
	}
	return all
}

// confirmations selects the samples of confirmations.
func confirmations(samples []Sample) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Purpose != work.Confirm })
}

// samplesUntil selects the other samples that had ended at a time. Those of a run that was measured again have the
// place of the run's own.
func samplesUntil(samples []Sample, at time.Time) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool {
		return s.Purpose == work.Confirm || s.Purpose == work.Submitted && s.EndedAt.After(at)
	})
}

// ScoreAt returns the score that the samples of a run's history made at a time.
func ScoreAt(history []Sample, runID int64, at time.Time, ranking tasks.Ranking) Score {
	counted := slices.DeleteFunc(slices.Clone(history), func(s Sample) bool {
		return s.EndedAt.After(at) || s.SetAsideAt != nil && !s.SetAsideAt.After(at)
	})
	epoch := int64(0)
	for _, s := range counted {
		if s.RunID == runID {
			epoch = max(epoch, s.EpochID)
		}
	}
	return ScoreOf(slices.DeleteFunc(counted, func(s Sample) bool { return s.EpochID != epoch }), ranking)
}

// caseCount returns the number of a sample's cases, or 0 if there are none, or if some have more processes than others.
func caseCount(s Sample) int {
	for _, processes := range s.Cases {
		if len(processes) == 0 || len(processes) != len(s.Cases[0]) {
			return 0
		}
	}
	return len(s.Cases)
}

// comparableSamples selects the samples with as many cases as most samples with a score have, and processes that did
// not finish. If none has cases, it returns the first sample with a score.
func comparableSamples(samples []Sample) (list []Sample) {
	most, counts := 0, map[int]int{}
	for _, s := range samples {
		if n := caseCount(s); n > 0 && s.ScoreNS > 0 {
			if counts[n]++; counts[n] > counts[most] {
				most = n
			}
		}
	}
	for _, s := range samples {
		n := caseCount(s)
		if most > 0 && (n == most || n == 0 && s.IsUnfinished) {
			list = append(list, s)
		} else if most == 0 && s.ScoreNS > 0 {
			return []Sample{s}
		}
	}
	return list
}

// processesOf lists the medians of processes by sample and case, and last those of processes that did not finish.
func processesOf(samples []Sample) (all [][][]float64) {
	unfinished := 0
	for _, s := range samples {
		if s.IsUnfinished {
			unfinished++
		}
		if len(s.Cases) > 0 {
			all = append(all, s.Cases)
		}
	}
	if unfinished == 0 {
		return all
	}
	slow := make([][]float64, len(all[0]))
	for i := range slow {
		slowest := 0.0
		for _, cases := range all {
			slowest = max(slowest, slices.Max(cases[i]))
		}
		slow[i] = slices.Repeat([]float64{unfinishedPenalty * slowest}, unfinished)
	}
	return append(all, slow)
}

// averageMeasure returns the numbers of some samples without an interval. The deviations are averages, for people to
// look at. Its share of the roof falls as the score rises.
func averageMeasure(samples []Sample, ns float64) Measure {
	all, clocks := Measure{ScoreNS: ns, Disturbed: disturbanceReason(samples)}, map[job.Clock]bool{}
	for _, s := range samples {
		all.StdNS += s.StdNS / float64(len(samples))
		all.ErrNS += s.ErrNS / float64(len(samples))
		for _, name := range strings.Split(s.Clock, "+") {
			clocks[job.Clock(name)] = true
		}
		if s.Roof != nil && all.Roof == nil {
			roof := *s.Roof * s.ScoreNS / ns
			all.Roof = &roof
		}
	}
	all.Clock = work.ClockNames(clocks)
	return all
}

// disturbanceReason returns the number of samples that were measured under bad conditions, with one reason, or "".
func disturbanceReason(samples []Sample) string {
	n, why := 0, ""
	for _, s := range samples {
		if s.Disturbed != "" {
			n, why = n+1, s.Disturbed
		}
	}
	if n == 0 || len(samples) == 1 {
		return why
	}
	return fmt.Sprintf("%d of %d runs: %s", n, len(samples), why)
}

// medianScore returns the score of confirmations: the median of their samples, which one turn beside an unseen neighbor
// moves by little, however many processes it has. Its interval comes from all their processes; if a sample lacks these,
// it is the one that contains the intervals of all.
func medianScore(turns []Sample, ranking tasks.Ranking) Measure {
	// Logarithms: the middle of two scores is their geometric mean, which is the same whether time or speed is
	// compared.
	logs, cases, measured := make([]float64, len(turns)), make([][][]float64, len(turns)), true
	for i, s := range turns {
		logs[i], cases[i] = math.Log(s.ScoreNS), s.Cases
		measured = measured && s.Processes > 0 && caseCount(s) > 0 && len(s.Cases[0]) == s.Processes
	}
	slices.Sort(logs)
	all := averageMeasure(turns, math.Exp((logs[len(logs)/2]+logs[(len(logs)-1)/2])/2))
	all.Disturbed = ""
	for _, s := range turns {
		all.Disturbed = cmp.Or(all.Disturbed, s.Disturbed)
	}
	all.Interval = widestInterval(turns)
	if measured {
		if _, i, err := harness.CombineRuns(ranking, cases); err == nil { // else a worker sent another number of cases
			// The score is a median of samples, the interval one of all processes: the first may lie outside the second
			// by a little.
			low, high := min(i.Low, all.ScoreNS), max(i.High, all.ScoreNS)
			all.Interval = boards.Interval{LowNS: &low, HighNS: &high, Processes: i.Processes, Noisy: i.Noisy}
		}
	}
	return all
}

// widestInterval returns the interval that contains those of all samples.
func widestInterval(samples []Sample) (all boards.Interval) {
	for _, s := range samples {
		all.Processes += s.Processes
		all.Noisy = all.Noisy || s.Noisy
		low, high := s.ScoreNS, s.ScoreNS
		if s.LowNS != nil && s.HighNS != nil {
			low, high = min(low, *s.LowNS), max(high, *s.HighNS)
		}
		if all.LowNS == nil || low < *all.LowNS {
			all.LowNS = &low
		}
		if all.HighNS == nil || high > *all.HighNS {
			all.HighNS = &high
		}
	}
	return all
}

// CaseMeasurement returns one case of a confirmed score, made as the score is, and its time in each turn, or nil if a
// turn lacks it.
func CaseMeasurement(turns []Sample, at int) (all Measure, each []float64) {
	alone := make([]Sample, len(turns))
	for i, s := range turns {
		if at >= len(s.Cases) {
			return all, nil
		}
		alone[i] = Sample{
			Cases:   s.Cases[at : at+1],
			Measure: Measure{Interval: boards.Interval{Processes: s.Processes}},
		}
		ns, _, err := harness.CombineRuns(tasks.RankGeom, [][][]float64{alone[i].Cases})
		if err != nil {
			return all, nil
		}
		alone[i].ScoreNS = ns
		each = append(each, ns)
	}
	return medianScore(alone, tasks.RankGeom), each
}

const (
	// maxRoundingError is the largest relative difference of sums of the same numbers: far above the error of float64
	// sums over some thousand times, far below the difference of any two measurements.
	maxRoundingError = 1e-9
	// maxSamplesLookedBack is the number of samples that achievedAt looks back: thousands are not scored for each of
	// them. Past it a date may be too late.
	maxSamplesLookedBack = 32
)

// achievedAt returns the time at which samples reached their score. Later runs of a source that did not improve it do
// not move the date; otherwise its person would lose a record, and another gain one, by a repetition. Neither does what
// the site measures: of a confirmed source, only what ended before its first turn counts, if anything had. first is the
// end of the first run that could have the score.
func achievedAt(samples []Sample, ranking tasks.Ranking, first time.Time) time.Time {
	turns := confirmations(samples)
	// The times at which the score may have changed, the newest first.
	ends := []time.Time{first}
	for _, s := range samples {
		if s.Purpose == work.Submitted && s.EndedAt.After(first) && (len(turns) == 0 || s.EndedAt.Before(turns[0].EndedAt)) {
			ends = append(ends, s.EndedAt)
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	at, score := ends[0], ScoreOf(samplesUntil(samples, ends[0]), ranking).ScoreNS
	for _, before := range ends[1:min(len(ends), maxSamplesLookedBack+1)] {
		// The score at that time was already as good: equal within rounding, or better.
		had := ScoreOf(samplesUntil(samples, before), ranking).ScoreNS
		if had == 0 || had > score*(1+maxRoundingError) {
			break
		}
		at = before
	}
	return at
}
