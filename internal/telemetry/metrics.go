package telemetry

import (
	"compress/gzip"
	"context"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Metrics is the set of metrics of the program. Labels never contain values chosen freely by
// clients.
type Metrics struct {
	registry     *registry
	requests     *histograms
	bytes        *numbers
	dependencies *numbers
	rejected     *numbers
	keys         *numbers
	waits        *histograms
	publish      *histograms
	tools        *numbers
	webhooks     *numbers
	fetches      *numbers
	datasets     func(context.Context) ([]herb.LiveVersion, error)
}

// NewMetrics returns the metrics of the program and the Go runtime. Each scrape calls datasets to
// list the served datasets.
func NewMetrics(version string, datasets func(context.Context) ([]herb.LiveVersion, error)) *Metrics {
	r := new(registry)
	m := &Metrics{
		registry: r,
		requests: r.histograms("http_server_request_duration_seconds",
			"Time from the start of a request to the end of its response.",
			[]float64{
				0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
				1, 2.5, 5, 10,
			}, "method", "route", "status"),
		bytes: r.numbers(counterKind, "http_server_response_body_bytes_total",
			"Bytes of response bodies, as sent.", "route"),
		dependencies: r.numbers(gaugeKind, "herbarium_part_up",
			"1 if a dependency of requests is up, 0 if not.", "part"),
		rejected: r.numbers(counterKind, "herbarium_requests_rejected_total",
			"Requests that got 503 because their lane was full, or because they did not finish in time.",
			"lane", "reason"),
		keys: r.numbers(counterKind, "herbarium_keys_rejected_total",
			"Requests with a key that was not accepted.", "reason"),
		waits: r.histograms("herbarium_lane_wait_seconds",
			"Time that requests waited for a slot of a lane; requests that got one at once are not counted.",
			[]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}, "lane"),
		publish: r.histograms("herbarium_publish_duration_seconds",
			"Time from the start of a publish by this server, or the receipt of its file, to its end.",
			[]float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900}, "outcome", "way"),
		tools: r.numbers(counterKind, "herbarium_tool_calls_total",
			"Tool calls of language models, by the status that the same request to the API would have had.",
			"status", "tool"),
		webhooks: r.numbers(counterKind, "herbarium_webhook_attempts_total",
			"Attempts of this server to deliver an event to a webhook.", "outcome"),
		fetches: r.numbers(counterKind, "herbarium_fetches_total",
			"Files that this server has fetched from other servers.", "outcome"),
		datasets: datasets,
	}
	m.tools.with("200", "describe_dataset") // exists before the first call, for alerts
	r.register(func(ctx context.Context, s *scrape) error {
		s.gauge("herbarium_build_info",
			"Always 1; labels describe the build.", 1, "go", runtime.Version(), "version", version)
		live, err := datasets(ctx)
		addDatasets(s, live)
		return err
	})
	r.register(collectRuntime)
	r.register(collectProcess(time.Now()))
	return m
}

// Request counts a request. route is empty if not found; status is 0 if the connection was aborted.
func (m *Metrics) Request(method, route string, status int, bytes int64, took time.Duration) {
	m.requests.observe(took, method, route, strconv.Itoa(status))
	m.bytes.with(route).Add(bytes)
}

// ToolCall counts a tool call.
func (m *Metrics) ToolCall(tool string, status int) {
	m.tools.with(strconv.Itoa(status), tool).Add(1)
}

// Rejections makes the counters of a lane exist before the first rejection: an alert notices an
// increase, not a new series.
func (m *Metrics) Rejections(lane string, reasons ...string) {
	for _, r := range reasons {
		m.rejected.with(lane, r)
	}
}

// KeyRejections is Rejections for keys.
func (m *Metrics) KeyRejections(reasons ...string) {
	for _, r := range reasons {
		m.keys.with(r)
	}
}

// Rejected counts a request that was rejected.
func (m *Metrics) Rejected(lane, reason string) { m.rejected.with(lane, reason).Add(1) }

// KeyRejected counts a request with a key that was not accepted.
func (m *Metrics) KeyRejected(reason string) { m.keys.with(reason).Add(1) }

// Lane registers the gauges of a lane: its slots, and how many of them are in use.
func (m *Metrics) Lane(name string, slots int, inFlight func() int) {
	m.waits.with(name)
	m.registry.register(func(_ context.Context, s *scrape) error {
		s.gauge("herbarium_lane_slots", "Requests that a lane runs at once.", float64(slots), "lane", name)
		s.gauge("herbarium_lane_in_flight", "Requests that run in a lane.", float64(inFlight()), "lane", name)
		return nil
	})
}

// Waited counts a request that waited for a slot of a lane.
func (m *Metrics) Waited(lane string, took time.Duration) { m.waits.observe(took, lane) }

// Publishes registers the metrics of a way of publishing: its outcomes, and the number of publishes
// that wait.
func (m *Metrics) Publishes(way string, outcomes []string, waiting func() int) {
	for _, o := range outcomes {
		m.publish.with(o, way)
	}
	m.registry.register(func(_ context.Context, s *scrape) error {
		s.gauge("herbarium_publishes_waiting",
			"Sources and files that wait to be published by this server.", float64(waiting()), "way", way)
		return nil
	})
}

// Published counts a publish that has ended.
func (m *Metrics) Published(way, outcome string, took time.Duration) {
	m.publish.observe(took, outcome, way)
}

// ObjectStore registers the metrics of an object store and returns the function that counts an
// operation.
func (m *Metrics) ObjectStore(operations, outcomes []string) func(operation, outcome string, took time.Duration) {
	v := m.registry.histograms("herbarium_object_store_duration_seconds",
		"Time of an operation of the object store, with the transfer and with retries.",
		[]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300}, "operation", "outcome")
	for _, operation := range operations {
		for _, outcome := range outcomes {
			v.with(operation, outcome)
		}
	}
	return func(operation, outcome string, took time.Duration) { v.observe(took, operation, outcome) }
}

// Buffered registers the gauges of the budget of buffered bytes: its size, and how much of it is in
// use.
func (m *Metrics) Buffered(limit int64, used func() int64) {
	m.registry.register(func(_ context.Context, s *scrape) error {
		s.gauge("herbarium_buffer_limit_bytes", "Bytes that requests may buffer at once.", float64(limit))
		s.gauge("herbarium_buffered_bytes",
			"Bytes that requests buffer: bodies, responses and work in progress.", float64(used()))
		return nil
	})
}

// SetDependency sets whether a dependency is available.
func (m *Metrics) SetDependency(name string, up bool) {
	value := int64(0)
	if up {
		value = 1
	}
	m.dependencies.with(name).Store(value)
}

// Handler serves the metrics at /metrics and Go profiles at /debug/pprof/. Do not expose it on a
// public address.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", m.serve)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// serve sends the metrics in version 0.0.4 of the text format, compressed if the client asks for
// it.
func (m *Metrics) serve(w http.ResponseWriter, r *http.Request) {
	body, err := m.registry.text(r.Context())
	if err != nil {
		http.Error(w, "collecting metrics: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.Header().Set("Content-Encoding", "gzip")
		compressed := gzip.NewWriter(w)
		defer compressed.Close()
		_, _ = compressed.Write(body)
		return
	}
	_, _ = w.Write(body)
}
