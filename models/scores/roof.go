package scores

import (
	"fmt"
	"math"
	"slices"
	"time"

	"warpboard/evaluator/device"
	"warpboard/evaluator/harness"
	"warpboard/evaluator/job"
	"warpboard/models/work"
	"warpboard/tasks"
)

// maxRatioToRoof is the largest allowed ratio of a kernel's speed to the roof, the limit that the slot's benchmark
// measured. With a lower value, noise would put good kernels on hold; with a higher one, a kernel that skips 2 % of its
// reads would pass.
const maxRatioToRoof = 1.02

// A case that is faster than this fraction of an empty call is impossible. The empty call's time is the best of many
// and a case's time is a median; on a healthy slot the two differ by less than 20 %.
const minRatioToEmptyCall = 0.8

// minGPUCallTime is the time of an empty call on a GPU without a benchmark. Two events with nothing between them are
// farther apart.
const minGPUCallTime = time.Microsecond

// compareWithSlotBenchmark computes the share of the roofline that a score reaches, and the reason for a review if the
// score is impossible. Each case is compared with an empty call, because a single case without time improves the whole
// score. Without a benchmark of the slot, only minGPUCallTime applies. Scores on a CPU are never held: caches can
// contain data that the benchmark read from memory, and the clock rate depends on other slots. The limit of arithmetic
// holds no score either, because the benchmark measures it for fp32 without tensor cores.
//
// drawn is the task with the drawn values of its cases. Only the arithmetic uses them, because they may be secret;
// messages name cases as the result does.
func compareWithSlotBenchmark(score *work.Score, def, drawn tasks.Definition, result job.Result) {
	if score == nil {
		return
	}
	benchmark := result.Machine.SlotBenchmark
	if benchmark != nil && !benchmark.Valid() {
		benchmark = nil
	}
	// Only scores of GPUs are put on hold. It does not matter that the worker itself reports the device and the
	// benchmark: a worker that lies could also send any score.
	isGPU := result.Machine.Device != device.CPU
	if isGPU {
		score.HeldReason = belowEmptyCallReason(score.NS, benchmark, rankedCases(result))
	}
	if benchmark == nil || score.HeldReason != "" {
		return
	}
	valued := renameCasesByDraw(def, drawn, rankedCases(result))
	roof, declared := rooflineScore(drawn, valued, *benchmark)
	if !declared {
		return
	}
	nearness := roof / score.NS
	if score.RooflineShare = &nearness; def.HasRanges() {
		score.RooflineShare = nil // the share and the device's known bandwidth would reveal the secret values
	}
	memory := *benchmark
	memory.FlopsPerSecond = math.Inf(1)
	if roof, _ := rooflineScore(drawn, valued, memory); roof > maxRatioToRoof*score.NS && isGPU && def.HasRanges() {
		score.HeldReason = "It is faster than this GPU's memory bandwidth allows. The task's roofline may ask for more than a call needs."
	} else if roof > maxRatioToRoof*score.NS && isGPU {
		score.HeldReason = fmt.Sprintf("It reaches %.0f %% of this GPU's memory bandwidth, which was measured as %.3g GB/s. The task's roofline may ask for more than a call needs.",
			100*roof/score.NS, benchmark.BytesPerSecond/1e9)
	}
}

// belowEmptyCallReason returns a sentence that names the case, or the score, that is faster than an empty call, or "".
func belowEmptyCallReason(score float64, benchmark *job.SlotBenchmark, cases []job.CaseResult) string {
	least, reason := float64(minGPUCallTime), "no call takes less than "+minGPUCallTime.String()+" on a GPU"
	if benchmark != nil {
		least, reason = benchmark.EmptyCallNS, fmt.Sprintf("an empty call takes at least %v on this device", time.Duration(benchmark.EmptyCallNS))
	}
	for _, c := range cases {
		if c.Time() < minRatioToEmptyCall*least {
			return fmt.Sprintf("A call of case %d (%s) takes %v, and %s.", c.Index, c.SpecLine, time.Duration(c.Time()), reason)
		}
	}
	if score < least {
		return fmt.Sprintf("A call takes %v, and %s.", time.Duration(score), reason)
	}
	return ""
}

// renameCasesByDraw renames the cases of a result by their drawn values. Such results come from Warpboard's harness,
// which numbers cases in order.
func renameCasesByDraw(def, drawn tasks.Definition, cases []job.CaseResult) []job.CaseResult {
	if !def.HasRanges() {
		return cases
	}
	cases = slices.Clone(cases)
	for i, c := range cases {
		if had := harness.StageCases(drawn, job.StageRanked); c.Index < len(had) {
			cases[i].SpecLine = had[c.Index].String()
		}
	}
	return cases
}

// rooflineScore returns the score of a kernel that does only the declared work at the limits of the device. It returns
// false if the task does not declare the work of each case.
func rooflineScore(def tasks.Definition, cases []job.CaseResult, benchmark job.SlotBenchmark) (float64, bool) {
	if def.Roofline == nil {
		return 0, false
	}
	best := slices.Clone(cases)
	for i, c := range best {
		// Cases are matched by their spec line, because a result may omit or reorder them.
		at := slices.IndexFunc(def.Benchmarks, func(declared tasks.Case) bool { return declared.String() == c.SpecLine })
		if at < 0 {
			return 0, false
		}
		bytes, flops, err := def.Roofline.BytesAndFlops(def.Benchmarks[at])
		if err != nil {
			return 0, false
		}
		ns := math.Max(bytes/benchmark.BytesPerSecond, flops/benchmark.FlopsPerSecond) * 1e9
		best[i] = job.CaseResult{Index: c.Index, Status: job.StatusPass, Mean: math.Max(ns, 1), Median: math.Max(ns, 1)}
	}
	roof, err := harness.Score(def.RankingBy, best)
	return roof, err == nil
}

func rankedCases(result job.Result) []job.CaseResult {
	for _, stage := range result.Stages {
		if stage.Stage == job.StageRanked {
			return stage.Cases
		}
	}
	return nil
}
