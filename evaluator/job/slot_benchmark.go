package job

import (
	"math"
	"time"
)

// SlotBenchmark is a benchmark of a device with built-in kernels. See slot_benchmark_job.go in evaluator.
type SlotBenchmark struct {
	At             time.Time `json:"at"`
	FloorNS        float64   `json:"floor_ns"`         // fastest call that does nothing
	BytesPerSecond float64   `json:"bytes_per_second"` // memory read bandwidth
	FlopsPerSecond float64   `json:"flops_per_second"` // fp32 fused multiply-add
	ReadNS         float64   `json:"read_ns"`          // median of the calls that read; tracked over time to detect drift
	MathNS         float64   `json:"math_ns"`          // median of the calls that multiply and add
}

// Valid reports whether all values are plausible.
func (g SlotBenchmark) Valid() bool {
	for _, v := range []float64{g.FloorNS, g.BytesPerSecond, g.FlopsPerSecond, g.ReadNS, g.MathNS} {
		if !(v >= 1) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// SlotBenchmarkAttempt is the prefix of the IDs of benchmark attempts, which the site does not store.
const SlotBenchmarkAttempt = "gauge-"

// Merge merges two benchmarks: the lower floor, the higher limits, and the later medians.
func (g SlotBenchmark) Merge(later SlotBenchmark) SlotBenchmark {
	if g.At.IsZero() {
		return later
	}
	later.FloorNS = math.Min(g.FloorNS, later.FloorNS)
	later.BytesPerSecond = math.Max(g.BytesPerSecond, later.BytesPerSecond)
	later.FlopsPerSecond = math.Max(g.FlopsPerSecond, later.FlopsPerSecond)
	return later
}
