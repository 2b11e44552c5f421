package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// withRejections has a source of an open, of a protected and of an unpublished dataset rejected,
// each for a reason that quotes a value.
func withRejections(o *web.Options, l *apitest.Library) {
	since := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	o.SourceErrors = func(context.Context) ([]herb.SourceError, error) {
		return []herb.SourceError{
			{Path: "/srv/files/catalog.csv", Ref: herb.Ref{Namespace: "garden", Name: "catalog"},
				Message: `/srv/files/catalog.csv: "quoted open"`, Since: since},
			{Path: "/srv/files/staff.csv", Ref: herb.Ref{Namespace: "locked", Name: "staff"},
				Message: `/srv/files/staff.csv: "quoted <b>" in records 1 and 3`, Since: since},
			{Path: "/srv/files/new.csv", Ref: herb.Ref{Namespace: "garden", Name: "new"}, Message: `"quoted new"`,
				Since: since},
			{Path: "/srv/files/datapackage.json", Message: "quoted descriptor"},
		}, nil
	}
	for _, v := range l.Views { // garden/catalog was protected before
		if v.Namespace != "garden" {
			continue
		}
		was := v.Dataset
		was.Version, was.Access = "v0", herb.AccessKey
		was.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "title", Min: "quoted protected"}}}
		l.Histories[v.Ref] = []versions.Version{{Dataset: v.Dataset, Live: true}, {Dataset: was, First: true}}
	}
}

// TestRejected_public visits every public page without a key: none of them quotes an error of a
// source, or the report of a version that was protected.
func TestRejected_public(t *testing.T) {
	t.Parallel()
	s := newSite(t, withRejections)
	for _, path := range []string{
		"/", "/?search=garden", "/catalog.jsonld", "/openapi.json", "/api/v1", "/readyz",
		"/datasets/garden/catalog", "/datasets/garden/catalog/about", "/datasets/garden/catalog/versions",
		locked + "/about", "/datasets/garden/catalog/api", "/api/v1/garden/catalog",
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
	const open, staff = `catalog.csv: &#34;quoted open&#34;`, `staff.csv: &#34;quoted &lt;b&gt;&#34; in records 1 and 3`
	for _, tt := range []struct {
		name, path, key string
		notes           int
		want            string
	}{
		{"front page without a key", "/", "", 0, ""},
		{"front page with an unknown key", "/", "herb_nothing", 0, ""},
		{"front page with a key to read", "/", otherKey, 1, ""},
		{"front page with a key to publish", "/", ownerKey, 2, staff},
		{"open dataset", "/datasets/garden/catalog/about", "", 0, ""},
		{"open dataset with a key of another", "/datasets/garden/catalog/about", staffKey, 0, ""},
		{"open dataset with a key to read", "/datasets/garden/catalog/about", otherKey, 1, ""},
		{"open dataset with a key to publish", "/datasets/garden/catalog/about", ownerKey, 1, open},
		{"versions with a key to publish", "/datasets/garden/catalog/versions", ownerKey, 1, open},
		{"protected dataset", locked + "/versions", "", 0, ""},
		{"protected dataset with a key for another", locked + "/versions", otherKey, 0, ""},
		{"protected dataset with a key to read", locked + "/versions", staffKey, 1, ""},
		{"protected dataset with a key to publish", locked + "/versions", ownerKey, 1, staff},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, tt.path, "Cookie", "herbarium_key="+tt.key)
			if got := strings.Count(a.body, "ewest file was rejected on"); got != tt.notes {
				t.Errorf("%d notes", got)
			}
			if quoted := strings.Contains(a.body, "quoted"); quoted != (tt.want != "") ||
				!strings.Contains(a.body, tt.want) {
				t.Errorf("the page lacks %q, or quotes a value: %t", tt.want, quoted)
			}
			if tt.notes > 0 && !strings.HasPrefix(a.header.Get("Cache-Control"), "private") {
				t.Errorf("Cache-Control is %s", a.header.Get("Cache-Control"))
			}
			if strings.Contains(a.body, "/srv") {
				t.Error("the page names a folder")
			}
		})
	}
}

// TestRejected_table checks that the table links to the error, also if the browser has the page
// without it.
func TestRejected_table(t *testing.T) {
	t.Parallel()
	s := newSite(t, withRejections)
	const path = "/datasets/garden/catalog"
	before := s.get(t, path)
	if strings.Contains(before.body, "publish failed") {
		t.Error("the public page says that a file was rejected")
	}
	after := s.get(t, path, "Cookie", "herbarium_key="+otherKey, "If-None-Match", before.header.Get("Etag"))
	if after.status != 200 || !strings.Contains(after.body, "publish failed") {
		t.Errorf("with a key: %d", after.status)
	}
}
