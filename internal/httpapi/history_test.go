package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// TestVersions lists the versions of a dataset and their reports, for publishers and readers.
func TestVersions(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	if a := p.send(t, "GET", "/versions", ""); a.status != 404 {
		t.Errorf("an unknown dataset gives %d %s", a.status, a.body)
	}
	first := decode[publishedBody](t,
		p.put(t, "?_access=key", prices, `Content-Disposition: attachment; filename="prices.csv"`)).Version
	second := decode[publishedBody](t, p.put(t, "", "id,name,price,kind\n1,Rose,2.50,a\n2,Fern,3,b\n")).Version
	a := p.send(t, "GET", "/versions", "")
	history := decode[struct{ Versions []versions.Summary }](t, a).Versions
	if a.status != 200 || len(history) != 2 || a.header.Get("Cache-Control") != "private, no-cache" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	newest, oldest := history[0], history[1]
	if newest.Version != second || !newest.Live || newest.Records != 2 || len(newest.Changes) != 1 ||
		newest.Changes[0].Kind != versions.FieldAdded || newest.Published.IsZero() {
		t.Errorf("the newest version is %+v", newest)
	}
	if oldest.Version != first || oldest.Live || oldest.Changes != nil || oldest.Bytes != int64(len(prices)) ||
		oldest.Source == nil || oldest.Source.Name != "prices.csv" {
		t.Errorf("the oldest version is %+v", oldest)
	}
	report := func(query, key string) (int, publish.VersionReport) {
		a := p.do(t, request("GET", pricesPath+"/report"+query, "", "X-API-Key: "+key))
		if a.status != 200 {
			return a.status, publish.VersionReport{}
		}
		if !strings.Contains(a.header.Get("Cache-Control"), "private") ||
			!strings.Contains(a.header.Get("Vary"), "X-API-Key") {
			t.Errorf("headers are %v", a.header)
		}
		if again := p.do(t, request("GET", pricesPath+"/report"+query, "", "X-API-Key: "+key, "If-None-Match: "+
			a.header.Get("Etag"))); again.status != 304 {
			t.Errorf("a known report gives %d", again.status)
		}
		return a.status, decode[publish.VersionReport](t, a)
	}
	for query, want := range map[string]int{"": 4, "?_version=" + first: 3, "?_version=" + second: 4} {
		if status, r := report(query, publisher); status != 200 || len(r.Report.Columns) != want || r.Records != 2 ||
			r.Dataset != "shop/prices" {
			t.Errorf("report%s: %d %+v", query, status, r)
		}
	}
	for key, status := range map[string]int{"": 401, unknown: 401, onePub: 200, reader: 200} {
		if got, _ := report("", key); got != status {
			t.Errorf("the report for the key %q: %d", key, got)
		}
	}
	for _, target := range []string{"/report", "/source", "/data", "/data.csv", "/data/1", "/facets?field=id",
		"/rollback", "/aggregate?_measure=count"} {
		for version, status := range map[string]int{"20200101T000000Z-aaaaaaaaaa": 410, "20200101T000000Z": 400,
			"latest!": 400} {
			for _, key := range []string{publisher, reader} {
				if key == reader && (target == "/source" || target == "/rollback") {
					continue
				}
				separator := "?"
				if strings.Contains(target, "?") {
					separator = "&"
				}
				r := request("GET", pricesPath+target+separator+"_version="+version, "", "X-API-Key: "+key)
				if target == "/rollback" {
					r = request("POST", pricesPath+target, `{"to": "`+version+`"}`, "X-API-Key: "+key)
				}
				if a := p.do(t, r); a.status != status || status == 410 &&
					!strings.Contains(a.message(t), second+", "+first) {
					if key == publisher && a.status == 403 { // it may not read the records
						continue
					}
					t.Errorf("version %s, %s, key %s: %d %s", version, target, key, a.status, a.body)
				}
			}
		}
	}
	for key, status := range map[string]int{"": 401, unknown: 401, elsewhere: 403, reader: 200, onePub: 200} {
		a := p.do(t, request("GET", pricesPath+"/versions", "", "X-API-Key: "+key))
		if a.status != status {
			t.Errorf("the versions for the key %q: %d", key, a.status)
		}
		if mayPublish := key == onePub; status == 200 && strings.Contains(a.body, `"prices.csv"`) != mayPublish ||
			strings.Contains(a.body, `"changes":`) != mayPublish {
			t.Errorf("the key %q sees %s", key, a.body)
		}
	}
	if a := p.send(t, "GET", "/versions?page=1", ""); a.status != 400 {
		t.Errorf("an unknown parameter gives %d", a.status)
	}
}

// TestPutSource_force publishes an unchanged file, and the kept one.
func TestPutSource_force(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	version := ""
	for _, send := range []func() checkedResponse{
		func() checkedResponse { return p.put(t, "", prices) },
		func() checkedResponse { return p.put(t, "?_force=true", prices) },
		func() checkedResponse {
			body, contentType := form(t, "prices.csv", prices, "_force", "true")
			return p.put(t, "", body, contentType)
		},
		func() checkedResponse {
			return p.send(t, "PUT", "/descriptor?_force=true&_allow_breaking=true", pricesDescriptor)
		},
		func() checkedResponse { return p.send(t, "PUT", "/descriptor?_force=true", pricesDescriptor) },
	} {
		a := send()
		b := decode[publishedBody](t, a)
		if a.status > 201 || b.Status != "published" || b.Version == version {
			t.Errorf("%d %s", a.status, a.body)
		}
		version = b.Version
	}
	if a := p.send(t, "PATCH", "/source?_mode=append&_force=true", prices); a.status != 400 {
		t.Errorf("a change of records gives %d %s", a.status, a.body)
	}
	body, contentType := form(t, "prices.csv", prices, "_access", "open")
	if a := p.send(t, "PATCH", "/source?_mode=append", body, contentType); a.status != 400 ||
		!strings.Contains(a.message(t), `unknown part "_access"`) {
		t.Errorf("a form with another access gives %d %s", a.status, a.body)
	}
}

// TestPostSource sends forms, which replace the dataset or change its records.
func TestPostSource(t *testing.T) {
	t.Parallel()
	p := newPublishing(t, nil)
	const descriptor = `{"resources": [{"path": "prices.csv", "title": "Prices", "schema": {"primaryKey": "id", "fields": [{"name": "id"}, {"name": "name"}, {"name": "price"}]}}]}`
	steps := []struct {
		query, file string
		parts       []string
		status      int
		want        string // records, or a part of the message
	}{
		{"?_mode=append", prices, nil, 404, "publish it with PUT"},
		{"", prices, []string{"descriptor", descriptor}, 201, "1 Rose 2.50|2 Fern 3"},
		{"?_mode=append", "id,name,price\n3,Moss,4\n", nil, 200, "1 Rose 2.50|2 Fern 3|3 Moss 4"},
		{"?_mode=upsert", "id,name,price,_deleted\n3,Moss,5,\n1,,,true\n", nil, 200, "2 Fern 3|3 Moss 5"},
		{"?_mode=append", prices, []string{"descriptor", descriptor}, 400,
			"changed by the settings of the live version"},
		{"?_mode=append", prices, []string{"_access", "key"}, 400, `unknown part "_access"`},
		{"?_mode=all", prices, nil, 400, "write append or upsert"},
		{"", prices, []string{"_check", "true"}, 200, "2 Fern 3|3 Moss 5"},
		{"", prices, nil, 200, "1 Rose 2.50|2 Fern 3"},
	}
	for _, tt := range steps {
		body, contentType := form(t, "prices.csv", tt.file, tt.parts...)
		a := p.send(t, "POST", "/source"+tt.query, body, contentType)
		switch {
		case a.status != tt.status:
			t.Errorf("%s %q gives %d %s", tt.query, tt.parts, a.status, a.body)
		case a.status > 201 && !strings.Contains(a.message(t), tt.want):
			t.Errorf("%s %q gives %s", tt.query, tt.parts, a.body)
		case a.status <= 201 && p.rows(t) != tt.want:
			t.Errorf("%s %q leads to %s", tt.query, tt.parts, p.rows(t))
		}
	}
	if a := p.send(t, "POST", "/source", prices); a.status != 400 || !strings.Contains(a.message(t), "not a form") {
		t.Errorf("a file gives %d %s", a.status, a.body)
	}
	body, contentType := form(t, "prices.csv", prices)
	if a := p.do(t, request("POST", pricesPath+"/source", body, contentType, "X-API-Key: "+reader)); a.status != 403 {
		t.Errorf("a reader gets %d %s", a.status, a.body)
	}
}
