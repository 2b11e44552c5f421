package jsontext

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// TestTables_Envelope checks which documents are one record and which are envelopes around tables.
func TestTables_Envelope(t *testing.T) {
	t.Parallel()
	array := func(n int) string { return "[" + strings.Repeat(`{"x":1,"y":2},`, n-1) + `{"x":1}]` }
	for _, tt := range []struct {
		name, in string
		tables   []string // that are published; empty: the document is one record
		values   []string // tables that are values of the record
	}{
		{"museum object", `{"id":7,"title":"Vase","medium":"clay","culture":"Greek","size":{"h":1,"w":2},"images":` + array(1) + `,"makers":` + array(1) + `}`,
			nil, []string{"images", "makers"}},
		{"museum object with many images", `{"id":7,"title":"Vase","medium":"clay","culture":"Greek","period":"x","makers":` + array(8) + `,"images":` + array(12) + `}`,
			nil, []string{"makers", "images"}},
		{"array deep in an item", `{"id":"cane","name":"Cane","games":{"nh":{"orderable":false,"sell":{"value":600},"buy":` + array(1) + `}},"category":"bugs"}`,
			nil, []string{"games.nh.buy"}},
		{"order with items", `{"id":1,"customer":"x","date":"2024-01-02","items":` + array(3) + `}`, nil, []string{"items"}},
		{"person with children", `{"id":1,"name":"x","children":` + array(1) + `}`, nil, []string{"children"}},
		{"keyed object in an item", `{"id":1,"name":"x","stock":5,"color":"red","prices":{"usd":{"v":1},"eur":{"v":2},"gbp":{"v":3}}}`, nil, []string{"prices"}},
		{"item with an empty array", `{"id":1,"name":"x","items":[]}`, nil, []string{"items"}},
		{"response", `{"count":3,"next":null,"previous":null,"results":` + array(2) + `}`, []string{"results"}, nil},
		{"response in a wrapper", `{"help":"x","success":true,"result":{"total":1,"limit":2,"resource_id":"x","records":` + array(1) + `}}`, []string{"result.records"}, nil},
		{"response with fields", `{"result":{"resource_id":"x","include_total":true,"a":1,"b":2,"c":3,"fields":[{"id":"x"}],"records":` + array(1) + `}}`, []string{"result.records"}, nil},
		{"response about a request", `{"jsonrpc":"2.0","id":1,"result":` + array(1) + `}`, []string{"result"}, nil},
		{"features", `{"type":"FeatureCollection","name":"x","numberMatched":1,"a":1,"b":2,"c":3,"d":4,"crs":{"type":"name"},"features":` + array(1) + `}`, []string{"features"}, nil},
		{"observations of a station", `{"station":"x","lat":1,"lon":2,"timezone":"UTC","hourly":` + array(24) + `}`, []string{"hourly"}, nil},
		{"dataset with remarks", `{"title":"x","description":"y","plants":` + array(5) + `}`, []string{"plants"}, nil},
		{"members of another object", `{"about":{"a":1,"b":2,"c":3,"d":4,"e":5},"plants":` + array(2) + `}`, []string{"plants"}, nil},
		{"graph", `{"directed":false,"multigraph":false,"graph":{},"nodes":` + array(7) + `,"links":` + array(12) + `}`, []string{"nodes", "links"}, nil},
		{"empty array beside a table", `{"nodes":` + array(2) + `,"data":[]}`, []string{"nodes"}, nil},
		{"empty response", `{"count":0,"results":[]}`, []string{"results"}, nil},
		{"longer than a record", `{"id":7,"title":"` + strings.Repeat("x", 900) + `","medium":"clay","culture":"` + strings.Repeat("x", 900) + `","images":` + array(1) + `}`, []string{"images"}, nil},
	} {
		m := memory{Base: "a.json", Content: tt.in}
		tables, err := Format().Tables(t.Context(), m, rows.Options{}, rows.NewBudget(t.Context(), m.Size(), rows.Limits{Record: 1_000}))
		values := slices.DeleteFunc(rows.Names(tables), func(name string) bool { return slices.Contains(rows.Published(tables), name) })
		if err != nil || !slices.Equal(rows.Published(tables), tt.tables) || !slices.Equal(values, tt.values) {
			t.Errorf("%s: got tables %q, values %q and error %v", tt.name, rows.Published(tables), values, err)
		}
	}
}

// TestOpen_DocumentRecord reads a document that is one record, and one of its values as a table.
func TestOpen_DocumentRecord(t *testing.T) {
	t.Parallel()
	m := memory{Base: "a.json", Content: `{"id":7,"title":"Vase","size":{"h":1.50},"tags":["a","b"],"images":[{"url":"x"}],"makers":[{"n":1},{"n":2}]}`}
	got, err := read(t, m, rows.Options{}, rows.Limits{})
	want := `[[id title size.h tags images makers] [7 Vase 1.50 ["a","b"] [{"url":"x"}] [{"n":1},{"n":2}]]]`
	note := "the document is one record with these tables as values: images, makers; add # and a name to the file to publish one as a dataset"
	if fmt.Sprint(got.Rows) != want || !slices.Equal(got.Notes, []string{note}) || err != nil {
		t.Errorf("got %v, notes %q and error %v", got.Rows, got.Notes, err)
	}
	got, err = read(t, m, rows.Options{Table: "makers"}, rows.Limits{})
	note = `the records are in "makers"; other members are not part of this dataset: id, title, size, tags, images`
	if fmt.Sprint(got.Rows) != "[[n] [1] [2]]" || !slices.Equal(got.Notes, []string{note}) || err != nil {
		t.Errorf("got %v, notes %q and error %v", got.Rows, got.Notes, err)
	}
}

// TestOpen_Explain compares the readings of a document, of which the user may name a table.
func TestOpen_Explain(t *testing.T) {
	t.Parallel()
	const record, tables = "the document is one record 6", "the records are in images, makers 4"
	m := memory{Base: "a.json", Content: `{"id":7,"title":"Vase","medium":"clay","culture":"Greek","size":1,"width":2,"images":[{"url":"x"}],"makers":[{"n":1},{"n":2},{"n":3}]}`}
	for table, want := range map[string][]string{"": {record, tables}, "images": {tables, record}} {
		e := new(rows.Explanation)
		_, err := read(t, m, rows.Options{Table: table, Explain: e}, rows.Limits{})
		var got []string
		for i, r := range e.Readings {
			got = append(got, fmt.Sprintf("%s %.0f", r.Text, r.Score))
			if r.Used != (i == 0) || len(r.Terms) != 2 {
				t.Errorf("%q: got %+v", table, r)
			}
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q and error %v", table, got, err)
		}
	}
}

// TestOpen_AccountsForMembers reads random documents. Every member of a document is a column, is in
// a table, is a key, or is named by a note.
func TestOpen_AccountsForMembers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	readings := map[string]int{}
	for range 3_000 {
		names, in := randomDocument(random)
		m, document := memory{Base: "a.json", Content: in}, new(passedMembers)
		tables, err := Format().Tables(t.Context(), m, rows.Options{}, rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		selected := rows.Published(tables)
		if len(selected) < 2 {
			selected = []string{""}
		}
		readings[fmt.Sprint(min(len(selected), 2), " tables, ", min(len(tables), 2), " in total")]++
		for _, table := range selected {
			got, err := rowstest.Read(t.Context(), Format(), kept{m, document}, rows.Options{Table: table}, rows.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", in, err)
			}
			if len(selected) == 1 && len(rows.Published(tables)) == 1 {
				table = rows.Published(tables)[0]
			}
			for _, name := range names {
				if !isAccounted(name, table, got.Rows, got.Notes) {
					t.Fatalf("%s: table %q: nothing accounts for the member %q; got %v and notes %q", in, table, name, got.Rows, got.Notes)
				}
			}
		}
	}
	if len(readings) < 4 {
		t.Errorf("the documents are read in few ways: %v", readings)
	}
}

// isAccounted reports whether a member of a document is in a table, or named by a note.
func isAccounted(name, table string, read [][]string, notes []string) bool {
	isMember := func(path string) bool { return path == name || strings.HasPrefix(path, name+".") }
	for _, note := range notes {
		names := strings.FieldsFunc(note, func(r rune) bool { return strings.ContainsRune(` ,":;`, r) })
		if slices.ContainsFunc(names, isMember) {
			return true
		}
	}
	isKey := func(row []string) bool { return len(row) > 0 && row[0] == name }
	return isMember(table) || slices.ContainsFunc(read[0], isMember) || read[0] != nil && read[0][0] == "key" && slices.ContainsFunc(read[1:], isKey)
}

// randomDocument returns an object and the names of its members.
func randomDocument(random *rand.Rand) (names []string, document string) {
	words := []string{"id", "count", "name", "title", "next", "data", "rows", "results", "features", "images", "fields", "columns", "meta", "type", "tags", "size", "a.b"}
	var value func(depth int) any
	object := func(depth int) map[string]any {
		o := map[string]any{}
		for range random.IntN(5) {
			o[words[random.IntN(len(words))]] = value(depth + 1)
		}
		return o
	}
	value = func(depth int) any {
		switch kind := random.IntN(10); {
		case kind < 5 || depth > 4:
			return []any{nil, 1.5, "x", true, []any{}, []any{"a", 2}, map[string]any{}}[random.IntN(7)]
		case kind < 7:
			list := []any{}
			for range random.IntN(6) {
				list = append(list, object(depth+1))
			}
			return list
		case kind < 8:
			return []any{[]any{"x", 1}, []any{"y", 2}}
		default:
			return object(depth)
		}
	}
	o := map[string]any{}
	for range 1 + random.IntN(9) {
		name := words[random.IntN(len(words))]
		o[name] = value(1)
		names = append(names, name)
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return names, string(b)
}
