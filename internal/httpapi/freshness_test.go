package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
)

// TestFreshness reads the state of a dataset that declares how often it changes.
func TestFreshness(t *testing.T) {
	t.Parallel()
	for expected, want := range map[string]string{
		"monthly": `"freshness":{"state":"overdue","expected":"monthly","due_at":"2020-02-01T00:00:00Z",` +
			`"overdue_at":"2020-03-03T00:00:00Z"}`,
		"100000d": `"freshness":{"state":"fresh","expected":"36500d",`,
		"never":   `"freshness":{"state":"historical","expected":"never"}`,
		"":        "",
	} {
		if expected == "100000d" { // more than periods may have
			expected = "36500d"
		}
		d, records := catalog()
		d.Published, d.Expected = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), herb.Frequency(expected)
		s := newService(t, func(o *httpapi.Options) {
			o.Library.(*fakeLibrary).put(d, records)
		})
		for _, path := range []string{"/api/v1", "/api/v1/garden/catalog"} {
			if body := s.get(t, path).body; !strings.Contains(body, want) ||
				strings.Contains(body, "freshness") != (want != "") {
				t.Errorf("%s of %q lacks %s:\n%s", path, expected, want, body)
			}
		}
	}
}

// TestFreshness_feed follows a dataset that becomes overdue.
func TestFreshness_feed(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	p.now = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	publish := func(expected string) atomFeed {
		p.publish(t, "id,name\n1,Rose\n",
			`{"resources": [{"path": "a.csv", "herbarium": {"expected": "`+expected+`"}}]}`)
		a := p.get(t, pricesFeed)
		again := p.get(t, pricesFeed, "If-None-Match: "+a.header.Get("Etag"))
		if again.status != http.StatusNotModified {
			t.Errorf("the same feed is %d", again.status)
		}
		return parseFeed(t, a)
	}
	if f := publish("monthly"); len(f.Entries) != 1 || !strings.Contains(f.Entries[0].Summary, "by 2020-03-03") ||
		!f.Updated.Equal(f.Entries[0].Updated) {
		t.Errorf("%+v", f)
	}
	if f := parseFeed(t, p.get(t, pricesFeed+"?name=Rose")); f.Entries != nil {
		t.Errorf("feed of a view: %+v", f.Entries)
	}
	p.now = p.now.Add(time.Hour)
	if f := publish("never"); len(f.Entries) != 0 {
		t.Errorf("historical: %+v", f.Entries)
	}
}
