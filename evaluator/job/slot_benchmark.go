package job

import (
	"math"
	"time"
)

// SlotBenchmark is a benchmark of a slot with built-in kernels. See slot_benchmark_job.go in package evaluator.
type SlotBenchmark struct {
	MeasuredAt     time.Time `json:"at"`
	EmptyCallNS    float64   `json:"floor_ns"`         // shortest time of a call that does nothing
	BytesPerSecond float64   `json:"bytes_per_second"` // memory read bandwidth
	FlopsPerSecond float64   `json:"flops_per_second"` // FP32 rate; a fused multiply-add counts as two operations
	// ReadCaseNS is the median time of the calls that read memory, in nanoseconds, by which the site detects drift.
	ReadCaseNS float64 `json:"read_ns"`
	MathCaseNS float64 `json:"math_ns"` // median time of the calls that multiply and add
}

// Valid reports whether all values are plausible.
func (g SlotBenchmark) Valid() bool {
	for _, v := range []float64{g.EmptyCallNS, g.BytesPerSecond, g.FlopsPerSecond, g.ReadCaseNS, g.MathCaseNS} {
		if !(v >= 1) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// SlotBenchmarkIDPrefix is the prefix of the IDs of benchmark attempts, which the site does not store.
const SlotBenchmarkIDPrefix = "gauge-"

// Merge combines two benchmarks: the shorter empty call, the higher rates, and the later medians.
func (g SlotBenchmark) Merge(later SlotBenchmark) SlotBenchmark {
	if g.MeasuredAt.IsZero() {
		return later
	}
	later.EmptyCallNS = math.Min(g.EmptyCallNS, later.EmptyCallNS)
	later.BytesPerSecond = math.Max(g.BytesPerSecond, later.BytesPerSecond)
	later.FlopsPerSecond = math.Max(g.FlopsPerSecond, later.FlopsPerSecond)
	return later
}
