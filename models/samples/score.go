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

// unfinishedProcessPenalty must exceed the ratio between two GPUs of the same model. Otherwise a person whose samples
// were measured on a fast GPU would lose little by ending processes on a slow one. A higher value makes an honest crash
// more expensive; with 1, ending slow processes would be an advantage.
const unfinishedProcessPenalty = 2

// ScoreOf computes one score from the samples of one source on one board with the software of one epoch: those of one
// person that count, oldest first, and those of the site. It returns the zero Score if no sample has a score.
//
// - If the site has confirmed the source, only its samples count, because they were not selected.
// - Otherwise all count. The time of a case is the median of all processes; a process that did not finish counts as
// unfinishedProcessPenalty times the slowest one. Samples with other cases than most are ignored; workers of this
// version send none.
func ScoreOf(samples []Sample, ranking tasks.Ranking) Score {
	if turns := confirmationSamples(samples); len(turns) > 0 {
		before := ScoreOf(samplesEndedBefore(samples, turns[0].EndedAt), ranking).ScoreNS
		return Score{MeasuredValues: medianScore(turns, ranking), BeforeConfirmationNS: &before}
	}
	list := comparableSamples(samples)
	scored := slices.DeleteFunc(slices.Clone(list), func(s Sample) bool { return s.ScoreNS == 0 })
	switch {
	case len(scored) == 0:
		return Score{}
	case len(list) == 1:
		return Score{MeasuredValues: list[0].MeasuredValues}
	}
	ns, interval, err := harness.CombineRuns(ranking, processTimes(list))
	if err != nil {
		return Score{MeasuredValues: scored[0].MeasuredValues}
	}
	all := Score{MeasuredValues: combineMeasures(scored, ns), SampleCount: len(list)}
	all.StandardErrorNS /= math.Sqrt(float64(len(scored)))
	// A task's own program reports no processes that measured, so the common score of its runs has no interval. Bands
	// (entries that share a rank) take such scores as exact.
	if !slices.ContainsFunc(scored, func(s Sample) bool { return s.Processes == 0 }) {
		all.Processes, all.Noisy = interval.ProcessCount, interval.Noisy
		all.LowNS, all.HighNS = interval.Ends()
	}
	return all
}

// confirmationSamples returns the samples that are turns of confirmations.
func confirmationSamples(samples []Sample) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool { return s.Purpose != work.PurposeConfirm })
}

// samplesEndedBefore returns the samples, other than confirmations, that had ended at a time. Samples of reruns have
// the time of the run that they measured.
func samplesEndedBefore(samples []Sample, at time.Time) []Sample {
	return slices.DeleteFunc(slices.Clone(samples), func(s Sample) bool {
		return s.Purpose == work.PurposeConfirm || s.Purpose == work.PurposeSubmitted && s.EndedAt.After(at)
	})
}

// ScoreAt returns the score that a run had at a time, from the run's SampleHistory.
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

// caseCount returns the number of cases of a sample. It returns 0 if there are none, or if cases have different numbers
// of processes.
func caseCount(s Sample) int {
	for _, processes := range s.CaseTimes {
		if len(processes) == 0 || len(processes) != len(s.CaseTimes[0]) {
			return 0
		}
	}
	return len(s.CaseTimes)
}

// comparableSamples returns the samples from which one score is computed. The most frequent number of cases, among
// samples with a score, decides: samples with another number are omitted. So are samples without cases, except those
// with an unfinished process, which counts as a slow one. If no sample with a score has cases, it returns only the
// first one with a score, or nil.
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

// processTimes lists the median times of processes by sample and case; unfinished processes come last.
func processTimes(samples []Sample) (all [][][]float64) {
	unfinished := 0
	for _, s := range samples {
		if s.IsUnfinished {
			unfinished++
		}
		if len(s.CaseTimes) > 0 {
			all = append(all, s.CaseTimes)
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
		slow[i] = slices.Repeat([]float64{unfinishedProcessPenalty * slowest}, unfinished)
	}
	return append(all, slow)
}

// combineMeasures combines samples without an interval. Deviations are averaged, and the share of the roofline is
// scaled to the common score ns, in nanoseconds.
func combineMeasures(samples []Sample, ns float64) MeasuredValues {
	all, clocks := MeasuredValues{ScoreNS: ns, DisturbedReason: disturbanceReason(samples)}, map[job.Clock]bool{}
	for _, s := range samples {
		all.DeviationNS += s.DeviationNS / float64(len(samples))
		all.StandardErrorNS += s.StandardErrorNS / float64(len(samples))
		for _, name := range strings.Split(s.ClockName, "+") {
			clocks[job.Clock(name)] = true
		}
		if s.RooflineShare != nil && all.RooflineShare == nil {
			roof := *s.RooflineShare * s.ScoreNS / ns
			all.RooflineShare = &roof
		}
	}
	all.ClockName = work.ClockNames(clocks)
	return all
}

// disturbanceReason returns a text with the number of samples that were measured under bad conditions, and one of the
// reasons, or "".
func disturbanceReason(samples []Sample) string {
	n, why := 0, ""
	for _, s := range samples {
		if s.DisturbedReason != "" {
			n, why = n+1, s.DisturbedReason
		}
	}
	if n == 0 || len(samples) == 1 {
		return why
	}
	return fmt.Sprintf("%d of %d runs: %s", n, len(samples), why)
}

// medianScore computes the score of confirmations: the median of the turns, which one disturbed turn hardly changes,
// however many processes it has. The interval comes from the processes of all turns. If a turn has no processes, it is
// the smallest interval that contains those of all turns.
func medianScore(turns []Sample, ranking tasks.Ranking) MeasuredValues {
	// The values are logarithms, so that the middle of two scores is their geometric mean, for times as for speeds.
	logs, cases, measured := make([]float64, len(turns)), make([][][]float64, len(turns)), true
	for i, s := range turns {
		logs[i], cases[i] = math.Log(s.ScoreNS), s.CaseTimes
		measured = measured && s.Processes > 0 && caseCount(s) > 0 && len(s.CaseTimes[0]) == s.Processes
	}
	slices.Sort(logs)
	all := combineMeasures(turns, math.Exp((logs[len(logs)/2]+logs[(len(logs)-1)/2])/2))
	all.DisturbedReason = ""
	for _, s := range turns {
		all.DisturbedReason = cmp.Or(all.DisturbedReason, s.DisturbedReason)
	}
	all.Interval = enclosingInterval(turns)
	if measured {
		// an error means that a worker sent a different number of cases
		if _, i, err := harness.CombineRuns(ranking, cases); err == nil {
			// The score is a median of turns and the interval comes from all processes, so the score may lie slightly
			// outside.
			low, high := min(i.Low, all.ScoreNS), max(i.High, all.ScoreNS)
			all.Interval = boards.Interval{LowNS: &low, HighNS: &high, Processes: i.ProcessCount, Noisy: i.Noisy}
		}
	}
	return all
}

// enclosingInterval returns the smallest interval that contains the intervals of all samples.
func enclosingInterval(samples []Sample) (all boards.Interval) {
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

// ConfirmedCaseTimes returns the time of one case of a confirmed score, computed as the score is, and its time in each
// turn. A turn without the case has nil.
func ConfirmedCaseTimes(turns []Sample, at int) (all MeasuredValues, each []float64) {
	alone := make([]Sample, len(turns))
	for i, s := range turns {
		if at >= len(s.CaseTimes) {
			return all, nil
		}
		alone[i] = Sample{
			CaseTimes:      s.CaseTimes[at : at+1],
			MeasuredValues: MeasuredValues{Interval: boards.Interval{Processes: s.Processes}},
		}
		ns, _, err := harness.CombineRuns(tasks.RankGeometricMean, [][][]float64{alone[i].CaseTimes})
		if err != nil {
			return all, nil
		}
		alone[i].ScoreNS = ns
		each = append(each, ns)
	}
	return medianScore(alone, tasks.RankGeometricMean), each
}

const (
	// maxRoundingError is the largest relative difference between sums of the same numbers in a different order: far
	// above float64 errors for some thousand terms, far below any measured difference.
	maxRoundingError = 1e-9
	// maxSamplesForAchievedTime limits the samples that scoreAchievedAt checks, because it computes a score for each.
	// With more samples the returned time may be too late.
	maxSamplesForAchievedTime = 32
)

// scoreAchievedAt returns the time at which the score of the samples was reached. Later runs of the source that do not
// improve the score do not change this time; otherwise a repetition could move a record from one person to another.
// Measurements by the site do not change it either: for a confirmed source, only samples before the first turn count,
// if there are any. first is the end of the first run that could have the score.
func scoreAchievedAt(samples []Sample, ranking tasks.Ranking, first time.Time) time.Time {
	turns := confirmationSamples(samples)
	// ends lists the times at which the score may have changed, newest first.
	ends := []time.Time{first}
	for _, s := range samples {
		if s.Purpose == work.PurposeSubmitted && s.EndedAt.After(first) && (len(turns) == 0 || s.EndedAt.Before(turns[0].EndedAt)) {
			ends = append(ends, s.EndedAt)
		}
	}
	slices.SortFunc(ends, func(a, b time.Time) int { return b.Compare(a) })
	at, score := ends[0], ScoreOf(samplesEndedBefore(samples, ends[0]), ranking).ScoreNS
	for _, before := range ends[1:min(len(ends), maxSamplesForAchievedTime+1)] {
		// The earlier score was already as good or better, apart from rounding.
		had := ScoreOf(samplesEndedBefore(samples, before), ranking).ScoreNS
		if had == 0 || had > score*(1+maxRoundingError) {
			break
		}
		at = before
	}
	return at
}
