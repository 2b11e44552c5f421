package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// putRoses adds the dataset a/roses, whose texts have matches.
func putRoses(s *service) {
	fields := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true},
		{Name: "title", Type: herb.TypeText, Searchable: true, Filterable: true},
		{Name: "tags", Type: herb.TypeList, Searchable: true, Filterable: true, Notation: herb.Notation{JSON: true}}}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "roses"}, Fields: fields}, []herb.Record{
		{"1", `A "rose", the Rosé <i>`, `["rose","old \"rose\""]`}, {"2", "Tulip", `["tulip"]`},
		{"3", "Straße", `["Old roses"]`}})
}

// TestMatches checks meta.matches, and that everything else is as without it.
func TestMatches(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putRoses(s)
	for _, tt := range []struct{ params, want string }{
		{"search=rose", `[{"title":["A \"","rose","\", the ","Rosé"," <i>"],"tags":["[\"","rose","\",\"old \\\"","rose","\\\"\"]"]},{"tags":["[\"Old ","roses","\"]"]}]`},
		{"search=rose&_fields=tags,id&_typed=true", `[{"tags":["[\"","rose","\",\"old \\\"","rose","\\\"\"]"]},{"tags":["[\"Old ","roses","\"]"]}]`},
		{"search=rose&_fields=id", `[{},{}]`},
		{"title[contains]=strasse", `[{"title":["","Straße"]}]`},
		{"tags[prefix]=old", `[{"tags":["[\"rose\",\"","old"," \\\"rose\\\"\"]"]},{"tags":["[\"","Old"," roses\"]"]}]`},
		{"title[match]=tulip&tags[eq]=rose&_any=title,tags", `[{},{"title":["","Tulip"]}]`},
		{"", `[{},{},{}]`},
		{"id=9", `[]`},
		{"search=rose&page=2", `[]`},
	} {
		path := "/api/v1/a/roses/data?" + tt.params
		plain, a := s.get(t, path), s.get(t, path+"&_matches=true")
		want := strings.TrimSuffix(plain.body, "}}") + `,"matches":` + tt.want + "}}"
		if a.status != 200 || a.body != want {
			t.Errorf("%s: %s, want %s", tt.params, a.body, want)
		}
		if !json.Valid([]byte(a.body)) {
			t.Errorf("%s: invalid JSON", tt.params)
		}
		off := s.get(t, path+"&_matches=false")
		if tag := plain.header.Get("ETag"); off.body != plain.body || off.header.Get("ETag") != tag ||
			a.header.Get("ETag") == tag {
			t.Errorf("%s: the tags are %s, %s and %s", tt.params, tag, off.header.Get("ETag"), a.header.Get("ETag"))
		}
	}
}

func TestMatches_invalid(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const api = "/api/v1/garden/catalog"
	only := `"_matches" applies to listings in JSON only; leave it out`
	for _, tt := range []struct{ path, accept, want string }{
		{api + "/data?_matches=1", "", `_matches is "1"; it must be true or false`},
		{api + "/data?_matches=true&_matches=true", "", `"_matches" is given more than once`},
		{api + "/data?_matches=true", "text/csv", only},
		{api + "/data.ndjson?_matches=true", "", only},
		{api + "/facets?field=category&_matches=true", "", only},
		{api + "/grid?_x=id&_y=price&_matches=true", "", only},
		{api + "/aggregate?_matches=true", "", only},
		{api + "/data/7?_matches=true", "", `unknown parameter "_matches"`},
		{"/api/v1?_matches=true", "", `unknown parameter "_matches"`},
		{"/api/v1/search?search=rose&_matches=true", "", `unknown parameter "_matches"`},
	} {
		a := s.get(t, tt.path, "Accept: "+tt.accept)
		if a.status != 400 || !strings.Contains(a.message(t), tt.want) {
			t.Errorf("%s: %d %s", tt.path, a.status, a.body)
		}
	}
}

// TestMatches_large checks a page that is larger than a buffer, whose values are read in part.
func TestMatches_large(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{{Name: "text", Type: herb.TypeText, Searchable: true}}
	long := strings.Repeat("tree ", 40_000)
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "long"}, Fields: fields}, []herb.Record{
		{"rose " + long}, {long[:60_000] + "rose " + long}, {long + "rose"}})
	a := s.get(t, "/api/v1/a/long/data?search=rose&_matches=true")
	var body struct {
		Data []map[string]string
		Meta struct{ Matches []map[string][]string }
	}
	must.NoError(t, json.Unmarshal([]byte(a.body), &body))
	if len(body.Data) != 3 || len(a.body) < 3*len(long) {
		t.Fatalf("%d records in %d bytes", len(body.Data), len(a.body))
	}
	for i, matches := range body.Meta.Matches {
		parts := matches["text"]
		beyond := strings.HasPrefix(body.Data[i]["text"], long)
		if beyond != (parts == nil) || !beyond && (len(parts) != 3 || parts[1] != "rose" ||
			!strings.HasSuffix(parts[2], "…") || len(parts[0]) > 60) {
			t.Errorf("record %d has the parts %q", i, parts)
		}
	}
}

// TestMCP_matches checks the column of query_records that says why a row is found.
func TestMCP_matches(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	putRoses(s)
	fields, record := []herb.Field{}, herb.Record{}
	for i := range 9 {
		fields = append(fields, herb.Field{Name: fmt.Sprint("field", i), Type: herb.TypeText, Searchable: true})
		record = append(record, strings.Repeat("a rose ", 12))
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "wide"}, Fields: fields}, []herb.Record{record})

	r := s.callTool(t, "query_records", args{"dataset": "a/roses", "search": `"rose"`, "fields": "title,id",
		"matches": true})
	rows := r.rows(t)
	if got := fmt.Sprintf("%q", rows); got !=
		`[["title" "id" "_matches"] ["A \"rose\", the Rosé <i>" "1" "title: A \"**rose**\", the **Rosé** <i>"]]` {
		t.Errorf("rows %s", got)
	}
	link, err := url.Parse(r.StructuredContent.Permalink)
	must.NoError(t, err)
	a := s.get(t, link.RequestURI())
	if a.status != 200 || !strings.Contains(a.body, `"matches":[{"title":["A \"","rose"`) {
		t.Errorf("the permalink %s returns %s", link, a.body)
	}
	r = s.callTool(t, "query_records", args{"dataset": "a/wide", "search": "rose", "matches": "true"})
	if cell := r.rows(t)[1][9]; !strings.HasPrefix(cell, "field0: a **rose** a **rose**") ||
		!strings.HasSuffix(cell, "; and 6 fields more") || len(cell) > 500 {
		t.Errorf("cell %s", cell)
	}
	r = s.callTool(t, "query_records", args{"dataset": "a/roses", "matches": "yes"})
	if text := r.Content[0].Text; !r.IsError || !strings.Contains(text, `_matches is "yes"; it must be true or false`) {
		t.Errorf("got %s", text)
	}
}
