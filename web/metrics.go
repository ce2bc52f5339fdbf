package web

import (
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/utils"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/valyala/fasthttp/fasthttpadaptor"
)

// metrics counts what the site does, for Prometheus. Labels are routes, never addresses that
// people choose.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	handler  fiber.Handler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "warpboard_http_requests_total", Help: "Requests answered.",
		}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "warpboard_http_request_seconds", Help: "Time until the answer was ready; streams count until they begin.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), queueCollector{s}, runCollector{s}, evalCollector{s},
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "warpboard_streams_open", Help: "Live streams that pages and clients hold open.",
		}, func() float64 { return float64(s.hub.Open()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "warpboard_database_statements_total", Help: "Statements sent to the database.",
		}, func() float64 { return float64(s.store.Statements()) }))
	m.registry.MustRegister(plantMetrics(s)...)
	serve := fasthttpadaptor.NewFastHTTPHandler(promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	m.handler = func(c *fiber.Ctx) error {
		serve(c.Context())
		return nil
	}
	return m
}

// measure stands before the routes, so that it sees which one answered.
func (m *metrics) measure(c *fiber.Ctx) error {
	began := time.Now()
	err := c.Next()
	route, status := utils.CopyString(c.Route().Path), c.Response().StatusCode()
	if err != nil {
		status = failureOf(err).status
	}
	if status == fiber.StatusNotFound {
		route = "none"
	}
	m.requests.WithLabelValues(c.Route().Method, route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
	return err
}
