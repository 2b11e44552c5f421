package httpapi_test

import (
	"encoding/csv"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// walk calls a tool for page after page, as the head lines say, and returns the first cells of all
// rows below a header.
func (s *service) walk(t *testing.T, tool, header string, arguments args) (cells []string) {
	t.Helper()
	next := regexp.MustCompile(`, next page (\d+) of|: repeat with page (\d+) and per_page (\d+)`)
	arguments = maps.Clone(arguments)
	seen := map[string]bool{}
	for range 2000 {
		r := s.callTool(t, tool, arguments)
		head, text := r.text()
		if len(head)+len(text) > 20<<10 || r.IsError {
			t.Fatalf("%s %v: %d bytes: %s", tool, arguments, len(head)+len(text), head)
		}
		_, rows, _ := strings.Cut("\n"+text, "\n"+header+",")
		rows, _, _ = strings.Cut(rows, "\nfirst ")
		records, err := csv.NewReader(strings.NewReader(header + "," + rows)).ReadAll()
		must.NoError(t, err)
		if len(records) < 2 {
			t.Fatalf("%s %v: no rows: %s", tool, arguments, head)
		}
		for _, record := range records[1:] {
			if !seen[record[0]] {
				seen[record[0]], cells = true, append(cells, record[0])
			}
		}
		found := next.FindStringSubmatch(head)
		if found == nil {
			return cells
		}
		for name, value := range map[string]string{"page": found[1] + found[2], "per_page": found[3]} {
			if value != "" {
				n, err := strconv.Atoi(value)
				must.NoError(t, err)
				arguments[name] = n
			}
		}
	}
	t.Fatalf("%s does not end", tool)
	return nil
}

// TestMCP_walk lists what does not fit into one result: datasets, fields, records and groups with
// long texts. Nothing is missing, and all are in order.
func TestMCP_walk(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	long := func(i int) string { return strings.Repeat("long text ", i*7919%400) + strconv.Itoa(i) }
	id := herb.Field{Name: "id", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true}
	word := herb.Field{Name: "word", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true}
	var names, titles, fields, ids []string
	for i := range 150 {
		ref := herb.Ref{Namespace: "many", Name: fmt.Sprintf("dataset%03d", i)}
		names, titles = append(names, ref.String()), append(titles, "Title "+long(i))
		d := herb.Dataset{Ref: ref, Fields: []herb.Field{id, word}, Title: titles[i], Description: long(i * 3)}
		s.library.put(d, []herb.Record{{"1", "sapling"}})
	}
	wide := herb.Dataset{Ref: herb.Ref{Namespace: "wide", Name: "wide"}}
	for i := range 150 {
		f := herb.Field{Name: fmt.Sprintf("field%03d", i), Type: herb.TypeText, Filterable: true, Description: long(i)}
		wide.Fields, fields = append(wide.Fields, f), append(fields, f.Name)
	}
	s.library.put(wide, []herb.Record{make(herb.Record, 150)})
	var records []herb.Record
	for i := range 150 {
		ids = append(ids, fmt.Sprintf("record%03d", i))
		records = append(records, herb.Record{ids[i], long(i)})
	}
	s.library.put(herb.Dataset{Ref: herb.Ref{Namespace: "wide", Name: "long"}, Fields: []herb.Field{id, word}}, records)

	for _, tt := range []struct {
		tool, header string
		arguments    args
		want         []string
	}{
		{"search_datasets", "dataset", args{"query": "many"}, names},
		{"search_datasets", "dataset", args{"query": "many", "per_page": 30}, names},
		{"search_datasets", "dataset", args{"query": "sapling"}, names},
		{"describe_dataset", "field", args{"dataset": "wide/wide"}, fields},
		{"query_records", "id", args{"dataset": "wide/long"}, ids},
		{"query_records", "id", args{"dataset": "wide/long", "per_page": 100}, ids},
		{"aggregate", "id", args{"dataset": "wide/long", "by": []string{"id", "word"}, "sort": []string{"by1"}}, ids},
	} {
		if got := s.walk(t, tt.tool, tt.header, tt.arguments); !slices.Equal(got, tt.want) {
			t.Errorf("%s %v: %d of %d rows, or in another order", tt.tool, tt.arguments, len(got), len(tt.want))
		}
	}
}
