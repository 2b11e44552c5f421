package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/telemetry"
)

func scrape(t *testing.T, m *telemetry.Metrics, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// auditLog is the entries of an audit log, newest last; nil is one that cannot be read.
type auditLog []herb.AuditEntry

func (l auditLog) AuditEntries(_ context.Context, q herb.AuditQuery) (found []herb.AuditEntry, err error) {
	if l == nil {
		return nil, errors.New("the database is down")
	}
	for _, e := range l {
		if !e.Time.Before(q.Since) && (q.Subject == "" || e.Subject == q.Subject) {
			found = append(found, e)
		}
	}
	return found, nil
}

// TestMetrics_databaseDown checks that the other metrics are served while the database is down.
func TestMetrics_databaseDown(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) { return nil, nil })
	m.Database(func() telemetry.Pool { return telemetry.Pool{Max: 8} }, auditLog(nil))
	status, body := scrape(t, m, "/metrics")
	if status != http.StatusOK || !strings.Contains(body, "herbarium_database_connection_limit 8") || strings.Contains(body, "herbarium_audit") {
		t.Errorf("status %d\n%s", status, body)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) {
		return []herb.LiveVersion{{Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Version: "v1", Records: 513, Published: time.Unix(1700000000, 0)}}, nil
	})
	m.Request("GET", "/api/v1", 200, 1234, 3*time.Millisecond)
	m.Rejected("export", "timeout")
	m.KeyRejected("invalid")
	m.Sources(func(context.Context) ([]herb.SourceError, error) {
		broken := herb.Ref{Namespace: "garden", Name: "broken"}
		return []herb.SourceError{{Ref: broken}, {Ref: broken}, {Path: "x"}, {Ref: herb.Ref{Namespace: "garden", Name: "left"}, Skipped: true}}, nil
	})
	m.Disk(func() telemetry.DiskUsage {
		return telemetry.DiskUsage{Folders: map[string]int64{"versions": 300}, Files: map[string]int64{"v1.segment": 100, "v0.segment": 200}, CacheLimit: 1024}
	}, func(version string) string { return version + ".segment" })
	m.Indexes(func() (int, int) { return 3, 5 })
	m.Webhooks([]string{"delivered", "failed"}, func(context.Context) (telemetry.Deliveries, error) {
		return telemetry.Deliveries{Pending: 4, Retrying: 2, Failed: 1}, nil
	})
	m.WebhookAttempt("delivered")
	m.Lane("export", 64, func() int { return 7 })
	m.Lane("write", 256, func() int { return 0 })
	m.Waited("export", 20*time.Millisecond)
	m.Rejections("write", "full")
	m.KeyRejections("rate_limited")
	m.Publishes("watch", []string{"published", "failed"}, func() int { return 12 })
	m.Published("watch", "published", 2*time.Second)
	m.ObjectStore([]string{"get", "put"}, []string{"ok", "failed"})("get", "failed", time.Second)
	m.Library(func() telemetry.LibraryState {
		return telemetry.LibraryState{
			Datasets: map[string]int{"open": 3, "failed": 2}, Unreadable: map[string]int{"damaged": 2}, Behind: 1, Read: time.Now(),
			Opened: map[string]int64{"local": 5}, Failed: map[string]int64{"damaged": 7}, FetchedBytes: 900, Evicted: 4, EvictedBytes: 400,
		}
	})
	m.Database(func() telemetry.Pool {
		return telemetry.Pool{InUse: 2, Idle: 1, Max: 8, Waits: 3, Waited: 1500 * time.Millisecond}
	}, auditLog{
		{Time: time.Now().Add(-time.Minute), Action: herb.AuditPublished, Result: herb.AuditFailed, Subject: "shop/prices"},
		{Time: time.Now().Add(-time.Minute), Action: "of a newer program", Result: herb.AuditOK},
		{Time: time.Now().Add(-2 * time.Hour), Action: herb.AuditBackedUp, Result: herb.AuditOK, Subject: herb.BackupSubject},
	})
	status, body := scrape(t, m, "/metrics")
	for _, want := range []string{
		`http_server_request_duration_seconds_count{method="GET",route="/api/v1",status="200"} 1`,
		`http_server_request_duration_seconds_bucket{method="GET",route="/api/v1",status="200",le="0.005"} 1`,
		`http_server_response_body_bytes_total{route="/api/v1"} 1234`,
		`herbarium_requests_rejected_total{lane="export",reason="timeout"} 1`,
		`herbarium_lane_in_flight{lane="export"} 7`,
		`herbarium_lane_slots{lane="write"} 256`,
		`herbarium_dataset_records{dataset="garden/catalog"} 513`,
		`herbarium_dataset_published_timestamp_seconds{dataset="garden/catalog"} 1.7e+09`,
		`herbarium_keys_rejected_total{reason="invalid"} 1`,
		`herbarium_source_failed{dataset="garden/broken"} 2`,
		`herbarium_source_failed{dataset=""} 1`,
		`herbarium_dataset_bytes{dataset="garden/catalog"} 100`,
		`herbarium_stored_bytes{folder="versions"} 300`,
		`herbarium_cache_limit_bytes 1024`,
		`herbarium_lane_wait_seconds_sum{lane="export"} 0.02`,
		`herbarium_lane_wait_seconds_count{lane="write"} 0`,
		`herbarium_requests_rejected_total{lane="write",reason="full"} 0`,
		`herbarium_keys_rejected_total{reason="rate_limited"} 0`,
		`herbarium_publishes_waiting{way="watch"} 12`,
		`herbarium_publish_duration_seconds_sum{outcome="published",way="watch"} 2`,
		`herbarium_publish_duration_seconds_count{outcome="failed",way="watch"} 0`,
		`herbarium_object_store_duration_seconds_sum{operation="get",outcome="failed"} 1`,
		`herbarium_object_store_duration_seconds_count{operation="put",outcome="ok"} 0`,
		`herbarium_datasets{state="open"} 3`,
		`herbarium_datasets_unreadable{reason="damaged"} 2`,
		`herbarium_datasets_behind 1`,
		`herbarium_catalogue_age_seconds `,
		`herbarium_versions_opened_total{origin="local"} 5`,
		`herbarium_versions_failed_total{reason="damaged"} 7`,
		`herbarium_cache_fetched_bytes_total 900`,
		`herbarium_cache_evictions_total 4`,
		`herbarium_cache_evicted_bytes_total 400`,
		`herbarium_database_connections{state="in_use"} 2`,
		`herbarium_database_connections{state="idle"} 1`,
		`herbarium_database_connection_limit 8`,
		`herbarium_database_waits_total 3`,
		`herbarium_database_wait_seconds_total 1.5`,
		`herbarium_audit_entries{action="dataset.publish",result="failed"} 1`,
		`herbarium_audit_entries{action="backup.create",result="ok"} 0`,
		`herbarium_backup_age_seconds 7200`,
		`herbarium_webhook_deliveries{state="retrying"} 2`,
		`herbarium_webhook_attempts_total{outcome="delivered"} 1`,
		`herbarium_webhook_attempts_total{outcome="failed"} 0`,
		"herbarium_outdated_indexes 3\n",
		"herbarium_rebuilt_indexes_total 5\n",
		`version="v9"`,
		"go_goroutines",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, "newer program") {
		t.Error("an unknown action is a label")
	}
	if strings.Contains(body, "garden/left") {
		t.Error("a skipped source counts as failed")
	}
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if status, _ := scrape(t, m, "/debug/pprof/"); status != http.StatusOK {
		t.Errorf("profiles: status %d", status)
	}
}

func TestMetrics_datasetsUnavailable(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) { return nil, errors.New("away") })
	if status, _ := scrape(t, m, "/metrics"); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500 rather than incomplete metrics", status)
	}
}
