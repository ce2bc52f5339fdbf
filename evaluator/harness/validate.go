package harness

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
	"warpboard/tasks"
)

// roundingError is the relative difference that rounding may cause. Reports have ten digits, so the limit is generous.
const roundingError = 1e-6

// rejectReport stores the first reason for refusing a report. Reasons must not quote the program's output, because the
// inputs of the stage may be secret.
func (p *Parser) rejectReport(sentence string) {
	if p.inconsistency == "" {
		p.inconsistency = sentence
	}
}

// recordLine reports whether a protocol line is new. It refuses lines that contradict an earlier one or follow the
// verdict.
func (p *Parser) recordLine(key, value string) bool {
	sum := sha256.Sum256([]byte(value))
	old, again := p.lineHashes[key]
	switch {
	case again && old == string(sum[:]):
	case again:
		p.rejectReport("The result was reported twice, with different values.")
	case p.reportedVerdict != "":
		p.rejectReport("The program reported results after its verdict.")
	case len(p.lineHashes) >= maxCases*32:
		p.rejectReport("The program reported more than a result can hold.")
	default:
		p.lineHashes[key] = string(sum[:])
		return true
	}
	return false
}

// parseVerdict handles the line that ends a report.
func (p *Parser) parseVerdict(key, value string) {
	if p.recordLine(key, value) {
		p.reportedVerdict = value
	}
}

// checkReport returns a sentence with the reason for refusing a well-formed report, or "". Reasons are unexpected cases
// and impossible times. If want is empty, the program decides about its cases and rounding, but a score still needs
// valid times.
func checkReport(p *Parser, want []tasks.Case) string {
	if len(want) == 0 {
		return ""
	}
	for _, s := range p.processReports {
		if len(s.cases) < len(want) {
			return fmt.Sprintf("The program reported %d of %d cases of a fresh process.", len(s.cases), len(want))
		}
		if bad := s.check(want); bad != "" {
			return bad
		}
	}
	return p.processReport.check(want)
}

func (s processReport) check(want []tasks.Case) string {
	for _, c := range s.sortedCases() {
		switch {
		case c.Index >= len(want):
			return fmt.Sprintf("The program reported more cases than the %d that it was given.", len(want))
		case c.SpecLine != "" && c.SpecLine != specAsReported(want[c.Index]):
			return fmt.Sprintf("The program reported case %d as another than it was given.", c.Index)
		case c.Status != job.StatusFail && s.hasImplausibleTimes(c):
			return fmt.Sprintf("The program reported impossible times of case %d.", c.Index)
		}
	}
	return ""
}

func specAsReported(c tasks.Case) string {
	return strings.TrimSpace(sandbox.CleanOutput([]byte(SpecLine(c))))
}

// hasImplausibleTimes reports whether the times of a case contradict each other.
func (s processReport) hasImplausibleTimes(c job.CaseResult) bool {
	reported := func(field string) bool {
		_, ok := s.lineHashes[fmt.Sprintf("benchmark.%d.%s", c.Index, field)]
		return ok
	}
	switch {
	case !reported("mean") && !reported("runs"):
		return reported("best") || reported("worst") || reported("times") || c.TimedByJudge()
	case c.Runs <= 0 || c.Mean <= 0:
		return true
	case reported("best") && (c.Best <= 0 || c.Best > c.Mean*(1+roundingError)):
		return true
	case reported("worst") && c.Worst < c.Mean*(1-roundingError):
		return true
	}
	return reported("times") && !timesMatchMean(c) || c.TimedByJudge() && implausibleClocks(c)
}

// implausibleClocks reports whether the clocks of a case have values that no judge can report.
func implausibleClocks(c job.CaseResult) bool {
	return c.ClockTimes.CountedClock == unknownClock || c.ClockTimes.LateCalls < 0 || c.ClockTimes.LateCalls > c.Runs ||
		c.Median <= 0 || c.Median < c.Best*(1-roundingError) || c.Median > c.Worst*(1+roundingError)
}

// timesMatchMean reports whether the single times of a case match its mean.
func timesMatchMean(c job.CaseResult) bool {
	sum := 0.0
	for _, t := range c.Times {
		if t <= 0 {
			return false
		}
		sum += t
	}
	return len(c.Times) == c.Runs && math.Abs(sum/float64(c.Runs)-c.Mean) <= c.Mean*roundingError
}
