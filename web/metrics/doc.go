// Package metrics tells the operator what the site does: /metrics for Prometheus, and /stats in the shape that
// clients of the evaluation API know. Package web routes to it, and has Measure see every request.
//
// Read metrics.go (what this process counts), runs.go, evaluations.go and capacity.go (what the store counts, read when it is
// asked), stats.go, operator.go (who may look).
//
// Labels are routes, devices, workers and states, never text that visitors choose: else anyone could make the scrape
// grow. Collectors that ask the store send nothing while it does not answer, rather than zeros, so that a gap in a graph means
// just that; what this process counts is there all the same.
//
// What may go wrong: with several site processes each counts its own requests and streams, while queue, runs and
// evaluations are of the whole site in each of them: those must not be added up.
package metrics
