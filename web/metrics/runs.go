package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"warpboard/models/work"
)

// collectTimeout limits the queries of one scrape.
const collectTimeout = 3 * time.Second

var (
	queuedRunsDesc = prometheus.NewDesc("warpboard_runs_queued", "Runs that wait for a slot.", []string{"device"}, nil)
	activeRunsDesc = prometheus.NewDesc("warpboard_runs_active", "Runs that a worker is on.", []string{"device"}, nil)
	slotsDesc      = prometheus.NewDesc("warpboard_slots", "Slots that take jobs.", []string{"device"}, nil)
	busySlotsDesc  = prometheus.NewDesc("warpboard_slots_busy", "Slots that something runs on.", []string{"device"},
		nil)
	pausedDesc = prometheus.NewDesc("warpboard_device_paused", "1 for a device that an admin has paused.",
		[]string{"device"}, nil)
	workerUpDesc = prometheus.NewDesc("warpboard_worker_up", "1 for a worker that reported lately and takes jobs.",
		[]string{"worker"}, nil)

	runTimeDesc = prometheus.NewDesc("warpboard_run_seconds", "Runs that ended, from submission to end.",
		[]string{"state"}, nil)
	runWaitDesc = prometheus.NewDesc("warpboard_run_wait_seconds", "From submission until a worker took the run.",
		nil,
		nil)
	stageTimeDesc = prometheus.NewDesc("warpboard_stage_seconds", "Stages of runs, by how they ended.", []string{"stage", "status"}, nil)
)

// queueCollector reads the queue and the workers from the database at each scrape.
type queueCollector struct{ metrics *Metrics }

// Describe sends the descriptions of the metrics.
func (q queueCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queuedRunsDesc, activeRunsDesc, slotsDesc, busySlotsDesc, pausedDesc,
		workerUpDesc} {
		to <- d
	}
}

// Collect sends the number of slots and queued runs per device, or nothing if the database is not reachable.
func (q queueCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(q.metrics.site.RequestContext, collectTimeout)
	defer cancel()
	if err := q.collect(ctx, to); err != nil {
		q.metrics.site.Log.Warn("metrics without the queue", "err", err)
	}
}

func (q queueCollector) collect(ctx context.Context, to chan<- prometheus.Metric) error {
	send := func(desc *prometheus.Desc, n int, label string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), label)
	}
	devices, err := q.metrics.runs.DeviceList(ctx)
	if err != nil {
		return err
	}
	for _, d := range devices {
		send(queuedRunsDesc, d.Queued, d.Device)
		send(activeRunsDesc, d.Running, d.Device)
		send(slotsDesc, d.Slots, d.Device)
		send(busySlotsDesc, d.Busy, d.Device)
		if d.PausedSince != nil {
			send(pausedDesc, 1, d.Device)
		}
	}
	workers, err := q.metrics.site.Store.Fleet.Workers(ctx)
	if err != nil {
		return err
	}
	for _, w := range workers {
		up := 0
		if w.IsLive(q.metrics.site.Now()) && w.NoJobsReason == "" {
			up = 1
		}
		send(workerUpDesc, up, w.Name)
	}
	return nil
}

// runCollector collects the counters of runs, which count from the setup of the site.
type runCollector struct{ metrics *Metrics }

// Describe sends the descriptions of the metrics.
func (r runCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{runTimeDesc, runWaitDesc, stageTimeDesc} {
		to <- d
	}
}

// Collect sends the counters, or nothing if the database is not reachable.
func (r runCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(r.metrics.site.RequestContext, collectTimeout)
	defer cancel()
	all, err := r.metrics.site.Store.Counters.AllByName(ctx)
	if err != nil {
		r.metrics.site.Log.Warn("metrics without runs", "err", err)
		return
	}
	n := counterTotals(all)
	summary := func(desc *prometheus.Desc, name string, labels ...string) {
		to <- prometheus.MustNewConstSummary(desc, uint64(n[name].Count), n[name].Total, nil, labels...)
	}
	for _, name := range n.namesWithPrefix(work.CounterRunsEnded) {
		summary(runTimeDesc, name, strings.TrimPrefix(name, work.CounterRunsEnded))
	}
	for _, name := range n.namesWithPrefix(work.CounterRunStages) {
		stage, status, _ := strings.Cut(strings.TrimPrefix(name, work.CounterRunStages), ".")
		summary(stageTimeDesc, name, stage, status)
	}
	summary(runWaitDesc, work.CounterRunWaits)
}
