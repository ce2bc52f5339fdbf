package job

import (
	"math"
	"time"
)

// Gauge is what kernels of our own measured of a unit. Package gauge says how.
type Gauge struct {
	At             time.Time `json:"at"`
	FloorNS        float64   `json:"floor_ns"`         // the quickest call that does nothing
	BytesPerSecond float64   `json:"bytes_per_second"` // read from memory
	FlopsPerSecond float64   `json:"flops_per_second"` // fp32, a multiplication and an addition at a time
	ReadNS         float64   `json:"read_ns"`          // median of the calls that read: the sentinel
	MathNS         float64   `json:"math_ns"`          // and of those that multiply and add
}

// Valid reports whether all of it can have been measured.
func (g Gauge) Valid() bool {
	for _, v := range []float64{g.FloorNS, g.BytesPerSecond, g.FlopsPerSecond, g.ReadNS, g.MathNS} {
		if !(v >= 1) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// GaugeAttempt begins the ids of attempts at a gauge, which the site does not have.
const GaugeAttempt = "gauge-"

// Best joins two: the lower floor and the higher roofs, with the later sentinel.
func (g Gauge) Best(later Gauge) Gauge {
	if g.At.IsZero() {
		return later
	}
	later.FloorNS = math.Min(g.FloorNS, later.FloorNS)
	later.BytesPerSecond = math.Max(g.BytesPerSecond, later.BytesPerSecond)
	later.FlopsPerSecond = math.Max(g.FlopsPerSecond, later.FlopsPerSecond)
	return later
}
