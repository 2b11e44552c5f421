package telemetry

import "context"

// Deliveries is how many deliveries to webhooks there are, of all nodes.
type Deliveries struct {
	Pending  int // not attempted yet
	Retrying int // failed at least once, with another attempt to come
	Failed   int // without another attempt, as far as they are stored
}

// Webhooks registers the metrics of webhooks: the outcomes of attempts, and the deliveries, which
// each scrape counts. While the database is down, deliveries are absent: the other metrics are
// needed then.
func (m *Metrics) Webhooks(outcomes []string, count func(context.Context) (Deliveries, error)) {
	for _, o := range outcomes {
		m.webhooks.with(o)
	}
	m.registry.register(func(ctx context.Context, s *scrape) error {
		if d, err := count(ctx); err == nil {
			addBy(s.gauge, "herbarium_webhook_deliveries", "Events for webhooks, of all nodes.", "state",
				map[string]int{"pending": d.Pending, "retrying": d.Retrying, "failed": d.Failed})
		}
		return nil
	})
}

// Fetches registers the metrics of fetches: the outcomes, and the number of datasets whose last
// fetch failed, which each scrape reads. While the database is down, the latter is absent.
func (m *Metrics) Fetches(outcomes []string, failing func(context.Context) (int, error)) {
	for _, o := range outcomes {
		m.fetches.with(o)
	}
	m.registry.register(func(ctx context.Context, s *scrape) error {
		if n, err := failing(ctx); err == nil {
			s.gauge("herbarium_fetches_failing",
				"Datasets whose file could not be fetched last time, or was rejected, of all nodes.", float64(n))
		}
		return nil
	})
}

// Fetched counts a fetch.
func (m *Metrics) Fetched(outcome string) { m.fetches.with(outcome).Add(1) }

// WebhookAttempt counts an attempt.
func (m *Metrics) WebhookAttempt(outcome string) { m.webhooks.with(outcome).Add(1) }
