package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"warpboard/models/work"
)

var (
	waitingDesc = prometheus.NewDesc("warpboard_waiting",
		"Runs, evaluations and profiles of people that no worker has begun.", []string{"device"}, nil)
	oldestWaitDesc = prometheus.NewDesc("warpboard_oldest_waiting_seconds",
		"How long the oldest of what waits has waited.", []string{"device"}, nil)
	wantedSlotsDesc  = prometheus.NewDesc("warpboard_wanted_slots", "Slots with which everything would run at once.", []string{"device"}, nil)
	outOfServiceDesc = prometheus.NewDesc("warpboard_slots_out_of_service", "Slots of live workers that take no jobs.", []string{"device"}, nil)
	failedChecksDesc = prometheus.NewDesc("warpboard_worker_failed_checks",
		"Tests of sandbox, tools and machine that a live worker failed.", []string{"worker"}, nil)
	clockDelayDesc   = prometheus.NewDesc("warpboard_worker_clock_behind_seconds", "By how much a live worker's clock is behind the site's, the way of its heartbeat included.", []string{"worker"}, nil)
	lostAttemptsDesc = prometheus.NewDesc("warpboard_attempts_lost_total",
		"Attempts that a worker or the queue lost, by whether the work was tried again.", []string{"retried"}, nil)
)

// capacityCollector collects the numbers of GET /api/v1/capacity, and the counts of lost attempts.
type capacityCollector struct{ metrics *Metrics }

// Describe sends the descriptions of the metrics.
func (c capacityCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{waitingDesc, oldestWaitDesc, wantedSlotsDesc, outOfServiceDesc, failedChecksDesc, clockDelayDesc, lostAttemptsDesc} {
		to <- d
	}
}

// Collect sends the metrics of each device, or nothing if the database is not reachable.
func (c capacityCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.metrics.site.RequestContext, collectTimeout)
	defer cancel()
	list, err := c.metrics.runs.Capacity(ctx)
	if err == nil {
		var all map[string]work.Counter
		if all, err = c.metrics.site.Store.Counters.AllByName(ctx); err == nil {
			c.collectLost(to, all)
		}
	}
	if err == nil {
		err = c.sendWorkers(ctx, to)
	}
	if err != nil {
		c.metrics.site.Log.Warn("metrics without capacity", "err", err)
		return
	}
	for _, d := range list {
		for desc, n := range map[*prometheus.Desc]float64{
			waitingDesc: float64(d.Waiting), oldestWaitDesc: d.OldestWaitSeconds, wantedSlotsDesc: float64(d.WantedSlots), outOfServiceDesc: float64(d.OutOfService),
		} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, n, d.Device)
		}
	}
}

// sendWorkers sends the number of failed checks and the clock delay of each live worker.
func (c capacityCollector) sendWorkers(ctx context.Context, to chan<- prometheus.Metric) error {
	workers, err := c.metrics.site.Store.Fleet.Workers(ctx)
	for _, w := range workers {
		if w.IsLive(c.metrics.site.Now()) {
			to <- prometheus.MustNewConstMetric(failedChecksDesc, prometheus.GaugeValue, float64(w.FailedSelfTestCount()),
				w.Name)
			to <- prometheus.MustNewConstMetric(clockDelayDesc, prometheus.GaugeValue, w.ClockDelay().Seconds(), w.Name)
		}
	}
	return err
}

func (c capacityCollector) collectLost(to chan<- prometheus.Metric, all map[string]work.Counter) {
	for name, label := range map[string]string{work.CounterLossesRetried: "yes", work.CounterLossesFailed: "no"} {
		to <- prometheus.MustNewConstMetric(lostAttemptsDesc, prometheus.CounterValue, float64(all[name].Count), label)
	}
}
