package telemetry

import (
	"context"
	"time"

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
	m.registry.register(func(_ context.Context, s *scrape) error {
		p := pool()
		addBy(s.gauge, "herbarium_database_connections", "Connections to the database.", "state",
			map[string]int{"in_use": p.InUse, "idle": p.Idle})
		s.gauge("herbarium_database_connection_limit",
			"Connections to the database that this process opens at most.", float64(p.Max))
		s.counter("herbarium_database_waits_total",
			"Operations that waited for a connection.", float64(p.Waits))
		s.counter("herbarium_database_wait_seconds_total",
			"Time that operations waited for a connection.", p.Waited.Seconds())
		return nil
	})
	m.registry.register(func(ctx context.Context, s *scrape) error {
		addAudit(ctx, s, log)
		return nil
	})
}

// auditWindow is the time whose audit entries are counted, maxAudited the number of them at most.
const (
	auditWindow = time.Hour
	maxAudited  = 10_000
)

// addAudit counts recent audit entries, which include those of commands and of other nodes. While
// the database is down, it adds nothing: the other metrics are needed then.
func addAudit(ctx context.Context, s *scrape, log AuditLog) {
	entries, err := log.AuditEntries(ctx, herb.AuditQuery{Since: time.Now().Add(-auditWindow), Limit: maxAudited})
	if err != nil {
		return
	}
	type outcome struct {
		action herb.AuditAction
		result herb.AuditResult
	}
	counts := map[outcome]int{}
	for _, action := range herb.AuditActions() {
		for _, result := range []herb.AuditResult{herb.AuditOK, herb.AuditRejected, herb.AuditFailed} {
			counts[outcome{action, result}] = 0
		}
	}
	for _, e := range entries {
		o := outcome{e.Action, e.Result}
		if _, known := counts[o]; known { // a newer program may record other actions
			counts[o]++
		}
	}
	for o, n := range counts {
		s.gauge("herbarium_audit_entries",
			"Entries of the audit log in the last hour, of all nodes and commands.", float64(n),
			"action", string(o.action), "result", string(o.result))
	}
	backups, err := log.AuditEntries(ctx, herb.AuditQuery{Subject: herb.BackupSubject, Limit: 1})
	if err == nil && len(backups) > 0 {
		s.gauge("herbarium_backup_age_seconds",
			"Time since the last complete backup began.", time.Since(backups[0].Time).Seconds())
	}
}
