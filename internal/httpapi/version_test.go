package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// withVersions returns a service with an earlier version of two datasets, whose fields differ and
// which need a key where the live ones do not.
func withVersions(t *testing.T) *service {
	t.Helper()
	s := newService(t, nil)
	fields := []herb.Field{
		{Name: "code", Type: herb.TypeText, Filterable: true, Sortable: true},
		{Name: "_version", Type: herb.TypeText, Filterable: true},
	}
	old, _ := catalog()
	old.Version, old.Fields, old.PrimaryKey = "v0", fields, []string{"code"}
	s.library.Keep(old, []herb.Record{{"a", "x"}, {"b", "y"}, {"c", "x"}})
	old.Version, old.Access = "protected", herb.AccessKey
	s.library.Keep(old, []herb.Record{{"secret", "z"}})
	open, records := staff()
	open.Version, open.Access = "open", herb.AccessOpen
	s.library.Keep(open, records)
	return s
}

func TestVersion(t *testing.T) {
	t.Parallel()
	s := withVersions(t)
	const path = "/api/v1/garden/catalog/"
	for _, tt := range []struct {
		target string
		status int
		want   string // part of the body
	}{
		{path + "data?_version=v0&per_page=1&page=2", 200,
			`{"data":[{"code":"b","_version":"y"}],"meta":{"total":3,"page":2`},
		{path + "data?%5Fversion=v0&code=a", 200, `[{"code":"a","_version":"x"}]`},
		{path + "data?_version=v0&_version[eq]=x&_fields=code", 200, `[{"code":"a"},{"code":"c"}]`},
		{path + "data?_version=&per_page=1", 200, `"total":60`},
		{path + "data.csv?_version=v0", 200, "code,_version\r\na,x\r\nb,y\r\nc,x\r\n"},
		{path + "data.ndjson?_version=v0&sort=-code&_fields=code", 200,
			"{\"code\":\"c\"}\n{\"code\":\"b\"}\n{\"code\":\"a\"}\n"},
		{path + "data/b?_version=v0", 200, `{"code":"b","_version":"y"}`},
		{path + "facets?field=_version&_version=v0&buckets=0", 200,
			`"values":[{"value":"x","count":2},{"value":"y","count":1}]`},
		{path + "data?_version=v0&title=a", 400, `unknown parameter \"title\"`}, // of the live version
		{path + "data?_version=v0&_version=v0", 400, `\"_version\" is given more than once`},
		{path + "data?_version=v9", 410,
			`{"error":410,"message":"dataset \"garden/catalog\" has no version \"v9\"; versions: v1, v0, protected"}`},
		{path + "data.csv?_version=v9", 410, "versions: v1, v0, protected"},
		{path + "data/b?_version=v9", 410, "versions: v1, v0, protected"},
		{path + "facets?field=id&_version=v9", 410, "versions: v1, v0, protected"},
		{"/api/v1/store/plants/data?_version=plants-0", 400, "has no versions"},
		{"/api/v1/garden/nothing/data?_version=v0", 404, "garden/nothing"},
	} {
		a := s.get(t, tt.target)
		if a.status != tt.status || !strings.Contains(a.body, tt.want) {
			t.Errorf("%s gives %d %s", tt.target, a.status, a.body)
		}
		if got := a.header.Get("X-Dataset-Version"); a.status == 200 && strings.Contains(tt.target, "ersion=v0") &&
			got != "v0" {
			t.Errorf("%s is answered from version %q", tt.target, got)
		}
	}
	live, old := s.get(t, path+"data?page=1"), s.get(t, path+"data?page=1&_version=v0")
	if live.header.Get("Etag") == old.header.Get("Etag") || !strings.Contains(old.header.Get("Link"), "_version=v0") {
		t.Errorf("headers of two versions: %v and %v", live.header, old.header)
	}
	if a := s.get(t, path+"data?page=1&_version=v0", "If-None-Match: "+old.header.Get("Etag")); a.status != 304 {
		t.Errorf("a conditional request for a version gives %d", a.status)
	}
}

// TestVersion_access: a version requires a key if it or the live version does.
func TestVersion_access(t *testing.T) {
	t.Parallel()
	s := withVersions(t)
	for target, status := range map[string]int{
		"/api/v1/garden/catalog/data?_version=protected":     401,
		"/api/v1/garden/catalog/data.csv?_version=protected": 401,
		"/api/v1/locked/staff/data?_version=open":            401,
		"/api/v1/locked/staff/data?_version=v9":              401, // does not reveal which versions are kept
	} {
		if a := s.get(t, target); a.status != status || strings.Contains(a.body, "secret") {
			t.Errorf("%s without a key gives %d %s", target, a.status, a.body)
		}
		a := s.get(t, target, "X-API-Key: "+reader)
		if gone := strings.HasSuffix(target, "v9"); gone != (a.status == 410) || !gone && a.status != 200 {
			t.Errorf("%s with a key gives %d", target, a.status)
		}
		if got := a.header.Get("Cache-Control"); a.status == 200 && got != "private, no-cache" {
			t.Errorf("%s has Cache-Control: %s", target, got)
		}
	}
	if a := s.get(t, "/api/v1/garden/catalog/data?_version=protected", "X-API-Key: "+oneReader); a.status != 403 {
		t.Errorf("a key without the scope gives %d", a.status)
	}
}
