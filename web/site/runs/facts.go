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
	dot       charts.Dot // without name and URL
	drawn     bool       // dot is set
	bandwidth float64    // the device's roofs, in bytes and operations per second; 0 if unknown
	flops     float64
	kind      string // kind of the operations: "FP32"
}

// facts returns the facts of a case's report. ok is false if the case has no report.
func (s *Runs) facts(p Profile, index int) (facts reportFacts, ok bool, err error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return facts, false, nil
	}
	if facts, ok = s.profileFacts.Get(artifact.Hash); ok {
		return facts, true, nil
	}
	report, err := s.Report(p, index)
	switch {
	case err == nil:
		facts = factsOf(report)
	case !errors.Is(err, ncu.ErrUnreadable): // a damaged profile must not affect others
		return facts, false, err
	}
	s.profileFacts.Put(artifact.Hash, facts, 1)
	return facts, true, nil
}

func factsOf(report *ncu.Report) (facts reportFacts) {
	facts.dot, facts.drawn = charts.DotOf("", "", report)
	for i := range report.Kernels {
		roof := ncu.RooflineOf(&report.Kernels[i])
		facts.bandwidth = max(facts.bandwidth, baseOf(roof.PeakBandwidth))
		if main := roof.MostUsedArithmeticRoof(); main != nil && facts.flops == 0 {
			facts.flops, facts.kind = baseOf(main.Peak), main.Name
		}
	}
	return facts
}

func baseOf(f ncu.Fact) float64 {
	value, ok := f.Value.BaseValue()
	if !ok {
		return 0
	}
	return value
}
