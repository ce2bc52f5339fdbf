package metrics

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"

	"warpboard/web/site"
	"warpboard/web/site/evaluations"
	"warpboard/web/site/runs"
)

// MetricsAccess selects the clients that may read the metrics, apart from admins.
type MetricsAccess struct {
	// Networks lists the networks that may read the metrics without a token. nil means this machine, if there is no
	// proxy.
	Networks []netip.Prefix
	Token    string // bearer token that permits reading the metrics; empty: none
}

// Queue is the part of the message queue that the metrics report on.
type Queue interface {
	// CheckHealth returns an error if the queue cannot carry jobs at this moment.
	CheckHealth(ctx context.Context) error
	// DroppedMessageCount returns the number of dropped messages: unreadable, forged, or above the rate limit of a
	// worker.
	DroppedMessageCount() int64
}

// Metrics has the counters and collectors of the site for Prometheus. A label of a request is its route, not its path,
// so that people cannot create labels.
type Metrics struct {
	site             *site.Site
	runs             *runs.Runs
	evaluations      *evaluations.Evaluations
	access           MetricsAccess
	startedAt        time.Time
	requests         *prometheus.CounterVec
	requestDurations *prometheus.HistogramVec
	metricsHandler   fasthttp.RequestHandler
}

// New registers all metrics. queue may be nil.
func New(site *site.Site, runs *runs.Runs, evals *evaluations.Evaluations, queue Queue, access MetricsAccess) *Metrics {
	m := &Metrics{
		site: site, runs: runs, evaluations: evals, access: access, startedAt: site.Now(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warpboard_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		requestDurations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "warpboard_http_request_seconds", Help: "Time until the answer was ready; streams count until they begin.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"route"}),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.requestDurations, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), queueCollector{m}, capacityCollector{m}, runCollector{m}, evaluationCollector{m},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "warpboard_streams_open", Help: "Live streams that pages and clients hold open.",
		}, func() float64 { return float64(m.site.Hub.StreamCount()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "warpboard_dispatch_errors_total", Help: "Passes of this process's dispatcher that failed.",
		}, func() float64 { return float64(m.site.Dispatcher.FailedPassCount()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "warpboard_database_statements_total", Help: "Statements sent to the database.",
		}, func() float64 { return float64(m.site.Store.QueryCount()) }))
	registry.MustRegister(m.queueAndDiskCollectors(queue)...)
	m.metricsHandler = fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	return m
}

// Serve responds with all metrics.
func (m *Metrics) Serve(c *fiber.Ctx) error {
	m.metricsHandler(c.Context())
	return nil
}

// ServeOperator responds to clients that are identified without a database query, by address or token. It passes other
// requests to the next handler.
func (m *Metrics) ServeOperator(c *fiber.Ctx) error {
	if m.isFromOperator(c) || m.hasMetricsToken(c) {
		return m.Serve(c)
	}
	return c.Next()
}

// MeasureRequest counts a request by route and status, and records its duration. It must precede the routes.
func (m *Metrics) MeasureRequest(c *fiber.Ctx) error {
	began := time.Now()
	err := c.Next()
	route, status := utils.CopyString(c.Route().Path), c.Response().StatusCode()
	if err != nil {
		status = site.FailureFromError(err).Status
	}
	if status == fiber.StatusNotFound {
		route = "none"
	}
	m.requests.WithLabelValues(c.Route().Method, route, strconv.Itoa(status)).Inc()
	m.requestDurations.WithLabelValues(route).Observe(time.Since(began).Seconds())
	return err
}

// queueAndDiskCollectors returns the collectors of the queue and the disk.
func (m *Metrics) queueAndDiskCollectors(queue Queue) []prometheus.Collector {
	var list []prometheus.Collector
	if queue != nil {
		list = append(list, prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "warpboard_queue_dropped_messages_total", Help: "Messages of workers that were unreadable, forged, or too many of one worker.",
		}, func() float64 { return float64(queue.DroppedMessageCount()) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "warpboard_queue_up", Help: "1 while the queue carries jobs.",
		}, func() float64 { return m.queueUpValue(queue) }))
	}
	return append(list, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "warpboard_disk_free_bytes", Help: "Free bytes on the disk of the data directory.",
	}, func() float64 {
		free, err := m.site.Store.Disk.FreeBytes()
		if err != nil {
			m.site.Log.Error("metrics without the disk", "err", err)
		}
		return float64(free)
	}))
}

func (m *Metrics) queueUpValue(queue Queue) float64 {
	ctx, cancel := context.WithTimeout(m.site.RequestContext, site.ProbeTimeout)
	defer cancel()
	if err := queue.CheckHealth(ctx); err != nil {
		m.site.Log.Warn("the queue carries no jobs", "err", err)
		return 0
	}
	return 1
}
