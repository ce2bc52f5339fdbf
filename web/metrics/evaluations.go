package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"warpboard/models/work"
)

var (
	storedEvaluationsDesc = prometheus.NewDesc("warpboard_evaluations", "Evaluations that are kept.", []string{"state"}, nil)
	evalSecondsDesc       = prometheus.NewDesc("warpboard_evaluation_seconds", "From submission to end.", []string{"state"}, nil)
	evalWaitDesc          = prometheus.NewDesc("warpboard_evaluation_wait_seconds", "From submission until a slot was held.", nil, nil)
	evalDeviceDesc        = prometheus.NewDesc("warpboard_evaluation_device_seconds", "Time for which slots were held.", []string{"unit"}, nil)
	evalStageSecondsDesc  = prometheus.NewDesc("warpboard_evaluation_stage_seconds", "Stages of evaluations, by how they ended.", []string{"stage", "outcome"}, nil)
)

// evaluationCollector reads the counters of evaluations from the database at each scrape.
type evaluationCollector struct{ metrics *Metrics }

// Describe sends the descriptions of the metrics.
func (e evaluationCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{storedEvaluationsDesc, evalSecondsDesc, evalWaitDesc, evalDeviceDesc, evalStageSecondsDesc} {
		to <- d
	}
}

// Collect sends the numbers of GET /stats, or nothing if the database is not reachable.
func (e evaluationCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(e.metrics.site.RequestContext, 3*time.Second)
	defer cancel()
	census, err := e.metrics.site.Store.Work.EvaluationStats(ctx)
	if err != nil {
		e.metrics.site.Log.Warn("metrics without evaluations", "err", err)
		return
	}
	all, err := e.metrics.site.Store.Counters.AllByName(ctx)
	if err != nil {
		e.metrics.site.Log.Warn("metrics without evaluations", "err", err)
		return
	}
	for state, n := range census.ByState {
		to <- prometheus.MustNewConstMetric(storedEvaluationsDesc, prometheus.GaugeValue, float64(n), string(state))
	}
	summary := func(desc *prometheus.Desc, c work.Counter, labels ...string) {
		to <- prometheus.MustNewConstSummary(desc, uint64(c.Count), c.Total, nil, labels...)
	}
	n := counterTotals(all)
	for _, name := range n.namesWithPrefix(work.CounterEvaluationsEnded) {
		summary(evalSecondsDesc, n[name], strings.TrimPrefix(name, work.CounterEvaluationsEnded))
	}
	for _, name := range n.namesWithPrefix(work.CounterDeviceSeconds) {
		summary(evalDeviceDesc, n[name], strings.TrimPrefix(name, work.CounterDeviceSeconds))
	}
	for name, labels := range map[string][]string{
		work.CounterCompilationsPassed: {"compiling", "passed"}, work.CounterCompilationsFailed: {"compiling", "failed"},
		work.CounterValidationsPassed: {"validating", "passed"}, work.CounterValidationsFailed: {"validating", "failed"},
		work.CounterProfilingsPassed: {"profiling", "passed"}, work.CounterProfilingsFailed: {"profiling", "failed"},
	} {
		summary(evalStageSecondsDesc, n[name], labels...)
	}
	summary(evalWaitDesc, n[work.CounterEvaluationWaits])
}
