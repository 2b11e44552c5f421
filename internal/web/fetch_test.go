package web_test

import (
	"net/url"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// TestFetch_link pastes a link.
func TestFetch_link(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	send := func(link, dataset, refresh string) int {
		t.Helper()
		return s.post(t, "/publish-table", url.Values{"namespace": {"nursery"}, "dataset": {dataset}, "link": {link},
			"refresh": {refresh}, "table": {""}}, as(sellsKey)...).status
	}
	for _, c := range []struct {
		link, dataset, refresh string
		want                   int
	}{
		{" https://example.org/prices.csv ", "new", "1h", 303}, {"https://example.org/prices.csv", "", "", 303},
		{"https://example.org/prices.csv", "new", "1s", 400}, {"http://example.org/prices.csv", "new", "1h", 400},
		{"https://example.org/?token=hush", "new", "1h", 400},
	} {
		if got := send(c.link, c.dataset, c.refresh); got != c.want {
			t.Errorf("%+v is %d", c, got)
		}
	}
	if len(s.created) != 2 || s.created[0].Edits.Link != "https://example.org/prices.csv" ||
		s.created[0].Edits.Refresh != "1h" ||
		s.created[1].Edits.Refresh != "manual" || s.created[1].Ref.Name != "prices" {
		t.Errorf("%+v", s.created)
	}
}

// TestFetch_versions looks at the state of a dataset that is fetched, with and without a key.
func TestFetch_versions(t *testing.T) {
	t.Parallel()
	s := newPublishingSite(t)
	ref := herb.Ref{Namespace: "nursery", Name: "stock"}
	path := "/datasets/nursery/stock/versions"
	const since = "has not been reachable since 3 November 2025"
	if text := s.get(t, path).body; strings.Contains(text, since) {
		t.Error("a dataset that is not fetched has a source")
	}
	s.library.View(ref).Descriptor = herb.NewDescriptor([]byte(
		`{"package": {}, "resource": {"path": "https://example.org/a.csv", "herbarium": {"refresh": "1h"}}}`))
	reader, publisher := s.get(t, path).body, s.get(t, path, as(sellsKey)...).body
	if !strings.Contains(reader, since) || strings.Contains(reader, "404 Not Found") ||
		strings.Contains(reader, "Fetch now") {
		t.Errorf("readers see %s", reader)
	}
	for _, want := range []string{since, "status 404 Not Found", "Fetch now", "3 fetches have failed",
		"3 November 2026, 10:00 UTC"} {
		if !strings.Contains(publisher, want) {
			t.Errorf("publishers do not see %q", want)
		}
	}
	if a := s.post(t, "/datasets/nursery/stock/fetch", url.Values{}, as(sellsKey)...); a.status != 303 ||
		strings.Join(s.fetched, ",") != ref.String() {
		t.Errorf("%d %s", a.status, s.fetched)
	}
	if a := s.post(t, "/datasets/nursery/stock/fetch", url.Values{}); a.status == 303 || len(s.fetched) != 1 {
		t.Errorf("without a key: %d", a.status)
	}
}
