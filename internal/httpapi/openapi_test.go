package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/programtest"
	"herbarium/internal/query"
)

var update = flag.Bool("update", false, "update the golden files")

// spec is the part of the document that tests use.
type spec struct {
	OpenAPI string
	Info    struct{ Version string }
	Paths   map[string]map[string]struct {
		OperationID string
		Parameters  []struct {
			Ref    string `json:"$ref"`
			Name   string
			In     string
			Schema struct{ Items struct{ Enum []string } }
		}
		Security  []map[string][]string
		Responses map[string]any
	}
	Components struct {
		Parameters map[string]struct{ Name, In string }
		Schemas    map[string]struct {
			Required   []string
			Properties map[string]struct {
				Type string
				Ref  string `json:"$ref"`
			}
		}
		SecuritySchemes map[string]any
	}
}

func readSpec(t *testing.T, s *service) spec {
	t.Helper()
	var d spec
	if err := json.Unmarshal([]byte(s.get(t, "/openapi.json").body), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDocument_routes(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	want := map[string]bool{}
	for _, op := range s.Operations() {
		want[op] = true
	}
	for _, ref := range []string{"garden/catalog", "locked/staff", "odd/a-b.c", "store/plants"} {
		want["GET /api/v1/"+ref+"/data"] = true
		want["GET /api/v1/"+ref+"/facets"] = true
	}
	got := map[string]bool{}
	ids := map[string]bool{}
	d := readSpec(t, s)
	for path, ops := range d.Paths {
		for method, op := range ops {
			got[strings.ToUpper(method)+" "+path] = true
			if ids[op.OperationID] {
				t.Errorf("two operations are called %s", op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-routes +document):\n%s", diff)
	}
	if d.OpenAPI != "3.1.0" || d.Info.Version != "1.0.0" {
		t.Errorf("it is OpenAPI %s, version %s", d.OpenAPI, d.Info.Version)
	}
	for _, name := range []string{"Plant", "NewPlant", "Error", "DataRecord", "Meta", "Listing", "Facets", "Grid",
		"Dataset", "Catalogue"} {
		if _, ok := d.Components.Schemas[name]; !ok {
			t.Errorf("there is no schema %s", name)
		}
	}
	if got := slices.Sorted(maps.Keys(d.Components.SecuritySchemes)); !slices.Equal(got,
		[]string{"apiKeyHeader", "apiKeyQuery", "basic", "bearer"}) {
		t.Errorf("security schemes are %v", got)
	}
}

// TestDocument_parameters checks that the document names the parameters that each operation takes,
// and no others.
func TestDocument_parameters(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d := readSpec(t, s)
	for op, takes := range s.Parameters() {
		method, path, _ := strings.Cut(op, " ")
		got := []string{query.ParamAPIKey}
		for _, p := range d.Paths[path][strings.ToLower(method)].Parameters {
			if p.Ref != "" {
				p.Name, p.In = d.Components.Parameters[filepath.Base(p.Ref)].Name,
					d.Components.Parameters[filepath.Base(p.Ref)].In
			}
			if p.In == "query" && p.Name != query.ParamAPIKey {
				got = append(got, p.Name)
			}
		}
		if ext := filepath.Ext(path); ext == ".csv" || ext == ".xlsx" { // takes it to say which files have types
			takes = slices.DeleteFunc(takes, func(name string) bool { return name == query.ParamTyped })
		}
		slices.Sort(got)
		slices.Sort(takes)
		if diff := cmp.Diff(takes, got); diff != "" {
			t.Errorf("%s (-taken +documented):\n%s", op, diff)
		}
	}
}

func TestDocument_dataset(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d := readSpec(t, s)
	names := func(path string) (names []string) {
		for _, p := range d.Paths[path]["get"].Parameters {
			names = append(names, p.Name+strings.TrimPrefix(p.Ref, "#/components/parameters/"))
		}
		return names
	}
	wantOdd := []string{ // a b&c is filtered with _filter
		"page", "per_page", "order", "search", "bbox", "near", "coordinatesField", "_fields", "labels", "version",
		"typed", "matches", "api_key", "If-None-Match", "X-Request-Id", "filter", "words", "any", "zone",
		"page[eq]", "page[ne]", "page[gt]", "page[gte]", "page[lt]", "page[lte]", "page[in]", "page[prefix]",
		"page[empty]",
	}
	if diff := cmp.Diff(wantOdd, names("/api/v1/odd/a-b.c/data")); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
	wantOdd = append([]string{"field", "top", "offset", "values", "buckets", "scale", "edges", "own_filter", "search",
		"bbox", "near", "coordinatesField"}, slices.DeleteFunc(slices.Clone(wantOdd[9:]),
		func(n string) bool { return n == "typed" || n == "matches" })...)
	if diff := cmp.Diff(wantOdd, names("/api/v1/odd/a-b.c/facets")); diff != "" {
		t.Errorf("parameters of facets (-want +got):\n%s", diff)
	}
	plants := d.Paths["/api/v1/store/plants/data"]["get"]
	if _, gone := plants.Responses["410"]; gone || slices.Contains(names("/api/v1/store/plants/data"), "version") {
		t.Error("the plants have no versions, and their operation has a parameter for them")
	}
	dataset, _ := catalog()
	for _, f := range dataset.Fields {
		if got := names("/api/v1/garden/catalog/data"); !slices.Contains(got, f.Name) ||
			!slices.Contains(got, f.Name+"[eq]") {
			t.Errorf("there is no parameter for %s", f.Name)
		}
		if got := d.Components.Schemas["Record_garden_catalog"]; got.Properties[f.Name].Type != "string" ||
			!slices.Contains(got.Required, f.Name) {
			t.Errorf("records have no member %s", f.Name)
		}
	}
	locked, open := d.Paths["/api/v1/locked/staff/data"]["get"], d.Paths["/api/v1/garden/catalog/data"]["get"]
	if len(locked.Security) != 4 || len(open.Security) != 5 || len(open.Security[0]) != 0 {
		t.Errorf("security of a locked dataset is %v, of an open one %v", locked.Security, open.Security)
	}
	for _, p := range open.Parameters {
		if enum := p.Schema.Items.Enum; p.Name == "sort" && (len(enum) != 2*11 || !slices.Contains(enum, "-price")) {
			t.Errorf("sort takes %v", enum)
		}
	}
	for _, status := range []string{"200", "304", "400", "401", "403", "404", "429", "500", "503"} {
		if _, ok := open.Responses[status]; !ok {
			t.Errorf("a listing has no response %s", status)
		}
	}
}

// putWide adds a dataset with too many fields for individual parameters.
func putWide(s *service, fields int) {
	d := herb.Dataset{Ref: herb.Ref{Namespace: "wide", Name: "fields"}, Version: "v1"}
	for i := range fields {
		d.Fields = append(d.Fields, herb.Field{
			Name: fmt.Sprintf("field_%05d", i), Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true,
		})
	}
	s.library.put(d, nil)
}

// TestDocument_wideDataset checks that all fields are described and that the size of the document
// grows only with their names.
func TestDocument_wideDataset(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const fields = 10_000
	before := len(s.get(t, "/openapi.json?dataset=odd/a-b.c").body)
	putWide(s, fields)
	w := httptest.NewRecorder() // responses are not validated against this document, which would be slow
	s.ServeHTTP(w, request("GET", "/openapi.json?dataset=wide/fields", "", "Accept-Encoding", "identity"))
	if grown := w.Body.Len() - before; grown > fields*200 {
		t.Errorf("%d fields take %d bytes", fields, grown)
	}
	var d spec
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if record := d.Components.Schemas["Record_wide_fields"]; len(record.Properties) != fields ||
		len(record.Required) != fields {
		t.Errorf("records have %d members, %d required", len(record.Properties), len(record.Required))
	}
	for path, names := range map[string][]string{
		"/data":   {"sort"},
		"/facets": {"field"},
	} {
		var got []string
		for _, p := range d.Paths["/api/v1/wide/fields"+path]["get"].Parameters {
			if p.Ref == "" {
				got = append(got, p.Name)
			}
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Errorf("%s: parameters of its own (-want +got):\n%s", path, diff)
		}
	}
}

// TestDocument_oneDataset requests the document of one dataset.
func TestDocument_oneDataset(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	var d spec
	if err := json.Unmarshal([]byte(s.get(t, "/openapi.json?dataset=garden/catalog").body), &d); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Paths["/api/v1/garden/catalog/aggregate"]; !ok {
		t.Error("the aggregates of the dataset are not described")
	}
	if _, ok := d.Paths["/api/v1/locked/staff/data"]; ok {
		t.Error("another dataset is described")
	}
	for target, status := range map[string]int{
		"garden/catalogue": 404, "garden": 400, "Garden/Catalog": 400, "%zz": 400, "&datasets=garden/catalog": 400,
		"garden/catalog&dataset=odd/a-b.c": 400, "garden/catalog&api_key=x": 200,
	} {
		if a := s.get(t, "/openapi.json?dataset="+target); a.status != status {
			t.Errorf("%s: %d %s", target, a.status, a.body)
		}
	}
}

func TestDocument_newDatasets(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	before := s.get(t, "/openapi.json")
	if again := s.get(t, "/openapi.json"); again.header.Get("Etag") != before.header.Get("Etag") ||
		again.body != before.body {
		t.Error("the same datasets give another document")
	}
	// Both have the same identifier.
	for _, name := range []string{"a-b", "a_b"} {
		s.library.put(herb.Dataset{
			Ref: herb.Ref{Namespace: "new", Name: name}, Version: "v1",
			Fields: []herb.Field{{Name: name, Type: herb.TypeText}},
		}, nil)
	}
	after := s.get(t, "/openapi.json")
	if after.header.Get("Etag") == before.header.Get("Etag") {
		t.Error("another dataset gives the same tag")
	}
	d := readSpec(t, s)
	a, b := d.Paths["/api/v1/new/a-b/data"]["get"].OperationID, d.Paths["/api/v1/new/a_b/data"]["get"].OperationID
	if a != "list_new_a_b" || b != "list_new_a_b_2" {
		t.Errorf("operations are called %q and %q", a, b)
	}
	if _, ok := d.Components.Schemas["Record_new_a_b_2"].Properties["a_b"]; !ok {
		t.Error("the schemas were mixed up")
	}
}

// TestDocument_requests checks which requests are valid by the document.
func TestDocument_requests(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	putWide(s, 60)
	d := s.parsedOpenAPI(t)
	for target, valid := range map[string]bool{
		"/api/v1": true, "/api/v1?page=2&per_page=10": true, "/api/v1/garden/catalog": true,
		"/openapi.json": true, "/openapi.json?dataset=garden/catalog": true,
		"/api/v1/garden/catalog/data": true,
		"/api/v1/garden/catalog/data?page=2&per_page=100&sort=price&order=desc&search=green":      true,
		"/api/v1/garden/catalog/data?category=fern&category=moss&tags=green&sort=-category,price": true,
		"/api/v1/garden/catalog/data?api_key=" + reader:                                           true,
		"/api/v1/garden/catalog/data?price[empty]=true":                                           true,

		"/api/v1/wide/fields/data?field_00003=a&field_00003=b&field_00059[prefix]=c&field_00001[empty]=true&sort=field_00001": true,

		"/api/v1/garden/catalog/facets?field=category&field=status&top=3": true,
		"/api/v1/garden/catalog/data?sort=price,prize":                    false,
		"/api/v1/garden/catalog/data?page=0":                              false,
		"/api/v1/garden/catalog/data?page=one":                            false,
		"/api/v1/garden/catalog/data?page=1&page=2":                       false,
		"/api/v1/garden/catalog/facets":                                   false,
		"/api/v1/garden/catalog/facets?field=prize":                       false,
		"/api/v1/garden/catalogue/dates":                                  false,
	} {
		if err := d.checkRequest(request("GET", target, "")); (err == nil) != valid {
			t.Errorf("%s: %v, want valid: %t", target, err, valid)
		}
	}
	for body, valid := range map[string]bool{`{"id":1,"name":"Rose","tag":"shrub","more":1}`: true, `{"id":1}`: false,
		`{"id":"1","name":"Rose"}`: false} {
		if err := d.checkRequest(creation(body)); (err == nil) != valid {
			t.Errorf("creation of %s: %v, want valid: %t", body, err, valid)
		}
	}
}

// putLarge adds datasets with fields of all types. The operations of six datasets do not fit into
// one document.
func putLarge(s *service, datasets int) {
	for n := range datasets {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprintf("d%d", n)}, Version: "v1",
			Access: []herb.Access{herb.AccessOpen, herb.AccessKey}[n%2]}
		for i := range 48 {
			d.Fields = append(d.Fields, herb.Field{
				Name: fmt.Sprintf("f%d", i), Type: herb.Types()[i%len(herb.Types())], Filterable: n != 2,
				Sortable: n != 2 && i > n,
			})
		}
		s.library.put(d, nil)
	}
}

// TestDocument_tooLarge checks that a document which exceeds the limits describes no dataset and
// refers to the documents of single datasets, which are complete.
func TestDocument_tooLarge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		datasets int
		fits     bool
	}{"fits": {1, true}, "too wide": {6, false}, "too many": {201, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, nil)
			putLarge(s, tt.datasets)
			all, one := s.parsedOpenAPI(t), newAPIDocument(t, []byte(s.get(t, "/openapi.json?dataset=many/d0").body))
			reference := fmt.Sprintf("This server has %d datasets. `/openapi.json?dataset=<namespace>/<dataset>` is",
				4+tt.datasets)
			if refers := strings.Contains(s.openAPI(t), reference); refers == tt.fits {
				t.Errorf("the document refers to the documents of datasets: %t", refers)
			}
			if size := len(s.openAPI(t)); size > 1<<20 {
				t.Errorf("the document has %d bytes", size)
			}
			for target, valid := range map[string]bool{
				"/data?page=2&sort=f2&f1=a&f1=b&f3[gte]=c": true,
				"/data?f1[lt]=2&f1[empty]=false":           true,
				"/data?sort=f2,-f1":                        true,
				"/facets?field=f1&top=3&f2=a":              true,
				"/data?sort=unknown":                       false,
				"/facets?field=unknown":                    false,
			} {
				r := request("GET", "/api/v1/many/d0"+target, "")
				if err := one.checkRequest(r); (err == nil) != valid {
					t.Errorf("document of the dataset: %s: %v, want valid: %t", target, err, valid)
				}
				// Operations that apply to any dataset do not restrict the names of fields.
				if err := all.checkRequest(r); (err == nil) != (valid || !tt.fits) {
					t.Errorf("document of all datasets: %s: %v", target, err)
				}
			}
			for path, isShared := range map[string]bool{"/data": true, "/facets": true, "/data.csv": false,
				"/data.ndjson": false, "/data.xlsx": false} {
				pointer := []string{"paths", "/api/v1/many/d0" + path, "get"}
				if operation, _ := one.lookup(pointer...); operation == nil ||
					!strings.Contains(fmt.Sprint(operation), "name:f3 ") {
					t.Errorf("document of the dataset: %s has no parameter f3: %v", path, operation)
				}
				if operation, _ := all.lookup(pointer...); (operation != nil) != (isShared && tt.fits) {
					t.Errorf("document of all datasets: %s is described: %t", path, operation != nil)
				}
			}
			schema := []string{"components", "schemas", "Record_many_d0", "properties"}
			if fields, _ := one.lookup(schema...); fields == nil || len(fields.(map[string]any)) != 48 {
				t.Errorf("document of the dataset: the schema of its records has the fields %v", fields)
			}
			if fields, _ := all.lookup(schema...); (fields != nil) != tt.fits {
				t.Errorf("document of all datasets: the schema of records is described: %t", fields != nil)
			}
		})
	}
}

func TestDocument_golden(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(s.get(t, "/openapi.json").body), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	path := filepath.Join("testdata", "golden", "openapi.json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test -update writes it", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("the document has changed; if intended, run go test -update (-want +got):\n%s", diff)
	}
}

// TestInterop_redocly validates the document of all datasets, of none and of one.
func TestInterop_redocly(t *testing.T) {
	t.Parallel()
	modules, folder := programtest.NodeModules(t, "@redocly/cli"), t.TempDir()
	args := []string{"lint", "--config", filepath.Join(modules, "..", "redocly.yaml"), "--format", "stylish"}
	for name, put := range map[string]func(*service){
		"full.json":    func(s *service) { putWide(s, 60) },
		"generic.json": func(s *service) { putLarge(s, 201) },
		"one.json":     nil,
	} {
		s := newService(t, func(o *httpapi.Options) { o.Pages = pagesOf(homePage) })
		body := ""
		if put != nil {
			put(s)
			body = s.openAPI(t)
		} else {
			s.library.put(stock())
			body = s.get(t, "/openapi.json?dataset=shop/stock").body
		}
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "redocly"), args...)
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("redocly: %v\n%s", err, out)
	}
}

// TestAPIDocument_rejects checks that responses which the document does not describe are detected.
func TestAPIDocument_rejects(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, r := s.parsedOpenAPI(t), request("GET", "/api/v1/garden/catalog/data?per_page=1", "")
	good := s.get(t, r.URL.String())
	for name, change := range map[string]func(*checkedResponse){
		"status":         func(a *checkedResponse) { a.status = 418 },
		"missing header": func(a *checkedResponse) { a.header.Del("Etag") },
		"header":         func(a *checkedResponse) { a.header.Set("X-Total-Count", "many") },
		"content type":   func(a *checkedResponse) { a.header.Set("Content-Type", "text/plain") },
		"not JSON":       func(a *checkedResponse) { a.body += "}" },
		"type of a value": func(a *checkedResponse) {
			a.body = strings.Replace(a.body, `"total":60`, `"total":"60"`, 1)
		},
		"missing member": func(a *checkedResponse) { a.body = strings.Replace(a.body, `"id":"1",`, "", 1) },
		"another member": func(a *checkedResponse) {
			a.body = strings.Replace(a.body, `{"id":`, `{"no":"1","id":`, 1)
		},
		"body of a 304": func(a *checkedResponse) { a.status = 304 },
	} {
		a := good
		a.header = good.header.Clone()
		change(&a)
		if d.checkResponse(r, a.status, a.header, a.body) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
