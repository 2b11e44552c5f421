package httpapi_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// toolResult is the result of a tool call.
type toolResult struct {
	Content           []struct{ Type, Text string }
	StructuredContent struct {
		Total, From, To              int
		Version, Permalink, Cut, CSV string
		Suggestions                  []query.Suggestion
	}
	IsError bool
}

// text returns the text of a result: the head line, and what follows it.
func (r toolResult) text() (head, rest string) {
	head, rest, _ = strings.Cut(r.Content[0].Text, "\n")
	return head, rest
}

// rows returns the rows of a result without notes, the names of the columns first.
func (r toolResult) rows(t *testing.T) [][]string {
	t.Helper()
	_, rest := r.text()
	if strings.HasPrefix(rest, "whole dataset as a file: ") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	rows, err := csv.NewReader(strings.NewReader(rest)).ReadAll()
	if err != nil {
		t.Fatalf("%v in %s", err, rest)
	}
	return rows
}

// message sends a message to POST /mcp.
func (s *service) message(t *testing.T, body string, headers ...string) checkedResponse {
	t.Helper()
	return s.do(t, request("POST", "/mcp", body, append([]string{"Content-Type: application/json"}, headers...)...))
}

// callTool calls a tool with arguments, which are names and values in turn.
func (s *service) callTool(t *testing.T, tool string, arguments map[string]any, headers ...string) toolResult {
	t.Helper()
	return s.callToolAt(t, "/mcp", tool, arguments, headers...)
}

func (s *service) callToolAt(t *testing.T, target, tool string, arguments map[string]any,
	headers ...string) toolResult {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	must.NoError(t, err)
	a := s.do(t, request("POST", target, string(body),
		append([]string{"Content-Type: application/json"}, headers...)...))
	var m struct{ Result toolResult }
	if err := json.Unmarshal([]byte(a.body), &m); err != nil || a.status != 200 || len(m.Result.Content) != 1 {
		t.Fatalf("%s %v: %d %v %s", tool, arguments, a.status, err, a.body)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control is %q", a.header.Get("Cache-Control"))
	}
	return m.Result
}

type args = map[string]any

// TestMCP_tools checks what a model reads before it calls anything.
func TestMCP_tools(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	a := s.message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	const bytesPerToken = 3 // of JSON in English; tokenizers need between 3.2 and 4
	if most := 3_000 * bytesPerToken; len(a.body) > most {
		t.Errorf("the list of tools has %d bytes; want at most %d, about 3,000 tokens", len(a.body), most)
	}
	var list struct {
		Result struct {
			Tools []struct {
				Name, Title, Description string
				Annotations              struct{ ReadOnlyHint bool }
				InputSchema              struct {
					Properties map[string]struct{ Description string }
					Required   []string
				}
				OutputSchema map[string]any
			}
		}
	}
	must.NoError(t, json.Unmarshal([]byte(a.body), &list))
	got := map[string]string{}
	for _, tool := range list.Result.Tools {
		var names []string
		for name, p := range tool.InputSchema.Properties {
			names = append(names, name)
			if !regexp.MustCompile(`: (\[?"|\d)`).MatchString(p.Description) {
				t.Errorf("%s of %s has no example: %s", name, tool.Name, p.Description)
			}
		}
		slices.Sort(names)
		got[tool.Name] = strings.Join(names, " ") + "; " + strings.Join(tool.InputSchema.Required, " ")
		if !tool.Annotations.ReadOnlyHint || tool.Title == "" || tool.Description == "" ||
			tool.OutputSchema["type"] != "object" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
	}
	want := map[string]string{
		"search_datasets":  "page per_page query; ",
		"describe_dataset": "dataset fields page per_page version; dataset",
		"query_records":    "any_of bbox dataset fields filters matches near page per_page search sort version; dataset",
		"aggregate":        "any_of bbox by dataset filters having measures near page per_page search sort version; dataset",
		"get_record":       "dataset fields key version; dataset key",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if strings.Contains(a.body, `"default"`) {
		t.Error("a schema has a default")
	}
}

// TestMCP_results checks results, whose permalinks return the same values.
func TestMCP_results(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, tt := range []struct {
		tool       string
		arguments  args
		head, path string
		rows       [][]string
	}{
		{
			"query_records", args{"dataset": "garden/catalog", "filters": []string{"category=fern", "price[lt]=2"},
				"sort": []string{"-price", "id"}, "fields": []string{"id", "price"}, "per_page": 2},
			"rows 1–2 of 6 (exact), next page 2 of 3; version v1; ",
			"/api/v1/garden/catalog/data?_filter=category=fern&_filter=price[lt]=2&sort=-price,id&_fields=id,price&per_page=2&_version=v1",
			[][]string{{"id", "price"}, {"2", "1.50"}, {"23", "1.50"}},
		},
		{ // as models write it
			"query_records", args{"dataset": "garden/catalog", "filters": "category=fern", "sort": `["-id"]`,
				"fields": "id,title", "page": "2", "per_page": 3, "search": nil, "version": ""},
			"rows 4–6 of 20 (exact), next page 3 of 7; version v1; ",
			"/api/v1/garden/catalog/data?_filter=category=fern&sort=-id&_fields=id,title&page=2&per_page=3&_version=v1",
			[][]string{{"id", "title"}, {"50", "Plant <50>"}, {"47", "Plant <47>"}, {"44", "Plant <44>"}},
		},
		{
			"query_records", args{"dataset": "garden/catalog", "search": "nothing", "fields": []string{"id"}},
			"no rows: 0 (exact); version v1; ",
			"/api/v1/garden/catalog/data?search=nothing&_fields=id&per_page=50&_version=v1", [][]string{{"id"}},
		},
		{
			"query_records", args{"dataset": "garden/catalog", "filters": []string{"category=moss"},
				"fields": []string{"id"}, "page": 9},
			"no rows on page 9, the last one is 1: 20 (exact); version v1; ",
			"/api/v1/garden/catalog/data?_filter=category=moss&_fields=id&page=9&per_page=50&_version=v1",
			[][]string{{"id"}},
		},
		{
			"aggregate", args{"dataset": "garden/catalog", "by": []string{"category"},
				"measures": []string{"count", "sum:price"}, "filters": []string{"id[lte]=7"},
				"sort": []string{"-sum:price"}},
			"groups 1–3 of 3 (exact) over 7 records (exact); version v1; ",
			"/api/v1/garden/catalog/aggregate.csv?_by=category&_measure=count&_measure=sum:price&_filter=id[lte]=7&_sort=-sum:price&_top=100&_version=v1",
			[][]string{{"category", "count", "sum:price"}, {"tree", "3", "10.50"}, {"moss", "2", "8.00"},
				{"fern", "2", "6.00"}},
		},
		{
			"aggregate", args{"dataset": "garden/catalog"},
			"groups 1–1 of 1 (exact) over 60 records (exact); version v1; ",
			"/api/v1/garden/catalog/aggregate.csv?_top=100&_version=v1", [][]string{{"count"}, {"60"}},
		},
		{
			"aggregate", args{"dataset": "garden/catalog", "by": "category", "page": 2, "per_page": 2},
			"groups 3–3 of 3 (exact) over 60 records (exact); version v1; ",
			"/api/v1/garden/catalog/aggregate.csv?_by=category&_top=2&_offset=2&_version=v1",
			[][]string{{"category", "count"}, {"tree", "20"}},
		},
	} {
		r := s.callTool(t, tt.tool, tt.arguments)
		head, _ := r.text()
		want := tt.head + "http://example.com" + tt.path
		if head != want || !strings.HasSuffix(want, "; "+r.StructuredContent.Permalink) ||
			r.StructuredContent.CSV != "" {
			t.Errorf("%s %v:\n%s\nwant\n%s\n%+v", tt.tool, tt.arguments, head, want, r)
		}
		if diff := cmp.Diff(tt.rows, r.rows(t)); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", tt.tool, tt.arguments, diff)
		}
		link, err := url.Parse(r.StructuredContent.Permalink)
		must.NoError(t, err)
		a := s.get(t, link.RequestURI())
		for _, row := range tt.rows[1:] {
			for _, cell := range row {
				if !strings.Contains(a.body, cell) && !strings.Contains(a.body, `"`+cell) {
					t.Errorf("the permalink %s does not return %q: %s", link, cell, a.body)
				}
			}
		}
		if a.status != 200 {
			t.Errorf("the permalink %s gives %d", link, a.status)
		}
	}
}

// TestMCP_record gets records whose values are cut, and fields that do not fit.
func TestMCP_record(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{{Name: "a b", Type: herb.TypeText, Filterable: true},
		{Name: "c", Type: herb.TypeText, Filterable: true}}
	for i := range 8 {
		fields = append(fields, herb.Field{Name: fmt.Sprint("long", i), Type: herb.TypeText})
	}
	record := herb.Record{"x/y", ""}
	for range 8 {
		record = append(record, strings.Repeat("å,\"", 2_000))
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "big", Name: "cells"}, Fields: fields,
		Details: herb.Details{PrimaryKey: []string{"a b", "c"}}}, []herb.Record{record})

	r := s.callTool(t, "get_record", args{"dataset": "big/cells", "key": []string{"x/y", ""},
		"fields": []string{"c", "long3"}})
	if head, rest := r.text(); head != "1 record of big/cells; version v1; "+
		"http://example.com/api/v1/big/cells/data/x%2Fy/?_fields=c,long3&_version=v1; "+
		"cells of long3 were cut at 5120 characters, as marked: the permalink has them whole" ||
		!strings.HasPrefix(rest, "field,value\nc,\nlong3,\"å,\"\"å") ||
		!strings.HasSuffix(rest, "å,…[+880 characters]\"\n") {
		t.Errorf("got %.3000s", r.Content[0].Text)
	}
	r = s.callTool(t, "get_record", args{"dataset": "big/cells", "key": []string{"x/y", ""}})
	if head, _ := r.text(); len(r.Content[0].Text) > 20<<10 ||
		!regexp.MustCompile(`; \d fields are missing, because a result has at most 20 KiB: repeat with fields long\d`).MatchString(head) {
		t.Errorf("%d bytes: %s", len(r.Content[0].Text), head)
	}
	r = s.callTool(t, "query_records", args{"dataset": "big/cells", "fields": []string{"long0", "long1"}})
	if head, rest := r.text(); !strings.HasSuffix(head,
		"; cells of long0, long1 were cut at 500 characters, as marked: get_record has them whole") ||
		strings.Count(rest, "…[+5,500 characters]") != 2 {
		t.Errorf("got %s", r.Content[0].Text)
	}
}

// TestMCP_continue follows the advice of head lines until there is nothing more: every record was
// there, and no result is too large.
func TestMCP_continue(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	fields := []herb.Field{{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "text", Type: herb.TypeText}}
	var records []herb.Record
	for i := range 400 {
		records = append(records, herb.Record{strconv.Itoa(i), strings.Repeat("é", 10+i*7919%700)})
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "big", Name: "rows"}, Fields: fields}, records)
	again := regexp.MustCompile(`repeat with page (\d+) and per_page (\d+)`)
	next := regexp.MustCompile(`, next page (\d+) of`)
	seen := map[string]bool{}
	call := args{"dataset": "big/rows", "per_page": "100"}
	for n := 0; ; n++ {
		r := s.callTool(t, "query_records", call)
		head, _ := r.text()
		if len(r.Content[0].Text) > 20<<10 || n > 400 {
			t.Fatalf("call %d has %d bytes: %s", n, len(r.Content[0].Text), head)
		}
		for _, row := range r.rows(t)[1:] {
			seen[row[0]] = true
		}
		if m := again.FindStringSubmatch(head); m != nil {
			call["page"], call["per_page"] = m[1], m[2]
		} else if m := next.FindStringSubmatch(head); m != nil {
			call["page"] = m[1]
		} else {
			break
		}
	}
	if len(seen) != len(records) {
		t.Errorf("%d of %d records were listed", len(seen), len(records))
	}
	r := s.callTool(t, "query_records", args{"dataset": "big/rows"})
	if _, rest := r.text(); !strings.HasPrefix(rest,
		"whole dataset as a file: http://example.com/api/v1/big/rows/data.") {
		t.Errorf("the address of the whole dataset is missing: %.300s", rest)
	}
}

func TestMCP_describe(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r := s.callTool(t, "describe_dataset", args{"dataset": "garden/catalog"})
	text := r.Content[0].Text
	for _, want := range []string{
		"garden/catalog: 60 records (exact), 11 fields; version v1; " +
			"http://example.com/api/v1/garden/catalog/facets?field=id&",
		"\ntitle: The garden\n", "\ndescription: What grows here.\n",
		"http://example.com/api/v1/garden/catalog/data.csv?_version=v1\n",
		"\nprice,number,\"decimal(3,2)\",filter sort,0,7,0.50,6.50,\"0.50 (9), 1.50 (9), 2.50 (9), 3.50 (9), 4.50 " +
			"(8)\",price[gte]=0.50,Price In euros\n",
		"\ncategory,text,text,filter search sort,0,3,,,\"fern (20), moss (20), tree (20)\",category[eq]=fern,\n",
		"\nfirst 3 records:\nid,title,", "\n3,Plant <3>,",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	r = s.callTool(t, "describe_dataset", args{"dataset": "garden/catalog", "fields": []string{"price"}})
	if text := r.Content[0].Text; strings.Contains(text, "category") ||
		!strings.Contains(text, "\nprice\n0.50\n1.50\n2.50\n") {
		t.Errorf("got %s", text)
	}
	var wide []herb.Field
	for i := range 700 {
		wide = append(wide, herb.Field{Name: fmt.Sprintf("field number %d", i), Type: herb.TypeText, Filterable: true,
			Description: strings.Repeat("x", 60)})
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "big", Name: "wide"}, Fields: wide},
		[]herb.Record{make(herb.Record, 700)})
	r = s.callTool(t, "describe_dataset", args{"dataset": "big/wide"})
	if head, _ := r.text(); len(r.Content[0].Text) > 20<<10 ||
		!regexp.MustCompile(`: 1 record \(exact\), 700 fields, fields 1–100 of 700 \(exact\), next page 2 of 7; `).MatchString(head) {
		t.Errorf("%d bytes: %s", len(r.Content[0].Text), head)
	}
}

func TestMCP_searchDatasets(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r := s.callTool(t, "search_datasets", nil)
	head, rest := r.text()
	if head != "datasets 1–4 of 4 (exact); http://example.com/api/v1" ||
		!strings.Contains(rest, "\nlocked/staff,,3,requires a key,v1,name,\n") {
		t.Errorf("got %s", r.Content[0].Text)
	}
	r = s.callTool(t, "search_datasets", args{"query": "gard"})
	if head, rest := r.text(); head != "datasets 1–1 of 1 (exact); http://example.com/api/v1?search=gard" ||
		!strings.Contains(rest, "\ngarden/catalog,The garden,60,open,v1,\"id, title,") {
		t.Errorf("got %s", r.Content[0].Text)
	}
	r = s.callTool(t, "search_datasets", args{"query": "everywhere"}) // in records only
	if head, rest := r.text(); head != "datasets 1–1 of 1 (exact) with 60 matching records; "+
		"http://example.com/api/v1/search?search=everywhere" ||
		!strings.Contains(rest, "\ngarden/catalog,The garden,60\n") {
		t.Errorf("got %s", r.Content[0].Text)
	}
	r = s.callTool(t, "search_datasets", args{"query": "names of garden prices"}) // some words
	if head, rest := r.text(); head != "datasets 1–1 of 1 (exact); "+
		"http://example.com/api/v1?search=names+of+garden+prices" ||
		!strings.HasPrefix(rest, "0 datasets have all words; the others have some, which the last column names; ") ||
		!strings.Contains(rest, "\ngarden/catalog,The garden,60,open,v1,") ||
		!strings.HasSuffix(rest, ",What grows here.,garden\n") {
		t.Errorf("got %s", r.Content[0].Text)
	}
	for key, want := range map[string]string{"": "no datasets: 0 (exact) with 0 matching records;",
		reader: "datasets 1–1 of 1 (exact) with"} {
		r := s.callTool(t, "search_datasets", args{"query": "Çelik"}, "X-API-Key: "+key)
		if head, rest := r.text(); !strings.HasPrefix(head, want) ||
			strings.Contains(rest, "have records that match") != (key != "") {
			t.Errorf("key %q: %s\n%s", key, head, rest)
		}
	}
}

// TestMCP_version queries an earlier version, and one that is not kept.
func TestMCP_version(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	d, records := catalog()
	d.Version = "v0"
	s.library.Keep(d, records[:5])
	r := s.callTool(t, "aggregate", args{"dataset": "garden/catalog", "version": "v0"})
	if head, _ := r.text(); head != "groups 1–1 of 1 (exact) over 5 records (exact); version v0; "+
		"http://example.com/api/v1/garden/catalog/aggregate.csv?_top=100&_version=v0" {
		t.Errorf("got %s", head)
	}
	s.create(t, `{"id":1,"name":"Rose"}`)
	r = s.callTool(t, "query_records", args{"dataset": "store/plants"})
	if head, _ := r.text(); head != "rows 1–1 of 1 (exact); http://example.com/api/v1/store/plants/data?per_page=50" {
		t.Errorf("got %s", head)
	}
}

// TestMCP_errors compares the errors of tools with those of the same request to the API.
func TestMCP_errors(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const data, aggregate = "/api/v1/garden/catalog/data", "/api/v1/garden/catalog/aggregate"
	catalog := func(more args) args {
		more["dataset"] = "garden/catalog"
		return more
	}
	for _, tt := range []struct {
		tool      string
		arguments args
		target    string // of the API; empty: the message is want
		want      string
	}{
		{"query_records", catalog(args{"filters": []string{"categry=tree"}}), data + "?_filter=categry%3Dtree",
			`did you mean "category"?`},
		{"query_records", catalog(args{"filters": []string{"price[gt]=cheap"}}),
			data + "?_filter=price%5Bgt%5D%3Dcheap", "price"},
		{"query_records", catalog(args{"filters": []string{"price[above]=1"}}),
			data + "?_filter=price%5Babove%5D%3D1", "above"},
		{"query_records", catalog(args{"filters": []string{"tree"}}), data + "?_filter=tree", "write field=value"},
		{"query_records", catalog(args{"sort": []string{"prize"}}), data + "?sort=prize", `did you mean "price"?`},
		{"query_records", catalog(args{"fields": []string{"titel"}}), data + "?_fields=titel", `did you mean "title"?`},
		{"query_records", catalog(args{"page": 0}), data + "?page=0", "page"},
		{"query_records", catalog(args{"page": -1.5}), data + "?page=-1.5", "page"},
		{"query_records", catalog(args{"per_page": "many"}), data + "?per_page=many", "per_page"},
		{"query_records", catalog(args{"version": "v7"}), data + "?_version=v7", "v1"},
		{"describe_dataset", catalog(args{"version": "v7"}), data + "?_version=v7", "v1"},
		{"query_records", args{"dataset": "garden/catalogue"}, "/api/v1/garden/catalogue/data", "no such dataset"},
		{"query_records", args{"dataset": "store/plants", "version": "v1"}, "/api/v1/store/plants/data?_version=v1",
			"no versions"},
		{"aggregate", catalog(args{"measures": []string{"total:price"}}), aggregate + "?_measure=total:price", "total"},
		{"aggregate", catalog(args{"by": []string{"date:moon"}}), aggregate + "?_by=date:moon", "moon"},
		{"aggregate", catalog(args{"by": []string{"id", "title", "date"}}), aggregate + "?_by=id&_by=title&_by=date",
			"at most 2"},
		{"aggregate", catalog(args{"measures": []string{"sum:title"}}), aggregate + "?_measure=sum:title", "title"},
		{"aggregate", catalog(args{"sort": []string{"-total"}}), aggregate + "?_sort=-total", "total"},
		{"aggregate", catalog(args{"page": 0}), data + "?page=0", "page"},
		{"get_record", catalog(args{"key": []string{"1"}}), data + "/1", "no primary key"},
		{"query_records", catalog(args{"search": strings.Repeat("word ", 40)}), data + "?search=" +
			strings.Repeat("word+", 40), "32"},
		{"query_records", args{}, "", "dataset is missing; Name as search_datasets lists it"},
		{"query_records", args{"dataset": "garden"}, "", `"garden" does not name a dataset; write namespace/dataset`},
		{"query_records", catalog(args{"filter": "category=tree"}), "",
			`unknown argument "filter"; did you mean "filters"? arguments of query_records: dataset, search,`},
		{"query_records", catalog(args{"filters": args{"category": "tree"}}), "",
			"filters must be a list of texts; Conditions on fields"},
		{"query_records", catalog(args{"filters": make([]int, 1001)}), "", "filters has too many elements"},
		{"query_records", catalog(args{"filters": slices.Repeat([]string{"title=" + strings.Repeat("x", 100)}, 99)}),
			"", "at most 8 KiB"},
		{"search_datasets", args{"query": "x", "page": "two"}, "/api/v1?page=two", "page"},
	} {
		r := s.callTool(t, tt.tool, tt.arguments)
		got := r.Content[0].Text
		if !r.IsError || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %s", tt.tool, tt.arguments, got)
		}
		if tt.target == "" {
			continue
		}
		if a := s.get(t, tt.target); a.status < 400 || a.message(t) != got {
			t.Errorf("%s %v: %s\nGET %s: %d %s", tt.tool, tt.arguments, got, tt.target, a.status, a.body)
		}
	}
}

// TestMCP_keys reads a protected dataset with every kind of key. The HTTP status is always 200: 401
// would start a login that this server does not have.
func TestMCP_keys(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	for _, tt := range []struct {
		target, header, want string
	}{
		{"/mcp", "X-None: 1", "dataset locked/staff requires a key with the scope data:read:locked/staff or " +
			"data:read:locked/* or data:read; ask the user"},
		{"/mcp", "Authorization: Bearer " + elsewhere,
			"the key of this connection is valid, but lacks the scope for dataset locked/staff; it needs " +
				"data:read:locked/staff or"},
		{"/mcp", "Authorization: Bearer " + unknown, "there is no such key"},
		{"/mcp", "Authorization: Bearer " + reader, ""},
		{"/mcp", "X-API-Key: " + herdReader, ""},
		{"/mcp?api_key=" + oneReader, "X-None: 1", ""},
	} {
		for _, tool := range []string{"query_records", "aggregate", "describe_dataset"} {
			r := s.callToolAt(t, tt.target, tool, args{"dataset": "locked/staff"}, tt.header)
			text := r.Content[0].Text
			if r.IsError != (tt.want != "") || !strings.HasPrefix(text, tt.want) || r.IsError &&
				strings.Contains(text, "Ana") || strings.Contains(text, "herb_") {
				t.Errorf("%s %s %s: %s", tool, tt.target, tt.header, text)
			}
		}
		r := s.callToolAt(t, tt.target, "query_records", args{"dataset": "garden/catalog", "per_page": 1}, tt.header)
		if r.IsError {
			t.Errorf("%s %s: an open dataset gives %s", tt.target, tt.header, r.Content[0].Text)
		}
	}
	if log := s.log.String(); strings.Contains(log, "ABCDEFGHIJ") ||
		!strings.Contains(log, `"query":"per_page=50","status":200`) ||
		!strings.Contains(log, `"tool":"query_records","tool_status":401,"dataset":"locked/staff"`) ||
		!strings.Contains(log, `"key_id":"herdreader","key_verified":true`) {
		t.Errorf("log: %s", log)
	}
}

// TestMCP_structured checks that rows are in one place: in the structured content for clients that
// drop the text.
func TestMCP_structured(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	call := args{"dataset": "garden/catalog", "fields": []string{"id"}, "per_page": 2}
	for _, tt := range []struct{ target, header string }{
		{"/mcp?_result=structured", "User-Agent: other"},
		{"/mcp", "User-Agent: claude-code/2.1.204 (cli)"},
	} {
		r := s.callToolAt(t, tt.target, "query_records", call, tt.header)
		_, rest := r.text()
		if got := r.StructuredContent; rest != "" || !strings.HasSuffix(got.CSV, "\nid\n1\n2\n") || got.Total != 60 ||
			got.From != 1 || got.To != 2 || got.Version != "v1" {
			t.Errorf("%v: %+v", tt, r)
		}
	}
	if a := s.do(t, request("POST", "/mcp?_result=text", "{}", "Content-Type: application/json")); a.status != 400 {
		t.Errorf("another value gives %d", a.status)
	}
}

// TestMCP_messages sends messages of all versions of the protocol, and messages that are rejected.
func TestMCP_messages(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"aggregate","arguments":{"dataset":"garden/catalog"}}}`
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	modern := []string{"Mcp-Protocol-Version: 2026-07-28"}
	for _, tt := range []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			nil, 200, `"protocolVersion":"2025-06-18"`},
		{"initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil, 202, ""},
		{"ping", `{"jsonrpc":"2.0","id":"x","method":"ping"}`, nil, 200, `"id":"x"`},
		{"without initialize", call, nil, 200, `over 60 records`},
		{"2024-11-05", call, []string{"Mcp-Protocol-Version: 2024-11-05"}, 200, `over 60 records`},
		{"2025-11-25", call, []string{"Mcp-Protocol-Version: 2025-11-25", "Mcp-Session-Id: gone", "Last-Event-ID: x_1"},
			200, `over 60 records`},
		{"2026-07-28", strings.Replace(call, `"arguments"`, meta+`,"arguments"`, 1),
			append(modern, "Mcp-Method: tools/call", "Mcp-Name: aggregate"), 200, `over 60 records`},
		{"discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`,
			append(modern, "Mcp-Method: server/discover"), 200, `2025-06-18`},
		{"a listening client", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{` + meta +
			`,"notifications":{}}}`,
			append(modern, "Mcp-Method: subscriptions/listen"), 404, `"code":-32601,"message":"method not found`},
		{"an unknown version", call, []string{"Mcp-Protocol-Version: 2020-01-01"}, 400, "Unsupported protocol version"},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/destroy"}`, nil, 400, "tools/destroy"},
		{"an unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"drop_table","arguments":{}}}`, nil, 200, "drop_table"},
		{"arguments that are none",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"aggregate","arguments":[1]}}`, nil, 200,
			"must be a JSON object"},
		{"a batch", "[" + call + "," + call + "]", nil, 400, "send one JSON-RPC message per request"},
		{"an empty body", "", nil, 400, "one JSON object"},
		{"two values", call + call, nil, 400, "one JSON object"},
		{"malformed JSON", `{"jsonrpc":`, nil, 400, "malformed"},
		{"another version of JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400, "version"},
		{"deep JSON", strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), nil, 400, "32 levels"},
		{"deep arrays", `{"a":` + strings.Repeat("[", 30_000) + strings.Repeat("]", 30_000) + "}", nil, 400,
			"32 levels"},
		{"a large body", `{"a":"` + strings.Repeat("x", 64<<10) + `"}`, nil, 400, "larger than 64 KiB"},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, request("POST", "/mcp", tt.body, append(tt.headers, "Content-Type: application/json")...))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: %d %s", tt.name, w.Code, w.Body)
		}
		if a := (checkedResponse{w.Code, w.Header(), w.Body.String()}); w.Code == 400 && a.message(t) == "" {
			t.Errorf("%s: no message in %s", tt.name, a.body)
		}
	}
	if a := s.do(t, request("POST", "/mcp", call, "Content-Type: text/plain")); a.status != 400 {
		t.Errorf("another type of body gives %d", a.status)
	}
	if a := s.get(t, "/mcp"); a.status != 405 || a.header.Get("Allow") != "POST, OPTIONS" {
		t.Errorf("GET gives %d, Allow: %s", a.status, a.header.Get("Allow"))
	}
	a := s.do(t, request("OPTIONS", "/mcp", "", "Origin: https://app.example", "Access-Control-Request-Method: POST"))
	if a.status != 204 || !strings.Contains(a.header.Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version") ||
		a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a preflight gives %d %v", a.status, a.header)
	}
	off := newService(t, func(o *httpapi.Options) { o.Agents = false })
	if a := off.message(t, call); a.status != 404 {
		t.Errorf("a server without tools gives %d", a.status)
	}
}

// TestMCP_proxy calls a tool through a proxy on the same machine, from a page of another site: the
// name of the server is not that of the machine.
func TestMCP_proxy(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	r, err := http.NewRequest("POST", "http://"+s.listen(t)+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	must.NoError(t, err)
	r.Host = "data.example.org"
	for name, value := range map[string]string{"Content-Type": "application/json", "Origin": "https://agent.example",
		"Sec-Fetch-Site": "cross-site"} {
		r.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(r)
	must.NoError(t, err)
	defer a.Body.Close()
	if a.StatusCode != 200 || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got %d", a.StatusCode)
	}
}

// TestMCP_faults lets calls fail in every way. None ends the server, and each is counted as the
// same request to the API.
func TestMCP_faults(t *testing.T) {
	t.Parallel()
	var seen []response.Observation
	newObserved := func(timeout time.Duration) *service {
		return newService(t, func(o *httpapi.Options) {
			o.RequestTimeout = timeout
			o.Observe = func(x response.Observation) { seen = append(seen, x) }
		})
	}
	call := args{"dataset": "garden/catalog"}
	check := func(s *service, status int, want string) {
		t.Helper()
		r := s.callTool(t, "query_records", call)
		if last := seen[len(seen)-1]; !r.IsError || !strings.Contains(r.Content[0].Text, want) ||
			last.Tool != "query_records" || last.ToolStatus != status || last.Status != 200 || last.Route != "/mcp" {
			t.Errorf("%s: %+v", r.Content[0].Text, last)
		}
	}
	slow := newObserved(50 * time.Millisecond)
	slow.library.query = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	check(slow, 503, "the request exceeded the time limit of 50ms")
	s := newObserved(0)
	s.library.listPanic = "secret detail"
	check(s, 500, "internal error, logged with request ID")
	if !strings.Contains(s.log.String(), "secret detail") {
		t.Error("the panic is not logged")
	}
	s.library.listPanic = nil
	s.library.acquireErr = herb.Errorf(herb.CodeUnavailable, "the object store is down")
	check(s, 503, "the object store is down")
	s.library.acquireErr = nil
	if r := s.callTool(t, "query_records", call); r.IsError {
		t.Errorf("afterwards: %s", r.Content[0].Text)
	}
}

// TestMCP_lanes checks that a call runs in the lanes of the same request to the API.
func TestMCP_lanes(t *testing.T) {
	t.Parallel()
	c := lanes(t, 1, nil)
	s := newService(t, func(o *httpapi.Options) { o.Admission = c })
	call := args{"dataset": "garden/catalog"}
	var before, after []admission.Lane
	s.library.query = func(ctx context.Context) error {
		before = taken(c)
		for range 10 {
			if err := query.Yield(ctx, 4096, time.Millisecond); err != nil {
				return err
			}
		}
		after = taken(c)
		return nil
	}
	s.callTool(t, "query_records", call)
	if !slices.Equal(before, []admission.Lane{admission.Cheap}) ||
		!slices.Equal(after, []admission.Lane{admission.Expensive}) || taken(c) != nil {
		t.Errorf("ran in %v, then in %v, and held %v afterwards", before, after, taken(c))
	}
	other := c.NewTicket(admission.ClientOf(idleAddr()))
	must.NoError(t, other.Enter(t.Context(), admission.Expensive))
	if r := s.callTool(t, "query_records", call); !r.IsError || !strings.Contains(r.Content[0].Text, "lane expensive") {
		t.Errorf("a long query gets %s", r.Content[0].Text)
	}
	other.Release()
	must.NoError(t, other.Enter(t.Context(), admission.Cheap))
	a := s.message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"dataset":"garden/catalog"}}}`)
	if a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("without a slot: %d %s", a.status, a.body)
	}
	other.Release()
}

// TestMCP_disconnect checks that a call ends with its client.
func TestMCP_disconnect(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	s.library.query = func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	r := request("POST", "/mcp",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"dataset":"garden/catalog"}}}`,
		"Content-Type: application/json")
	s.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx)) // returns
}

func FuzzMCP(f *testing.F) {
	s := newService(f, nil)
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"dataset":"garden/catalog","filters":["price[gte]=1"],"page":2}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"aggregate","arguments":{"dataset":"garden/catalog","by":["date:month"],"sort":["-count"]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe_dataset","arguments":{"dataset":"odd/a-b.c"}}}`,
		`{"jsonrpc":"2.0","id":null,"method":"initialize","params":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":1.5,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`,
	} {
		f.Add(seed, "")
		f.Add(seed, "2026-07-28")
	}
	f.Fuzz(func(t *testing.T, body, version string) {
		w := httptest.NewRecorder()
		r := request("POST", "/mcp", body, "Content-Type: application/json", "Mcp-Protocol-Version: "+version,
			"Mcp-Method: tools/call", "Mcp-Name: aggregate")
		s.ServeHTTP(w, r)
		if w.Code >= 500 || strings.Contains(w.Body.String(), "internal error") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
