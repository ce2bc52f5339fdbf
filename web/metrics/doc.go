// Package metrics tells the operator what the site does: /metrics for Prometheus, and /stats in the shape that
// clients of the evaluation API know.
//
// Read metrics.go (what this process counts), runs.go and evaluations.go (what the store counts, read when it is
// asked), stats.go, operator.go (who may look).
//
// Labels are routes, devices and states, never text that people choose.
package metrics
