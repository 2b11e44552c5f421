package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
)

// TestListVersions lists the versions that a reader may read.
func TestListVersions(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	keep := func(d herb.Dataset, version string, access herb.Access, since string, sinceAccess herb.Access) {
		d.Version, d.Access, d.Published, d.Labels, d.Message = version, access, at, []string{"label-" + version},
			"Message of "+version
		d.Compared = &herb.RecordChanges{Since: since, SinceAccess: sinceAccess, Added: 1, Removed: 2, Changed: 3}
		s.library.Keep(d, nil)
	}
	open, _ := catalog()
	keep(open, "a", herb.AccessOpen, "gone", herb.AccessOpen) // compared with a version that is not kept
	keep(open, "b", herb.AccessKey, "a", herb.AccessOpen)
	keep(open, "c", herb.AccessOpen, "b", herb.AccessKey)
	keep(open, "d", herb.AccessOpen, "c", "")
	keep(open, "e", herb.AccessOpen, "unknown", "")
	locked, _ := staff()
	keep(locked, "f", herb.AccessOpen, "x", herb.AccessOpen)
	const openPath, lockedPath = "/api/v1/garden/catalog/versions", "/api/v1/locked/staff/versions"
	shape := func(a checkedResponse) string {
		var shown []string
		for _, v := range decode[struct {
			Versions []struct {
				Version, Message, Since string
				Labels                  []string
				Live                    bool
				Added                   *int
			}
		}](t, a).Versions {
			line := v.Version + strings.Join(v.Labels, "")
			if v.Live {
				line += " live"
			}
			if v.Added != nil {
				line += "<" + v.Since
			}
			shown = append(shown, line)
		}
		return strings.Join(shown, ", ")
	}
	for _, tt := range []struct {
		path, key string
		status    int
		want      string
		caching   string
	}{
		{openPath, "", 200, "v1 live, elabel-e, dlabel-d<c, clabel-c, alabel-a<gone", "public, no-cache"},
		{openPath, oneReader, 200, "v1 live, elabel-e, dlabel-d<c, clabel-c, alabel-a<gone", "private, no-cache"},
		{openPath, reader, 200, "v1 live, elabel-e<unknown, dlabel-d<c, clabel-c<b, blabel-b<a, alabel-a<gone",
			"private, no-cache"},
		{lockedPath, "", 401, "", ""},
		{lockedPath, elsewhere, 403, "", ""},
		{lockedPath, oneReader, 200, "v1 live, flabel-f<x", "private, no-cache"},
		{"/api/v1/garden/nothing/versions", "", 404, "", ""},
		{openPath + "?page=1", "", 400, "", ""},
	} {
		a := s.get(t, tt.path, "X-API-Key: "+tt.key)
		if a.status != tt.status {
			t.Errorf("%s with %q: %d %s", tt.path, tt.key, a.status, a.body)
			continue
		}
		if tt.status != 200 {
			if strings.Contains(a.body, "label-") {
				t.Errorf("an error tells %s", a.body)
			}
			continue
		}
		if got := shape(a); got != tt.want {
			t.Errorf("%s with %q lists %q, want %q", tt.path, tt.key, got, tt.want)
		}
		if got := a.header.Get("Cache-Control"); got != tt.caching ||
			!strings.Contains(a.header.Get("Vary"), "X-API-Key") {
			t.Errorf("%s with %q: %v", tt.path, tt.key, a.header)
		}
		if again := s.get(t, tt.path, "X-API-Key: "+tt.key, "If-None-Match: "+
			a.header.Get("Etag")); again.status != 304 {
			t.Errorf("a known list gives %d", again.status)
		}
	}
	if a := s.get(t, openPath); strings.Contains(a.body, `"b"`) || strings.Contains(a.body, "Message of b") ||
		!strings.Contains(a.body, `"message":"Message of c"`) {
		t.Errorf("without a key: %s", a.body)
	}
}
