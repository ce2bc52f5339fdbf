// Package metrics shows the site's activity to the operator: /metrics for Prometheus, and /stats in the shape of the
// evaluation API. Package web routes to it, and calls MeasureRequest for every request.
//
// Read metrics.go (what this process counts), runs.go, evaluations.go and capacity.go (counters of the store, read on
// request), stats.go, operator.go (who may read).
//
// Labels are routes, devices, workers and states, never text that visitors choose: otherwise visitors could make the
// scrape grow. Collectors that read the store send nothing while it does not answer, so that graphs show a gap instead
// of zeros. The counters of this process are still sent.
//
// What may go wrong: with several site processes each counts its own requests and streams, while queue, runs and
// evaluations cover the whole site in each: do not add those up.
package metrics
