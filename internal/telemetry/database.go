package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"herbarium/internal/herb"
)

// Pool is the use of the connections to the database.
type Pool struct {
	InUse, Idle, Max int
	Waits            int64         // operations that waited for a connection so far
	Waited           time.Duration // all of them together
}

// AuditLog reads the audit log.
type AuditLog interface {
	AuditEntries(ctx context.Context, q herb.AuditQuery) ([]herb.AuditEntry, error)
}

// Database makes each scrape call pool and read the audit log.
func (m *Metrics) Database(pool func() Pool, log AuditLog) {
	m.registry.MustRegister(poolCollector(pool), auditCollector{log})
}

// poolCollector reads the use of the connections at each scrape.
type poolCollector func() Pool

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (poolCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (pool poolCollector) Collect(out chan<- prometheus.Metric) {
	p := pool()
	sendBy(out, prometheus.GaugeValue, "herbarium_database_connections", "Connections to the database.", "state",
		map[string]int{"in_use": p.InUse, "idle": p.Idle})
	send(out, prometheus.GaugeValue, "herbarium_database_connection_limit", "Connections to the database that this process opens at most.", float64(p.Max))
	send(out, prometheus.CounterValue, "herbarium_database_waits_total", "Operations that waited for a connection.", float64(p.Waits))
	send(out, prometheus.CounterValue, "herbarium_database_wait_seconds_total", "Time that operations waited for a connection.", p.Waited.Seconds())
}

// auditWindow is the time whose audit entries are counted, maxAudited the number of them at most.
const (
	auditWindow = time.Hour
	maxAudited  = 10_000
)

// auditCollector counts recent audit entries, which include those of commands and of other nodes.
type auditCollector struct{ log AuditLog }

// Describe implements prometheus.Collector. It describes nothing, like that of datasetCollector.
func (auditCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. While the database is down, it sends nothing: the other
// metrics are needed then.
func (c auditCollector) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	entries, err := c.log.AuditEntries(ctx, herb.AuditQuery{Since: time.Now().Add(-auditWindow), Limit: maxAudited})
	if err != nil {
		return
	}
	type kind struct {
		action herb.AuditAction
		result herb.AuditResult
	}
	counts := map[kind]int{}
	for _, action := range herb.AuditActions() {
		for _, result := range []herb.AuditResult{herb.AuditOK, herb.AuditRejected, herb.AuditFailed} {
			counts[kind{action, result}] = 0
		}
	}
	for _, e := range entries {
		k := kind{e.Action, e.Result}
		if _, known := counts[k]; known { // a newer program may record other actions
			counts[k]++
		}
	}
	desc := prometheus.NewDesc("herbarium_audit_entries", "Entries of the audit log in the last hour, of all nodes and commands.", []string{"action", "result"}, nil)
	for k, n := range counts {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), string(k.action), string(k.result))
	}
	backups, err := c.log.AuditEntries(ctx, herb.AuditQuery{Subject: herb.BackupSubject, Limit: 1})
	if err == nil && len(backups) > 0 {
		send(out, prometheus.GaugeValue, "herbarium_backup_age_seconds", "Time since the last complete backup began.", time.Since(backups[0].Time).Seconds())
	}
}
