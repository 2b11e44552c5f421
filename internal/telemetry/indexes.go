package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Indexes makes each scrape call state, which returns how many live versions have an index of
// another release, and how many indexes this process has rebuilt.
func (m *Metrics) Indexes(state func() (outdated, rebuilt int)) {
	m.registry.MustRegister(indexCollector(state))
}

// indexCollector counts indexes at each scrape.
type indexCollector func() (outdated, rebuilt int)

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (indexCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (state indexCollector) Collect(out chan<- prometheus.Metric) {
	outdated, rebuilt := state()
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("herbarium_outdated_indexes",
		"Live versions on this node whose index another release has built and that are not rebuilt yet.", nil, nil), prometheus.GaugeValue, float64(outdated))
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc("herbarium_rebuilt_indexes_total",
		"Indexes of versions of other releases that this process has rebuilt.", nil, nil), prometheus.CounterValue, float64(rebuilt))
}
