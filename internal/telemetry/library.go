package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// LibraryState is the state of the published datasets on this node, and what it has done for them
// since it started.
type LibraryState struct {
	Datasets   map[string]int // by state
	Unreadable map[string]int // by reason
	Behind     int            // datasets of which an older version is listed
	Read       time.Time      // of the last successful read of the catalogue; zero if there was none

	Opened       map[string]int64 // versions by origin of their file
	Failed       map[string]int64 // attempts to open a version, by reason
	FetchedBytes int64
	Evicted      int64
	EvictedBytes int64
}

// Library makes each scrape call state.
func (m *Metrics) Library(state func() LibraryState) {
	m.registry.MustRegister(libraryCollector(state))
}

// libraryCollector reads the state of the library at each scrape.
type libraryCollector func() LibraryState

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (libraryCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (state libraryCollector) Collect(out chan<- prometheus.Metric) {
	s := state()
	gauge, counter := prometheus.GaugeValue, prometheus.CounterValue
	sendBy(out, gauge, "herbarium_datasets", "Datasets by the state of their live version on this node.", "state", s.Datasets)
	sendBy(out, gauge, "herbarium_datasets_unreadable", "Datasets whose live version cannot be opened.", "reason", s.Unreadable)
	send(out, gauge, "herbarium_datasets_behind", "Datasets of which an older version than the live one is listed.", float64(s.Behind))
	if !s.Read.IsZero() {
		send(out, gauge, "herbarium_catalogue_age_seconds", "Time since the last successful read of the catalogue.", time.Since(s.Read).Seconds())
	}
	sendBy(out, counter, "herbarium_versions_opened_total", "Versions that were opened, by the origin of their file.", "origin", s.Opened)
	sendBy(out, counter, "herbarium_versions_failed_total", "Attempts to open a version that failed.", "reason", s.Failed)
	send(out, counter, "herbarium_cache_fetched_bytes_total", "Bytes of files fetched from the object store.", float64(s.FetchedBytes))
	send(out, counter, "herbarium_cache_evictions_total", "Files evicted from the cache.", float64(s.Evicted))
	send(out, counter, "herbarium_cache_evicted_bytes_total", "Bytes of files evicted from the cache.", float64(s.EvictedBytes))
}

// send sends one metric without labels.
func send(out chan<- prometheus.Metric, kind prometheus.ValueType, name, help string, value float64) {
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), kind, value)
}

// sendBy sends a metric with one label.
func sendBy[N int | int64](out chan<- prometheus.Metric, kind prometheus.ValueType, name, help, label string, values map[string]N) {
	desc := prometheus.NewDesc(name, help, []string{label}, nil)
	for value, n := range values {
		out <- prometheus.MustNewConstMetric(desc, kind, float64(n), value)
	}
}
