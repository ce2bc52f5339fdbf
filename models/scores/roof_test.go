package scores

import (
	"math"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
)

// rankedOn returns a task that adds a million floats, and a ranked result of its only case on a slot with the given
// benchmark.
func rankedOn(benchmark *job.SlotBenchmark) (tasks.Definition, job.Result) {
	c := tasks.Case{{Name: "size", Value: "1000000"}}
	def := tasks.Definition{RankingBy: tasks.RankGeometricMean, Benchmarks: []tasks.Case{c},
		Roofline: &tasks.Roofline{Bytes: "3 * size * float32", Flops: "size"}}
	return def, job.Result{Machine: job.Machine{SlotBenchmark: benchmark}, Stages: []job.StageResult{
		{Stage: job.StageRanked, Cases: []job.CaseResult{{SpecLine: c.String(), Status: job.StatusPass, Mean: 5e6}}}}}
}

func slotBenchmark() *job.SlotBenchmark {
	return &job.SlotBenchmark{
		EmptyCallNS:    100,
		BytesPerSecond: 10e9,
		FlopsPerSecond: 100e9,
		ReadCaseNS:     1e6,
		MathCaseNS:     1e6,
	}
}

func TestAScoreIsComparedWithFloorAndRoofOfItsSlot(t *testing.T) {
	slowMath := slotBenchmark()
	slowMath.FlopsPerSecond = 1e9 // 1 ms for the arithmetic, 1.2 ms for the memory traffic
	slower := slotBenchmark()
	slower.FlopsPerSecond = 0.5e9 // 2 ms for the arithmetic
	for name, test := range map[string]struct {
		benchmark *job.SlotBenchmark
		ns        float64
		roof      float64 // expected RooflineShare; 0 for nil
		held      string
	}{
		"half of the bandwidth":      {slotBenchmark(), 2.4e6, 0.5, ""},
		"at the roof":                {slotBenchmark(), 1.2e6, 1, ""},
		"a hair above":               {slotBenchmark(), 1.19e6, 1.2 / 1.19, ""},
		"above the roof":             {slotBenchmark(), 1.0e6, 1.2, "It reaches 120 %"},
		"memory bounds it":           {slowMath, 1.2e6, 1, ""},
		"arithmetic bounds it":       {slower, 4e6, 0.5, ""},
		"faster than fp32":           {slower, 1.3e6, 2 / 1.3, ""},
		"below the floor":            {slotBenchmark(), 99, 0, "an empty call takes"},
		"a device that is not known": {nil, 1000, 0, ""},
		"a device without numbers":   {&job.SlotBenchmark{}, 1000, 0, ""},
		"less than any GPU takes":    {nil, 999, 0, "no call takes less than 1µs on a GPU"},
	} {
		def, result := rankedOn(test.benchmark)
		score := &work.Score{NS: test.ns}
		compareWithSlotBenchmark(score, def, def, result)
		switch {
		case (score.HeldReason == "") != (test.held == "") || !strings.Contains(score.HeldReason, test.held):
			t.Errorf("%s: held for %q, want %q", name, score.HeldReason, test.held)
		case (score.RooflineShare == nil) != (test.roof == 0):
			t.Errorf("%s: roof %v", name, score.RooflineShare)
		case score.RooflineShare != nil && math.Abs(*score.RooflineShare-test.roof) > 1e-9:
			t.Errorf("%s: %v of the roof, want %v", name, *score.RooflineShare, test.roof)
		}
	}
	def, result := rankedOn(slotBenchmark())
	def.Roofline = nil
	score := &work.Score{NS: 1000}
	if compareWithSlotBenchmark(score, def, def, result); score.RooflineShare != nil || score.HeldReason != "" {
		t.Errorf("a task without a roofline: %+v", score)
	}
	compareWithSlotBenchmark(nil, def, def, result) // the modes test and benchmark have no score
	def, result = rankedOn(slotBenchmark())
	result.Machine.Device = "CPU"
	for _, ns := range []float64{99, 1.0e6} {
		score := &work.Score{NS: ns}
		if compareWithSlotBenchmark(score, def, def, result); score.HeldReason != "" {
			t.Errorf("%v ns on a CPU: held for %q", ns, score.HeldReason)
		}
	}
}

func TestNoSlotBenchmarkMakesARoofThatIsNoNumber(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64} {
		benchmark := slotBenchmark()
		benchmark.BytesPerSecond = v
		def, result := rankedOn(benchmark)
		score := &work.Score{NS: 1000}
		if compareWithSlotBenchmark(score, def, def, result); score.RooflineShare != nil || score.HeldReason != "" {
			t.Errorf("%v B/s: %+v", v, score)
		}
	}
}

// TestACaseBelowTheFloorHoldsTheScoreOfAll checks that one impossibly fast case puts the score on hold, because it
// would lower the geometric mean of all cases.
func TestACaseBelowTheFloorHoldsTheScoreOfAll(t *testing.T) {
	for name, test := range map[string]struct {
		benchmark *job.SlotBenchmark
		device    string
		ns        float64
		held      bool
	}{
		"on a gauged GPU":              {slotBenchmark(), "H200", 79, true},
		"within the floor's own error": {slotBenchmark(), "H200", 81, false},
		"on a GPU that was not gauged": {nil, "H200", 1, true},
		"on a CPU":                     {slotBenchmark(), "CPU", 1, false},
	} {
		def, result := rankedOn(test.benchmark)
		result.Machine.Device = test.device
		result.Stages[0].Cases = append(result.Stages[0].Cases,
			job.CaseResult{Index: 1, SpecLine: "size: 1", Status: job.StatusPass, Mean: test.ns})
		score := &work.Score{NS: 2e6}
		compareWithSlotBenchmark(score, def, def, result)
		if (score.HeldReason != "") != test.held ||
			test.held && !strings.Contains(score.HeldReason, "case 1 (size: 1)") {
			t.Errorf("%s: held for %q", name, score.HeldReason)
		}
	}
}

// TestTheRoofOfASecretCaseIsNotShown checks that scores of secret cases have no share of the roofline. Anyone could
// compute the secret size from the share and the public bandwidth.
func TestTheRoofOfASecretCaseIsNotShown(t *testing.T) {
	declared, result := rankedOn(slotBenchmark())
	drawn := declared
	declared.Benchmarks = []tasks.Case{{{Name: "size", Value: "uniform 1..2000000"}}}
	result.Stages[0].Cases[0].SpecLine = declared.Benchmarks[0].String()
	score := &work.Score{NS: 2.4e6}
	if compareWithSlotBenchmark(score, declared, drawn, result); score.RooflineShare != nil || score.HeldReason != "" {
		t.Errorf("roof %v, held for %q", score.RooflineShare, score.HeldReason)
	}
	score.NS = 1e6
	if compareWithSlotBenchmark(score, declared, drawn, result); score.HeldReason == "" {
		t.Error("a score above the roof is not held for review")
	}
}
