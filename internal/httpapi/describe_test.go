package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/docs/schemas"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestCatalogue(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	s.create(t, `{"id":7,"name":"Rose"}`)
	var got struct{ Datasets []map[string]any }
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1").body), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{
			"namespace": "garden", "name": "catalog", "title": "The garden", "description": "What grows here.",
			"access":  "open",
			"records": 60.0, "version": "v1", "published_at": "2026-03-20T08:30:00Z",
			"field_names": []any{"id", "title", "description", "category", "status", "date", "url", "image", "price",
				"author", "tags"},
			"links": map[string]any{"self": "/api/v1/garden/catalog", "data": "/api/v1/garden/catalog/data",
				"openapi": "/openapi.json?dataset=garden/catalog"},
		},
		{
			"namespace": "locked", "name": "staff", "access": "key", "records": 3.0, "version": "v1",
			"published_at": "2026-03-20T08:30:00Z", "field_names": []any{"name"},
			"links": map[string]any{"self": "/api/v1/locked/staff", "data": "/api/v1/locked/staff/data",
				"openapi": "/openapi.json?dataset=locked/staff"},
		},
		{
			"namespace": "odd", "name": "a-b.c", "access": "open", "records": 0.0, "version": "v1",
			"published_at": "2026-03-20T08:30:00Z", "field_names": []any{"page", "a b&c", `quo"te<`},
			"links": map[string]any{"self": "/api/v1/odd/a-b.c", "data": "/api/v1/odd/a-b.c/data",
				"openapi": "/openapi.json?dataset=odd/a-b.c"},
		},
		{
			"namespace": "store", "name": "plants", "access": "open", "records": 1.0, "version": "plants-1",
			"field_names": []any{"id", "name", "tag"},
			"links": map[string]any{"self": "/api/v1/store/plants", "data": "/api/v1/store/plants/data",
				"openapi": "/openapi.json?dataset=store/plants"},
		},
	}
	if diff := cmp.Diff(want, got.Datasets); diff != "" {
		t.Errorf("catalogue (-want +got):\n%s", diff)
	}
}

// TestCatalogue_pages follows the links of the catalogue.
func TestCatalogue_pages(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for n := range 150 {
		s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprintf("d%03d", n)}, Version: "v1"}, nil)
	}
	read := func(target string) (names []string, meta query.Meta, link string) {
		t.Helper()
		var body struct {
			Datasets []struct{ Namespace, Name string }
			Meta     query.Meta
		}
		w := httptest.NewRecorder() // not validated against the document of so many datasets, which would be slow
		s.ServeHTTP(w, request("GET", target, "", "Accept-Encoding", "identity"))
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d, %v", target, w.Code, err)
		}
		for _, d := range body.Datasets {
			names = append(names, d.Namespace+"/"+d.Name)
		}
		return names, body.Meta, w.Header().Get("Link")
	}
	first, meta, link := read("/api/v1")
	if want := (query.Meta{Total: 154, Page: 1, PerPage: 100, TotalPages: 2, HasNext: true}); !cmp.Equal(meta, want) ||
		len(first) != 100 {
		t.Errorf("%d datasets, %+v", len(first), meta)
	}
	if want := `</api/v1?page=1>; rel="first", </api/v1?page=2>; rel="next", </api/v1?page=2>; rel="last"`; link != want {
		t.Errorf("Link: %s", link)
	}
	second, _, _ := read("/api/v1?page=2")
	var all []string
	for page := 1; page <= 6; page++ {
		names, meta, _ := read(fmt.Sprintf("/api/v1?per_page=30&page=%d", page))
		all = append(all, names...)
		if meta.HasNext != (page < 6) || meta.HasPrev != (page > 1) || meta.TotalPages != 6 {
			t.Errorf("page %d: %+v", page, meta)
		}
	}
	if diff := cmp.Diff(append(first, second...), all); diff != "" || !slices.IsSorted(all) || len(all) != 154 {
		t.Errorf("pages of 100 and of 30 differ:\n%s", diff)
	}
	if past, meta, _ := read("/api/v1?page=9&api_key=x"); len(past) != 0 || !meta.HasPrev {
		t.Errorf("past the end: %v, %+v", past, meta)
	}
	if some, meta, link := read("/api/v1?search=garden"); len(some) != 1 || meta.Total != 1 ||
		!strings.Contains(link, "search=garden") {
		t.Errorf("a search: %v, %+v, %s", some, meta, link)
	}
	for _, wrong := range []string{"page=0", "page=x", "per_page=-1", "page=1&page=2", "serach=garden",
		"search=a&search=b", "search=" + strings.Repeat("x", 9000)} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("GET", "/api/v1?"+wrong, ""))
		if w.Code != 400 {
			t.Errorf("%s: %d %s", wrong, w.Code, w.Body)
		}
	}
}

func TestDescriptor_parameters(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	if a := s.get(t, "/api/v1/garden/catalog?api_key=x"); a.status != 200 {
		t.Errorf("with a key: %d", a.status)
	}
	a := s.get(t, "/api/v1/garden/catalog?_version=20240229T133000Z-abcdefghij")
	if a.status != 400 || a.message(t) != `unknown parameter "_version"; valid parameters: api_key` {
		t.Errorf("with a version: %d %s", a.status, a.body)
	}
}

func TestDescriptor(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	type field struct {
		Name, Type, Title, Description   string
		Searchable, Filterable, Sortable bool
		Operators                        []string
		MachineType                      string `json:"machine_type"`
		Typed                            bool
	}
	var got struct {
		Namespace, Name, Version string
		Records                  int
		Fields                   []field
	}
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/garden/catalog").body), &got); err != nil {
		t.Fatal(err)
	}
	want := field{
		Name: "price", Type: "number", Title: "Price", Description: "In euros", Filterable: true, Sortable: true,
		Operators:   []string{"eq", "ne", "gt", "gte", "lt", "lte", "in", "prefix", "empty"},
		MachineType: "decimal(3,2)", Typed: true,
	}
	if diff := cmp.Diff(want, got.Fields[8]); diff != "" || got.Records != 60 || got.Version != "v1" ||
		len(got.Fields) != 11 {
		t.Errorf("price (-want +got):\n%s\n%+v", diff, got)
	}
	if err := json.Unmarshal([]byte(s.get(t, "/api/v1/odd/a-b.c").body), &got); err != nil {
		t.Fatal(err)
	}
	if ops := got.Fields[2].Operators; !slices.Equal(ops, []string{"match"}) {
		t.Errorf("a searchable field that is not filterable has operators %v", ops)
	}
	if a := s.get(t, "/api/v1/garden/nothing"); a.status != 404 {
		t.Errorf("an unknown dataset is described: %d", a.status)
	}
}

func TestDescriptor_plantsCurrent(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	records := func() (n int) {
		var d struct{ Records int }
		if err := json.Unmarshal([]byte(s.get(t, "/api/v1/store/plants").body), &d); err != nil {
			t.Fatal(err)
		}
		return d.Records
	}
	if n := records(); n != 0 {
		t.Errorf("%d plants before any was created", n)
	}
	s.create(t, `{"id":7,"name":"Rose"}`)
	if n := records(); n != 1 {
		t.Errorf("%d plants after one was created", n)
	}
}

// detailed adds details to a dataset of the fixture.
func detailed(d herb.Dataset, records []herb.Record) (herb.Dataset, []herb.Record) {
	d.Fields = append(slices.Clone(d.Fields), herb.Field{Name: "left", Type: herb.TypeBoolean, Filterable: true,
		Notation: herb.Notation{
			True: []string{"secretly-left"}, False: []string{"secretly-stays"}, Missing: []string{"secretly-unknown"},
			Affix: "secret-sign"}})
	for i := range records {
		records[i] = append(records[i], "")
	}
	d.Details = herb.Details{
		Order:      herb.Order{Field: "name", Desc: true},
		PrimaryKey: []string{"name"},
		Descriptor: herb.NewDescriptor([]byte(`{"name":"staff","x-unknown":[1.50,null]}`)),
		Report: &herb.Report{
			Format: "csv", Rows: 3, Cells: "sha256:" + strings.Repeat("0", 64), Hidden: []string{"wage"},
			Columns: []herb.ColumnReport{
				{Field: "name", Column: "name", Type: "text", Evidence: "text: 3 of 3", Min: "Ana", Max: "Çelik"}},
		},
	}
	return d, records
}

// TestDescriptor_details checks the details of a version, and who may see those that contain
// values.
func TestDescriptor_details(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	open, records := detailed(staff())
	open.Ref.Name, open.Access = "opened", herb.AccessOpen
	s.library.put(open, records)
	s.library.put(detailed(staff()))
	for _, tt := range []struct {
		name, path, key string
		all             bool
	}{
		{"open", "opened", "", true},
		{"open, wrong key", "opened", unknown, true},
		{"locked", "staff", "", false},
		{"locked, wrong key", "staff", unknown, false},
		{"locked, key of another", "staff", elsewhere, false},
		{"locked, its key", "staff", oneReader, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := s.get(t, "/api/v1/locked/"+tt.path, "X-API-Key: "+tt.key)
			var got map[string]json.RawMessage
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 ||
				a.header.Get("WWW-Authenticate") != "" {
				t.Fatalf("%d %v %s", a.status, err, a.body)
			}
			if string(got["order"]) != `{"field":"name","desc":true}` || string(got["primary_key"]) != `["name"]` {
				t.Errorf("order %s, primary key %s", got["order"], got["primary_key"])
			}
			if !tt.all {
				if got["descriptor"] != nil || got["report"] != nil || strings.Contains(a.body, "Çelik") ||
					strings.Contains(a.body, "typed") || strings.Contains(a.body, "secret") {
					t.Errorf("values are visible without permission to read: %s", a.body)
				}
				return
			}
			if string(got["descriptor"]) != `{"name":"staff","x-unknown":[1.50,null]}` {
				t.Errorf("descriptor %s", got["descriptor"])
			}
			var report herb.Report
			if err := json.Unmarshal(got["report"], &report); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*open.Report, report); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
	for _, path := range []string{"/openapi.json?dataset=locked/staff", "/api/v1"} {
		if body := s.get(t, path).body; strings.Contains(body, "secret") {
			t.Errorf("%s contains values: %s", path, body)
		}
	}
	if body := s.get(t, "/openapi.json?dataset=locked/staff", "X-API-Key: "+oneReader).body; !strings.Contains(body,
		"secretly-left") {
		t.Error("the OpenAPI document of a dataset hides values from those who may read it")
	}
	if n := strings.Count(s.get(t, "/openapi.json").body, "secretly-left"); n != 1 { // of the open one
		t.Errorf("the OpenAPI document has values of %d datasets", n)
	}
	if body := s.get(t, "/api/v1").body; strings.Contains(body, "report") || strings.Contains(body, "primary_key") {
		t.Errorf("the catalogue contains details: %s", body)
	}
}

func TestDescriptorSchema(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.get(t, "/schemas/datapackage.json")
	if a.status != 200 || a.body != schemas.DataPackage || a.header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("got %d, %s: %.100s", a.status, a.header.Get("Content-Type"), a.body)
	}
	if b := s.get(t, "/schemas/datapackage.json", "If-None-Match: "+a.header.Get("ETag")); b.status != 304 {
		t.Errorf("the same again: %d", b.status)
	}
	if c := s.get(t, "/schemas/other.json"); c.status != 404 {
		t.Errorf("another schema: %d", c.status)
	}
}

// TestCatalogue_longNames checks that the list of datasets has only the first names of a dataset
// whose names are long, and that its description has all of them.
func TestCatalogue_longNames(t *testing.T) {
	t.Parallel()
	ref := herb.Ref{Namespace: "long", Name: "names"}
	s := newService(t, nil)
	fields := make([]herb.Field, 200)
	for i := range fields {
		fields[i] = herb.Field{Name: fmt.Sprint(i) + strings.Repeat("x", herb.MaxFieldName), Type: herb.TypeText}
	}
	s.library.put(herb.Dataset{Ref: ref, Version: "v1", Fields: fields}, nil)
	if list := s.get(t, "/api/v1").body; len(list) > 2*herb.MaxListedNames || !strings.Contains(list, `"0xxx`) {
		t.Errorf("the list has %d bytes", len(list))
	}
	if one := s.get(t, "/api/v1/long/names").body; !strings.Contains(one, `"199xxx`) {
		t.Error("the description lacks fields")
	}
}
