package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
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

var (
	helpLine   = regexp.MustCompile(`^# HELP ([a-z_]+) (?:[^\\\n]|\\\\|\\n)+$`)
	typeLine   = regexp.MustCompile(`^# TYPE ([a-z_]+) (counter|gauge|histogram|summary)$`)
	label      = `[a-z_]+="(?:[^"\\\n]|\\["\\n])*"`
	sampleLine = regexp.MustCompile(`^([a-z_]+)(\{` + label + `(?:,` + label + `)*\})? (\S+)$`)
	bucket     = regexp.MustCompile(`^([a-z_]+)_bucket\{(?:(.*),)?le="([^"]+)"\}$`)
)

// parse returns the values of all series of metrics in the text format, or an error for the first
// violation of the format.
func parse(body string) (map[string]float64, error) {
	if !strings.HasSuffix(body, "\n") {
		return nil, errors.New("no line feed at the end")
	}
	series, seen := map[string]float64{}, map[string]bool{}
	name, kind, last, lastBound := "", "", 0.0, math.Inf(1)
	for line := range strings.SplitSeq(strings.TrimSuffix(body, "\n"), "\n") {
		if m := helpLine.FindStringSubmatch(line); m != nil && !seen[m[1]] {
			name, kind, seen[m[1]] = m[1], "", true
			continue
		}
		if m := typeLine.FindStringSubmatch(line); m != nil && m[1] == name && kind == "" {
			kind = m[2]
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || kind == "" {
			return nil, fmt.Errorf("unexpected line %q", line)
		}
		key := m[1] + m[2]
		value, err := strconv.ParseFloat(m[3], 64)
		if _, twice := series[key]; err != nil || twice {
			return nil, fmt.Errorf("value or series of %q: %w", line, err)
		}
		series[key] = value
		suffix, ok := strings.CutPrefix(m[1], name)
		switch {
		case !ok, suffix != "" && (kind == "counter" || kind == "gauge"),
			kind == "counter" && !strings.HasSuffix(name, "_total"):
			return nil, fmt.Errorf("%q belongs to the %s %s", line, kind, name)
		case kind == "histogram" && suffix == "_bucket":
			bound, err := strconv.ParseFloat(bucket.FindStringSubmatch(key)[3], 64)
			if begins := math.IsInf(lastBound, 1); err != nil || !begins && (bound <= lastBound || value < last) {
				return nil, fmt.Errorf("bucket %q follows %v with %v", line, lastBound, last)
			}
			last, lastBound = value, bound
		case kind == "histogram" && suffix == "_count" && (value != last || !math.IsInf(lastBound, 1)):
			return nil, fmt.Errorf("%q follows the bucket %v with %v", line, lastBound, last)
		}
	}
	return series, nil
}

// TestMetrics_format checks escapes, the bounds of buckets, and series that are created while they
// are read.
func TestMetrics_format(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v\\9\n\"\xff", func(context.Context) ([]herb.LiveVersion, error) { return nil, nil })
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for range 25 {
				m.Waited(fmt.Sprint("lane ", i%4), 2500*time.Microsecond)
			}
			scrape(t, m, "/metrics")
		})
	}
	running.Wait()
	m.Waited("lane 0", time.Hour)
	_, body := scrape(t, m, "/metrics")
	got, err := parse(body)
	if err != nil {
		t.Fatal(err)
	}
	for series, want := range map[string]float64{
		`herbarium_lane_wait_seconds_bucket{lane="lane 0",le="0.001"}`:                            0,
		`herbarium_lane_wait_seconds_bucket{lane="lane 0",le="0.0025"}`:                           50,
		`herbarium_lane_wait_seconds_bucket{lane="lane 0",le="2.5"}`:                              50,
		`herbarium_lane_wait_seconds_bucket{lane="lane 0",le="+Inf"}`:                             51,
		`herbarium_lane_wait_seconds_count{lane="lane 0"}`:                                        51,
		`herbarium_lane_wait_seconds_sum{lane="lane 3"}`:                                          0.125,
		`herbarium_build_info{go="` + runtime.Version() + `",version="v\\9\n\"` + "\ufffd" + `"}`: 1,
	} {
		if value, ok := got[series]; !ok || value != want {
			t.Errorf("%s is %v; want %v", series, value, want)
		}
	}
}

// TestMetrics_databaseDown checks that the other metrics are served while the database is down.
func TestMetrics_databaseDown(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) { return nil, nil })
	m.Database(func() telemetry.Pool { return telemetry.Pool{Max: 8} }, auditLog(nil))
	status, body := scrape(t, m, "/metrics")
	if status != http.StatusOK || !strings.Contains(body, "herbarium_database_connection_limit 8") ||
		strings.Contains(body, "herbarium_audit") {
		t.Errorf("status %d\n%s", status, body)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) {
		return []herb.LiveVersion{{Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Version: "v1", Records: 513,
			Published: time.Unix(1700000000, 0), Expected: "daily"}}, nil
	})
	m.Request("GET", "/api/v1", 200, 1234, 3*time.Millisecond)
	m.Rejected("bulk", "timeout")
	m.KeyRejected("invalid")
	m.Sources(func(context.Context) ([]herb.SourceError, error) {
		broken := herb.Ref{Namespace: "garden", Name: "broken"}
		return []herb.SourceError{{Ref: broken}, {Ref: broken}, {Path: "x"},
			{Ref: herb.Ref{Namespace: "garden", Name: "left"}, Skipped: true}}, nil
	})
	m.Disk(func() telemetry.DiskUsage {
		return telemetry.DiskUsage{Folders: map[string]int64{"versions": 300},
			Files: map[string]int64{"v1.segment": 100, "v0.segment": 200}, CacheLimit: 1024, Free: 700, FreeKnown: true}
	}, func(version string) string { return version + ".segment" })
	m.Indexes(func() (int, int) { return 3, 5 })
	m.Webhooks([]string{"delivered", "failed"}, func(context.Context) (telemetry.Deliveries, error) {
		return telemetry.Deliveries{Pending: 4, Retrying: 2, Failed: 1}, nil
	})
	m.WebhookAttempt("delivered")
	m.Lane("bulk", 64, func() int { return 7 })
	m.Lane("write", 256, func() int { return 0 })
	m.Waited("bulk", 20*time.Millisecond)
	m.Rejections("write", "full")
	m.KeyRejections("rate_limited")
	m.Publishes("watch", []string{"published", "failed"}, func() int { return 12 })
	m.Published("watch", "published", 2*time.Second)
	m.ObjectStore([]string{"get", "put"}, []string{"ok", "failed"})("get", "failed", time.Second)
	m.Library(func() telemetry.LibraryState {
		return telemetry.LibraryState{
			Datasets: map[string]int{"open": 3, "failed": 2}, Unreadable: map[string]int{"damaged": 2}, Behind: 1,
			Read:   time.Now(),
			Opened: map[string]int64{"local": 5}, Failed: map[string]int64{"damaged": 7}, FetchedBytes: 900, Evicted: 4,
			EvictedBytes: 400,
		}
	})
	m.Database(func() telemetry.Pool {
		return telemetry.Pool{InUse: 2, Idle: 1, Max: 8, Waits: 3, Waited: 1500 * time.Millisecond}
	}, auditLog{
		{Time: time.Now().Add(-time.Minute), Action: herb.AuditPublished, Result: herb.AuditFailed,
			Subject: "shop/prices"},
		{Time: time.Now().Add(-time.Minute), Action: "of a newer program", Result: herb.AuditOK},
		{Time: time.Now().Add(-2 * time.Hour), Action: herb.AuditBackedUp, Result: herb.AuditOK,
			Subject: herb.BackupSubject},
	})
	status, body := scrape(t, m, "/metrics")
	if _, err := parse(body); err != nil {
		t.Error(err)
	}
	for _, want := range []string{
		`http_server_request_duration_seconds_count{method="GET",route="/api/v1",status="200"} 1`,
		`http_server_request_duration_seconds_bucket{method="GET",route="/api/v1",status="200",le="0.005"} 1`,
		`http_server_response_body_bytes_total{route="/api/v1"} 1234`,
		`herbarium_requests_rejected_total{lane="bulk",reason="timeout"} 1`,
		`herbarium_lane_in_flight{lane="bulk"} 7`,
		`herbarium_lane_slots{lane="write"} 256`,
		`herbarium_dataset_records{dataset="garden/catalog"} 513`,
		`herbarium_dataset_published_timestamp_seconds{dataset="garden/catalog"} 1.7e+09`,
		`herbarium_dataset_overdue_timestamp_seconds{dataset="garden/catalog"} 1.7001728e+09`,
		`herbarium_keys_rejected_total{reason="invalid"} 1`,
		`herbarium_source_failed{dataset="garden/broken"} 2`,
		`herbarium_source_failed{dataset=""} 1`,
		`herbarium_dataset_bytes{dataset="garden/catalog"} 100`,
		`herbarium_stored_bytes{folder="versions"} 300`,
		`herbarium_disk_free_bytes 700`,
		`herbarium_cache_limit_bytes 1024`,
		`herbarium_lane_wait_seconds_sum{lane="bulk"} 0.02`,
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
		"# TYPE go_memstats_alloc_bytes_total counter\n",
		`go_gc_duration_seconds{quantile="0.25"} `,
		"go_goroutines ",
		"process_start_time_seconds ",
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
	m := telemetry.NewMetrics("v9", func(context.Context) ([]herb.LiveVersion, error) {
		return nil,
			errors.New("away")
	})
	if status, _ := scrape(t, m, "/metrics"); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500 rather than incomplete metrics", status)
	}
}
