package telemetry

import (
	"context"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"herbarium/internal/herb"
)

// Metrics is the set of metrics of the program. Labels never contain values chosen freely by
// clients.
type Metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.HistogramVec
	bytes        *prometheus.CounterVec
	dependencies *prometheus.GaugeVec
	rejected     *prometheus.CounterVec
	keys         *prometheus.CounterVec
	waits        *prometheus.HistogramVec
	publish      *prometheus.HistogramVec
	tools        *prometheus.CounterVec
	webhooks     *prometheus.CounterVec
	datasets     func(context.Context) ([]herb.LiveVersion, error)
}

// NewMetrics returns the metrics of the program and the Go runtime. Each scrape calls datasets to
// list the served datasets.
func NewMetrics(version string, datasets func(context.Context) ([]herb.LiveVersion, error)) *Metrics {
	registry := prometheus.NewRegistry()
	auto := promauto.With(registry)
	m := &Metrics{
		registry: registry,
		requests: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds",
			Help: "Time from the start of a request to the end of its response.",
			Buckets: []float64{
				0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
			},
		}, []string{"method", "route", "status"}),
		bytes: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "http_server_response_body_bytes_total", Help: "Bytes of response bodies, as sent.",
		}, []string{"route"}),
		dependencies: auto.NewGaugeVec(prometheus.GaugeOpts{
			Name: "herbarium_part_up", Help: "1 if a dependency of requests is up, 0 if not.",
		}, []string{"part"}),
		rejected: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "herbarium_requests_rejected_total",
			Help: "Requests that got 503 because their lane was full, or because they did not finish in time.",
		}, []string{"lane", "reason"}),
		keys: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "herbarium_keys_rejected_total", Help: "Requests with a key that was not accepted.",
		}, []string{"reason"}),
		waits: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "herbarium_lane_wait_seconds",
			Help:    "Time that requests waited for a slot of a lane; requests that got one at once are not counted.",
			Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5},
		}, []string{"lane"}),
		publish: auto.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "herbarium_publish_duration_seconds",
			Help:    "Time from the start of a publish by this server, or the receipt of its file, to its end.",
			Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900},
		}, []string{"way", "outcome"}),
		tools: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "herbarium_tool_calls_total",
			Help: "Tool calls of language models, by the status that the same request to the API would have had.",
		}, []string{"tool", "status"}),
		webhooks: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "herbarium_webhook_attempts_total", Help: "Attempts of this server to deliver an event to a webhook.",
		}, []string{"outcome"}),
		datasets: datasets,
	}
	m.tools.WithLabelValues("describe_dataset", "200") // exists before the first call, for alerts
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "herbarium_build_info", Help: "Always 1; labels describe the build.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	}).Set(1)
	registry.MustRegister(datasetCollector(datasets), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Sources makes each scrape call failed, which returns the errors of sources.
func (m *Metrics) Sources(failed func(context.Context) ([]herb.SourceError, error)) {
	m.registry.MustRegister(sourceCollector(failed))
}

// Request counts a request. route is empty if not found; status is 0 if the connection was aborted.
func (m *Metrics) Request(method, route string, status int, bytes int64, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Observe(took.Seconds())
	m.bytes.WithLabelValues(route).Add(float64(bytes))
}

// ToolCall counts a tool call.
func (m *Metrics) ToolCall(tool string, status int) {
	m.tools.WithLabelValues(tool, strconv.Itoa(status)).Inc()
}

// Rejections makes the counters of a lane exist before the first rejection: an alert notices an
// increase, not a new series.
func (m *Metrics) Rejections(lane string, reasons ...string) {
	for _, r := range reasons {
		m.rejected.WithLabelValues(lane, r)
	}
}

// KeyRejections is Rejections for keys.
func (m *Metrics) KeyRejections(reasons ...string) {
	for _, r := range reasons {
		m.keys.WithLabelValues(r)
	}
}

// Rejected counts a request that was rejected.
func (m *Metrics) Rejected(lane, reason string) { m.rejected.WithLabelValues(lane, reason).Inc() }

// KeyRejected counts a request with a key that was not accepted.
func (m *Metrics) KeyRejected(reason string) { m.keys.WithLabelValues(reason).Inc() }

// Lane registers the gauges of a lane: its slots, and how many of them are in use.
func (m *Metrics) Lane(name string, slots int, inFlight func() int) {
	auto, labels := promauto.With(m.registry), prometheus.Labels{"lane": name}
	m.waits.WithLabelValues(name)
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "herbarium_lane_slots", Help: "Requests that a lane runs at once.", ConstLabels: labels,
	}).Set(float64(slots))
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "herbarium_lane_in_flight", Help: "Requests that run in a lane.", ConstLabels: labels,
	}, func() float64 { return float64(inFlight()) })
}

// Waited counts a request that waited for a slot of a lane.
func (m *Metrics) Waited(lane string, took time.Duration) {
	m.waits.WithLabelValues(lane).Observe(took.Seconds())
}

// Publishes registers the metrics of a way of publishing: its outcomes, and the number of publishes
// that wait.
func (m *Metrics) Publishes(way string, outcomes []string, waiting func() int) {
	for _, o := range outcomes {
		m.publish.WithLabelValues(way, o)
	}
	promauto.With(m.registry).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "herbarium_publishes_waiting", Help: "Sources and files that wait to be published by this server.",
		ConstLabels: prometheus.Labels{"way": way},
	}, func() float64 { return float64(waiting()) })
}

// Published counts a publish that has ended.
func (m *Metrics) Published(way, outcome string, took time.Duration) {
	m.publish.WithLabelValues(way, outcome).Observe(took.Seconds())
}

// ObjectStore registers the metrics of an object store and returns the function that counts an
// operation.
func (m *Metrics) ObjectStore(operations, outcomes []string) func(operation, outcome string, took time.Duration) {
	v := promauto.With(m.registry).NewHistogramVec(prometheus.HistogramOpts{
		Name:    "herbarium_object_store_duration_seconds",
		Help:    "Time of an operation of the object store, with the transfer and with retries.",
		Buckets: []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300},
	}, []string{"operation", "outcome"})
	for _, operation := range operations {
		for _, outcome := range outcomes {
			v.WithLabelValues(operation, outcome)
		}
	}
	return func(operation, outcome string, took time.Duration) {
		v.WithLabelValues(operation, outcome).Observe(took.Seconds())
	}
}

// Buffered registers the gauges of the budget of buffered bytes: its size, and how much of it is in
// use.
func (m *Metrics) Buffered(limit int64, used func() int64) {
	auto := promauto.With(m.registry)
	auto.NewGauge(prometheus.GaugeOpts{
		Name: "herbarium_buffer_limit_bytes", Help: "Bytes that requests may buffer at once.",
	}).Set(float64(limit))
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "herbarium_buffered_bytes", Help: "Bytes that requests buffer: bodies, responses and work in progress.",
	}, func() float64 { return float64(used()) })
}

// SetDependency sets whether a dependency is available.
func (m *Metrics) SetDependency(name string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.dependencies.WithLabelValues(name).Set(value)
}

// Handler serves the metrics at /metrics and Go profiles at /debug/pprof/. Do not expose it on a
// public address.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// sourceCollector counts the sources that could not be published at each scrape.
type sourceCollector func(context.Context) ([]herb.SourceError, error)

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (sourceCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (list sourceCollector) Collect(out chan<- prometheus.Metric) {
	failed := prometheus.NewDesc("herbarium_source_failed",
		"Sources of a dataset that could not be published; an empty label stands for sources whose dataset is unknown.", []string{"dataset"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sources, err := list(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(failed, err)
	}
	counts := map[string]int{}
	for _, s := range sources {
		name := ""
		if s.Ref != (herb.Ref{}) {
			name = s.Ref.String()
		}
		if !s.Skipped {
			counts[name]++
		}
	}
	for name, n := range counts {
		out <- prometheus.MustNewConstMetric(failed, prometheus.GaugeValue, float64(n), name)
	}
}

// datasetCollector lists the datasets at each scrape.
type datasetCollector func(context.Context) ([]herb.LiveVersion, error)

// Describe implements prometheus.Collector. It describes nothing: the registry then checks metrics
// when they are collected.
func (datasetCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (list datasetCollector) Collect(out chan<- prometheus.Metric) {
	labels := []string{"dataset"}
	records := prometheus.NewDesc("herbarium_dataset_records", "Records of the live version.", labels, nil)
	published := prometheus.NewDesc("herbarium_dataset_published_timestamp_seconds", "When the live version was published.", labels, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	datasets, err := list(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(records, err)
	}
	for _, d := range datasets {
		name := d.Ref.String()
		out <- prometheus.MustNewConstMetric(records, prometheus.GaugeValue, float64(d.Records), name)
		if !d.Published.IsZero() {
			at := float64(d.Published.UnixMilli()) / 1000
			out <- prometheus.MustNewConstMetric(published, prometheus.GaugeValue, at, name)
		}
	}
}
