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
	m.Lane("export", 64, func() int { return 7 })
	m.Lane("write", 256, func() int { return 0 })
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
		`version="v9"`,
		"go_goroutines",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
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
