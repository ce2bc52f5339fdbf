package runs

import (
	"errors"

	"warpboard/evaluator/ncu"
	"warpboard/views/charts"
)

// maxCachedFacts is the number of reports whose facts are cached. Each takes about 100 bytes.
const maxCachedFacts = 10000

// reportFacts has facts from a profile report. They are cached, because reports are large and never change.
type reportFacts struct {
	rooflineDot charts.RooflineDot // point of the roofline chart, without name and URL
	hasDot      bool               // rooflineDot is set
	// bandwidth and flops are the device's roofline limits, in bytes and operations per second; 0 if unknown
	bandwidth float64
	flops     float64
	flopsKind string // kind of the operations, such as "FP32"
}

// factsOfCase returns the facts of a case's report. ok is false if the case has no report.
func (s *Runs) factsOfCase(p Profile, index int) (facts reportFacts, ok bool, err error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return facts, false, nil
	}
	if facts, ok = s.reportFactsCache.Get(artifact.Hash); ok {
		return facts, true, nil
	}
	report, err := s.ParsedReport(p, index)
	switch {
	case err == nil:
		facts = readReportFacts(report)
	case !errors.Is(err, ncu.ErrUnreadable): // an unreadable report has no facts, but must not fail the whole page
		return facts, false, err
	}
	s.reportFactsCache.Put(artifact.Hash, facts, 1)
	return facts, true, nil
}

func readReportFacts(report *ncu.Report) (facts reportFacts) {
	facts.rooflineDot, facts.hasDot = charts.LongestKernelDot("", "", report)
	for i := range report.Kernels {
		roof := ncu.RooflineOf(&report.Kernels[i])
		facts.bandwidth = max(facts.bandwidth, valueInBase(roof.PeakBandwidth))
		if main := roof.MostUsedArithmeticRoof(); main != nil && facts.flops == 0 {
			facts.flops, facts.flopsKind = valueInBase(main.PeakRate), main.Name
		}
	}
	return facts
}

func valueInBase(f ncu.Fact) float64 {
	value, ok := f.Value.BaseValue()
	if !ok {
		return 0
	}
	return value
}
