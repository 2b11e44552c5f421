package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Deliveries is how many deliveries to webhooks there are, of all nodes.
type Deliveries struct {
	Pending  int // not attempted yet
	Retrying int // failed at least once, with another attempt to come
	Failed   int // without another attempt, as far as they are stored
}

// Webhooks registers the metrics of webhooks: the outcomes of attempts, and the deliveries, which
// each scrape counts.
func (m *Metrics) Webhooks(outcomes []string, count func(context.Context) (Deliveries, error)) {
	for _, o := range outcomes {
		m.webhooks.WithLabelValues(o)
	}
	m.registry.MustRegister(deliveryCollector(count))
}

// WebhookAttempt counts an attempt.
func (m *Metrics) WebhookAttempt(outcome string) { m.webhooks.WithLabelValues(outcome).Inc() }

// deliveryCollector counts deliveries at each scrape.
type deliveryCollector func(context.Context) (Deliveries, error)

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (deliveryCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. While the database is down, it sends nothing: the other
// metrics are needed then.
func (count deliveryCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	d, err := count(ctx)
	if err != nil {
		return
	}
	sendBy(out, prometheus.GaugeValue, "herbarium_webhook_deliveries", "Events for webhooks, of all nodes.", "state",
		map[string]int{"pending": d.Pending, "retrying": d.Retrying, "failed": d.Failed})
}
