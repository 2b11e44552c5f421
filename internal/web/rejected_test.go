package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/web"
)

// withRejections has a source of an open, of a protected and of an unpublished dataset rejected, each for a reason that
// quotes a value.
func withRejections(o *web.Options, l *fakeLibrary) {
	since := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	o.SourceErrors = func(context.Context) ([]herb.SourceError, error) {
		return []herb.SourceError{
			{Path: "/srv/files/catalog.csv", Ref: herb.Ref{Namespace: "garden", Name: "catalog"}, Message: `/srv/files/catalog.csv: "quoted open"`, Since: since},
			{Path: "/srv/files/staff.csv", Ref: herb.Ref{Namespace: "locked", Name: "staff"}, Message: `/srv/files/staff.csv: "quoted <b>" in records 1 and 3`, Since: since},
			{Path: "/srv/files/new.csv", Ref: herb.Ref{Namespace: "garden", Name: "new"}, Message: `"quoted new"`, Since: since},
			{Path: "/srv/files/datapackage.json", Message: "quoted descriptor"},
		}, nil
	}
	for i, d := range l.datasets { // garden/catalog was protected before
		if d.Namespace != "garden" {
			continue
		}
		was := d
		was.Version, was.Access = "v0", herb.AccessKey
		was.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "title", Min: "quoted protected"}}}
		l.versions[d.Ref] = []library.VersionInfo{{Dataset: l.datasets[i], Live: true}, {Dataset: was, First: true}}
	}
}

// TestRejected_public visits every public page without a key: none of them quotes an error of a source, or the report of a
// version that was protected.
func TestRejected_public(t *testing.T) {
	t.Parallel()
	s := newSite(t, withRejections)
	for _, path := range []string{
		"/", "/?search=garden", "/catalog.jsonld", "/openapi.json", "/api/v1", "/readyz",
		"/datasets/garden/catalog", "/datasets/garden/catalog/versions", "/datasets/garden/catalog/api", "/api/v1/garden/catalog",
		locked, locked + "/versions", locked + "/api", "/api/v1/locked/staff",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, path)
			for _, secret := range []string{"quoted", "Secretive", "/srv", "garden/new"} {
				if strings.Contains(a.body, secret) {
					t.Errorf("the page contains %q", secret)
				}
			}
		})
	}
}

func TestRejected_shown(t *testing.T) {
	t.Parallel()
	s := newSite(t, withRejections)
	const note = "The newest file was rejected on"
	for _, tt := range []struct {
		name, path, key string
		notes           int
		want            string
	}{
		{"front page: the open dataset only", "/", "", 1, ""},
		{"open dataset", "/datasets/garden/catalog/versions", "", 1, ""},
		{"open dataset with a key", "/datasets/garden/catalog/versions", otherKey, 1, ""},
		{"protected dataset", locked + "/versions", "", 0, ""},
		{"protected dataset with a key for another", locked + "/versions", otherKey, 0, ""},
		{"protected dataset with its key", locked + "/versions", staffKey, 1, `staff.csv: &#34;quoted &lt;b&gt;&#34; in records 1 and 3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, tt.path, "Cookie", "herbarium_key="+tt.key)
			if n := strings.Count(a.body, note); n != tt.notes {
				t.Errorf("%d notes, want %d", n, tt.notes)
			}
			if quoted := strings.Contains(a.body, "quoted"); quoted != (tt.want != "") || !strings.Contains(a.body, tt.want) {
				t.Errorf("the page lacks %q, or quotes a value: %t", tt.want, quoted)
			}
			if strings.Contains(a.body, "/srv") {
				t.Error("the page names a folder")
			}
		})
	}
}
