package harness

import (
	"math"
	"slices"
	"strconv"

	"warpboard/evaluator/job"
)

// endProcess handles the line with which a judge ends the report about one process. Processes are reported in order.
func (p *Parser) endProcess(key, value string) {
	switch n, err := strconv.Atoi(value); {
	case !p.expectsProcesses:
		p.storeExtraKey(key, value)
		return
	case err != nil || n != p.processCount || n >= maxProcesses || p.reportedVerdict != "":
		p.rejectReport("The program reported its processes out of order.")
		return
	}
	p.processCount++
	p.processReports = append(p.processReports, p.processReport)
	p.processReport = newProcessReport()
}

// maxProcesses exceeds the number of processes in any stage.
const maxProcesses = 64

// ExpectProcesses makes the parser expect a judge's reports about several processes, one after another. It returns p.
func (p *Parser) ExpectProcesses() *Parser {
	p.expectsProcesses = true
	return p
}

// ProcessCount returns the number of completely reported processes, including dropped ones.
func (p *Parser) ProcessCount() int { return p.processCount }

// ProcessMedians returns, for each case, the median time of each completely reported process that was not dropped; nil
// if there is no such process.
func (p *Parser) ProcessMedians() (medians [][]float64) {
	if len(p.processReports) == 0 {
		return nil
	}
	for _, c := range mergeProcesses(p.processReports) {
		medians = append(medians, c.ProcessMedians)
	}
	return medians
}

// DropLastProcess removes the report about the last process. The reason must be a measured condition other than its
// times.
func (p *Parser) DropLastProcess() {
	p.processReports = p.processReports[:len(p.processReports)-1]
}

// mergeProcesses merges the reports about several processes. The time of a case is the median of the processes'
// medians. Clock values are medians, too; everything else covers the calls of all processes.
func mergeProcesses(processes []processReport) []job.CaseResult {
	first := processes[0].sortedCases()
	out := make([]job.CaseResult, len(first))
	for i, c := range first {
		parts := []job.CaseResult{}
		for _, s := range processes {
			if part := s.cases[c.Index]; part != nil {
				parts = append(parts, *part)
			}
		}
		out[i] = mergeCaseResults(c, parts)
	}
	return out
}

func mergeCaseResults(c job.CaseResult, parts []job.CaseResult) job.CaseResult {
	c.Runs, c.ClockTimes.LateCalls, c.Times = 0, 0, nil
	usual := medianEventTime(parts)
	for _, part := range parts {
		ns, _ := processTime(part, usual)
		c.ProcessMedians = append(c.ProcessMedians, ns)
		c.Times = append(c.Times, part.Times...)
		c.Runs += part.Runs
		c.SetupNS = max(c.SetupNS, part.SetupNS)
		c.ClockTimes.LateCalls += part.ClockTimes.LateCalls
		if part.Status != job.StatusPass {
			c.Status, c.Message = part.Status, part.Message
		}
	}
	c.Mean, c.StandardDeviation = meanAndStd(c.Times)
	c.StandardError = c.StandardDeviation / math.Sqrt(float64(max(len(c.Times), 1)))
	c.Best, c.Worst, c.P95 = quantile(c.Times, 0), quantile(c.Times, 1), quantile(c.Times, 0.95)
	c.Median = quantile(c.ProcessMedians, 0.5)
	// The clock is the one that counted in the process closest to the median.
	fromMiddle := math.Inf(1)
	for _, part := range parts {
		if ns, clock := processTime(part, usual); math.Abs(ns-c.Median) < fromMiddle {
			fromMiddle, c.ClockTimes.CountedClock = math.Abs(ns-c.Median), clock
		}
	}
	for _, of := range []func(*job.ClockTimes) *float64{
		func(k *job.ClockTimes) *float64 { return &k.EventTime }, func(k *job.ClockTimes) *float64 { return &k.WallTime },
		func(k *job.ClockTimes) *float64 { return &k.SnapshotTime }, func(k *job.ClockTimes) *float64 { return &k.WallTolerance },
		func(k *job.ClockTimes) *float64 { return &k.EmptyCallTime },
	} {
		var values []float64
		for i := range parts {
			values = append(values, *of(&parts[i].ClockTimes))
		}
		*of(&c.ClockTimes) = quantile(values, 0.5)
	}
	return c
}

// minAgreeingShare is the share of processes in which the judge's clocks must agree with the runner's clock, so that
// the runner's clock counts in all of them. On a GPU the judge's clocks are disturbed in one process of five, by up to
// 20 µs, and in most processes of one run in ten.
const minAgreeingShare = 0.4

// medianEventTime returns the median of EventTime, the time by the runner's clock, over the processes in which that
// clock counted (ClockTimes.CountedClock). It returns infinity, which no time reaches, if these are too few to trust
// that clock in the other processes: fewer than two of several, none of one, or less than minAgreeingShare of all.
func medianEventTime(parts []job.CaseResult) float64 {
	var events []float64
	for _, part := range parts {
		if part.ClockTimes.CountedClock == job.ClockEvent {
			events = append(events, part.ClockTimes.EventTime)
		}
	}
	if n := len(events); n < min(2, len(parts)) || float64(n) < minAgreeingShare*float64(len(parts)) {
		return math.Inf(1)
	}
	return quantile(events, 0.5)
}

// processTime returns the time of a case in one process, and the clock that it comes from. Normally this is the median
// by the clock that counted in the process. The runner's clock is used instead if its time is close to usualByEvent and
// not below it, and if the judge's clocks exceed it by no more than a disturbance. So a runner gains nothing by false
// times in other processes.
func processTime(part job.CaseResult, usualByEvent float64) (float64, job.Clock) {
	const about, mostNS, mostShare = 0.98, 20_000, 0.01
	event := part.ClockTimes.EventTime
	if part.ClockTimes.CountedClock != job.ClockEvent && event >= about*usualByEvent && part.Median-event <= mostNS+mostShare*event {
		return max(event, usualByEvent), job.ClockEvent
	}
	return part.Median, part.ClockTimes.CountedClock
}

func meanAndStd(values []float64) (mean, std float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v / float64(len(values))
	}
	if len(values) == 1 {
		return mean, 0
	}
	for _, v := range values {
		std += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	return mean, math.Sqrt(std)
}

// quantile interpolates between adjacent values, as the judges do. It returns 0 for an empty list.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}
