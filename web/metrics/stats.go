package metrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"warpboard/models/work"
)

// Stats responds with statistics of the workers' jobs since the setup of the site, in the format of the CUDA Evaluation
// Server.
func (m *Metrics) Stats(c *fiber.Ctx) error {
	ctx := c.UserContext()
	jobs, err := m.evaluations.JobStats(ctx)
	if err != nil {
		return err
	}
	all, err := m.site.Store.Counters.AllByName(ctx)
	if err != nil {
		return err
	}
	census, err := m.site.Store.Work.EvaluationStats(ctx)
	if err != nil {
		return err
	}
	n := counterTotals(all)
	return c.JSON(fiber.Map{
		"job_stats": jobs, "compilation_metrics": n.compilations(), "profiling_metrics": n.profilings(),
		"gpu_utilization": n.utilization(), "throughput": n.throughput(m.site.Now().Sub(m.startedAt), census),
		"timestamp": float64(m.site.Now().UnixMicro()) / 1e6,
	})
}

// counterTotals has all counters by name.
type counterTotals map[string]work.Counter

// sum returns the sum of the named counters.
func (n counterTotals) sum(names ...string) (total work.Counter) {
	for _, name := range names {
		c := n[name]
		if c.Count == 0 {
			continue
		}
		if total.Count == 0 || c.Min < total.Min {
			total.Min = c.Min
		}
		total.Max = max(total.Max, c.Max)
		total.Count, total.Total = total.Count+c.Count, total.Total+c.Total
	}
	return total
}

// namesWithPrefix returns the names of the counters that begin with prefix.
func (n counterTotals) namesWithPrefix(prefix string) []string {
	return slices.Sorted(func(yield func(string) bool) {
		for name := range maps.Keys(n) {
			if strings.HasPrefix(name, prefix) && !yield(name) {
				return
			}
		}
	})
}

// secondsByName returns the seconds of the counters that begin with prefix, by the rest of their names.
func (n counterTotals) secondsByName(prefix string) map[string]float64 {
	out := map[string]float64{}
	for _, name := range n.namesWithPrefix(prefix) {
		out[strings.TrimPrefix(name, prefix)] = n[name].Total
	}
	return out
}

// ratio returns part / whole, or ofNothing if whole is 0.
func ratio(part, whole int64, ofNothing float64) float64 {
	if whole == 0 {
		return ofNothing
	}
	return float64(part) / float64(whole)
}

func counterMean(c work.Counter) float64 {
	if c.Count == 0 {
		return 0
	}
	return c.Total / float64(c.Count)
}

func (n counterTotals) compilations() fiber.Map {
	all := n.sum(work.CounterCompilationsPassed, work.CounterCompilationsFailed)
	hits, misses := n[work.CounterCacheHits].Count, n[work.CounterCacheMisses].Count
	return fiber.Map{
		"total_compilations": all.Count, "successful_compilations": n[work.CounterCompilationsPassed].Count,
		"failed_compilations": n[work.CounterCompilationsFailed].Count, "total_time_seconds": all.Total,
		"average_time_seconds": counterMean(all), "min_time_seconds": all.Min, "max_time_seconds": all.Max,
		"success_rate": ratio(n[work.CounterCompilationsPassed].Count, all.Count, 1),
		"cache_hits":   hits, "cache_misses": misses, "cache_hit_rate": ratio(hits, hits+misses, 0),
	}
}

func (n counterTotals) profilings() fiber.Map {
	all := n.sum(work.CounterProfilingsPassed, work.CounterProfilingsFailed)
	right, wrong := n[work.CounterValidationsPassed].Count, n[work.CounterValidationsFailed].Count
	return fiber.Map{
		"total_profilings": all.Count, "successful_profilings": n[work.CounterProfilingsPassed].Count,
		"failed_profilings": n[work.CounterProfilingsFailed].Count, "total_time_seconds": all.Total,
		"average_time_seconds": counterMean(all), "min_time_seconds": all.Min, "max_time_seconds": all.Max,
		"success_rate":       ratio(n[work.CounterProfilingsPassed].Count, all.Count, 1),
		"correctness_passed": right, "correctness_failed": wrong, "correctness_rate": ratio(right, right+wrong, 1),
		"gpu_usage_times": n.secondsByName(work.CounterDeviceTimingSeconds),
		// this site times calls with CUDA events, never with CUDA graphs
		"graph_capture_success_rate": "not used: events",
	}
}

// utilization returns the use of slots: acquisitions, releases, and times. A cancelled or lost attempt counts as if it
// had held a slot, because no report shows that it had not begun.
func (n counterTotals) utilization() fiber.Map {
	held, waits := n.sum(n.namesWithPrefix(work.CounterDeviceSeconds)...), n[work.CounterEvaluationWaits]
	released, active := held.Count+n[work.CounterEvaluationsGivenUp].Count, n[work.CounterEvaluationsHoldingSlots].Count
	return fiber.Map{
		"gpu_acquisitions": released + active, "gpu_releases": released, "active_sessions": active,
		"total_gpu_time_seconds": held.Total, "utilization_by_gpu": n.secondsByName(work.CounterDeviceSeconds),
		"total_wait_time_seconds": waits.Total, "average_wait_time_seconds": counterMean(waits),
		"max_wait_time_seconds": waits.Max, "min_wait_time_seconds": waits.Min,
	}
}

func (n counterTotals) throughput(up time.Duration, census work.EvaluationStats) fiber.Map {
	ended := func(s work.EvaluationState) string { return work.CounterEvaluationsEnded + string(s) }
	all := n.sum(n.namesWithPrefix(work.CounterEvaluationsEnded)...)
	done := n[ended(work.EvaluationCompleted)]
	return fiber.Map{
		"server_uptime_seconds": up.Seconds(), "server_uptime_minutes": up.Minutes(),
		"total_requests": n[work.CounterEvaluationsSubmitted].Count, "completed_requests": done.Count,
		"failed_requests": all.Count - done.Count, "success_rate": ratio(done.Count, all.Count, 1),
		"requests_per_second":             float64(census.JustSubmitted) / work.StatsWindow.Seconds(),
		"requests_per_minute":             float64(census.JustSubmitted) / work.StatsWindow.Minutes(),
		"recent_throughput_per_minute":    float64(census.JustEnded) / work.StatsWindow.Minutes(),
		"average_end_to_end_time_seconds": counterMean(all), "min_end_to_end_time_seconds": all.Min, "max_end_to_end_time_seconds": all.Max,
	}
}
