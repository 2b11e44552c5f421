package httpapi_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// stock has a composite primary key whose values need escaping.
func stock() (herb.Dataset, []herb.Record) {
	fields := []herb.Field{
		{Name: "site", Type: herb.TypeText, Filterable: true}, {Name: "code", Type: herb.TypeNumber, Filterable: true},
		{Name: "note", Type: herb.TypeText},
	}
	d := herb.Dataset{Ref: herb.Ref{Namespace: "shop", Name: "stock"}, Fields: fields, Version: "v1"}
	d.PrimaryKey = []string{"site", "code"}
	return d, []herb.Record{{"a/b", "1", "x"}, {"a/b", "02", `y"`}, {"é", "1", ""}}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(stock())
	hidden, records := stock()
	hidden.Name, hidden.PrimaryKey = "hidden", []string{"note"}
	s.library.put(hidden, records)
	tests := []struct {
		path   string
		status int
		want   string // body, or part of the message
	}{
		{"/api/v1/shop/stock/data/a%2Fb/1", 200, `{"site":"a/b","code":"1","note":"x"}`},
		{"/api/v1/shop/stock/data/a%2Fb/2", 200, `{"site":"a/b","code":"02","note":"y\""}`},
		{"/api/v1/shop/stock/data/%C3%A9/1?_fields=note,code", 200, `{"note":"","code":"1"}`},
		{"/api/v1/shop/stock/data/e/1", 404, `shop/stock has no record with the key "e/1"`},
		{"/api/v1/shop/stock/data/a/b/1", 404, "the key has 3 values; the primary key of shop/stock is site/code"},
		{"/api/v1/shop/stock/data/a", 404, "the key has 1 value; the primary key of shop/stock is site/code"},
		{"/api/v1/shop/stock/data/x/y", 404,
			`shop/stock has no record with the key "x/y": code is a number field and "y" is not a number`},
		{"/api/v1/shop/hidden/data/x", 404,
			`shop/hidden has no record with the key "x": field "note" is not filterable`},
		{"/api/v1/shop/stock/data/x/1?page=1", 400,
			`unknown parameter "page"; valid parameters: api_key, _fields, _version, _typed, _labels`},
		{"/api/v1/shop/stock/data/x/1?_fields=cod", 400, `did you mean "code"?`},
		{"/api/v1/garden/catalog/data/", 404, `did you mean "/api/v1/garden/catalog/data"?`},
		{"/api/v1/garden/catalog/data/1", 404, "garden/catalog has no primary key"},
		{"/api/v1/locked/staff/data/1", 401, "requires a key"},
		{"/api/v1/no/thing/data/1", 404, "no such dataset"},
	}
	for _, tt := range tests {
		a := s.get(t, tt.path)
		if tt.status == 200 && a.body != tt.want || a.status != tt.status || tt.status != 200 &&
			!strings.Contains(a.message(t), tt.want) {
			t.Errorf("%s gives %d %s", tt.path, a.status, a.body)
		}
	}
	first := s.get(t, tests[0].path)
	if first.header.Get("X-Dataset-Version") != "v1" {
		t.Errorf("got %v", first.header)
	}
	if again := s.get(t, tests[0].path, "If-None-Match: "+first.header.Get("ETag")); again.status != 304 {
		t.Errorf("If-None-Match gives %d", again.status)
	}
	if missing := s.get(t, "/api/v1/shop/stock/data/e/1", "If-None-Match: *"); missing.status != 404 {
		t.Errorf("If-None-Match: * for a missing record gives %d", missing.status)
	}
}

// TestRecord_list checks that a list in a primary key is one value, as written, and not its
// elements.
func TestRecord_list(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, _ := stock()
	d.Fields[0].Type, d.PrimaryKey = herb.TypeList, []string{"code", "site"}
	s.library.put(d, []herb.Record{{"a,b", "1", "x"}, {"a, c", "1", "y"}, {"", "1", "z"}, {"A,b", "2", ""}})
	for path, want := range map[string]string{
		"1/a%2Cb": "x", "1/a%2C%20c": "y", "1/": "z", "1/a": "", "1/b": "", "1/a%2Cc": "", "1/b%2Ca": "", "2/a%2Cb": "",
		"1/a%2Cb%2C": "",
	} {
		a := s.get(t, "/api/v1/shop/stock/data/"+path+"?_fields=note")
		if want == "" && a.status != 404 || want != "" && (a.status != 200 || a.body != `{"note":"`+want+`"}`) {
			t.Errorf("%s gives %d %s", path, a.status, a.body)
		}
	}
}

// TestRecord_tags checks that records whose keys differ only in what is escaped have different
// entity tags.
func TestRecord_tags(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, _ := stock()
	d.Fields[1].Type = herb.TypeText
	s.library.put(d, []herb.Record{{"a/b", "c", "x"}, {"a", "b/c", "y"}})
	one, other := s.get(t, "/api/v1/shop/stock/data/a%2Fb/c"), s.get(t, "/api/v1/shop/stock/data/a/b%2Fc")
	if one.status != 200 || other.status != 200 || one.body == other.body ||
		one.header.Get("ETag") == other.header.Get("ETag") {
		t.Errorf("%s with %v\n%s with %v", one.body, one.header, other.body, other.header)
	}
}

func TestList_fields(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.library.put(stock())
	tests := []struct {
		query  string
		status int
		want   string // part of the body
	}{
		{"?_fields=note,site", 200,
			`{"data":[{"note":"x","site":"a/b"},{"note":"y\"","site":"a/b"},{"note":"","site":"é"}],"meta"`},
		{"?_fields=code&code=2", 200, `{"data":[{"code":"02"}],"meta"`},
		{"?_fields=", 200, `{"site":"a/b","code":"1","note":"x"}`},
		{"?_fields=site,cod", 400, `did you mean \"code\"? fields: code, note, site`},
		{"?_fields=site,,code", 400, `unknown field \"\"`},
		{"?_fields=site,site", 400, `field \"site\" is given more than once`},
		{"?_fields=site&_fields=code", 200, `{"data":[{"site":"a/b","code":"1"},`},
		{".csv?_fields=note,site", 200, "note,site\r\nx,a/b\r\n\"y\"\"\",a/b\r\n,é\r\n"},
		{".ndjson?_fields=code", 200, "{\"code\":\"1\"}\n{\"code\":\"02\"}\n{\"code\":\"1\"}\n"},
		{".xlsx?_fields=code", 200, "PK\x03\x04"},
		{".csv?page=1", 400, "an export has no pages"},
	}
	tags := map[string]string{}
	for _, tt := range tests {
		a := s.get(t, "/api/v1/shop/stock/data"+tt.query)
		if a.status != tt.status || !strings.Contains(a.body, tt.want) {
			t.Errorf("%s gives %d %s", tt.query, a.status, a.body)
		}
		if a.status != 200 {
			continue
		}
		if a.header.Get("X-Total-Count") == "" || a.header.Get("X-Dataset-Version") != "v1" {
			t.Errorf("%s: headers %v", tt.query, a.header)
		}
		if tag := a.header.Get("ETag"); tags[tag] != "" {
			t.Errorf("%s and %s have one ETag", tt.query, tags[tag])
		} else {
			tags[tag] = tt.query
		}
	}
}
