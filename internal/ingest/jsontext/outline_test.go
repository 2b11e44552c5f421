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

// TestTables_Amount checks that the amount of data in a document changes neither its tables nor its
// columns.
func TestTables_Amount(t *testing.T) {
	t.Parallel()
	objects := func(n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(`{"x":1,"y":{"z":2}},`, n), ",") + "]"
	}
	numbers := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("1,", n), ",") + "]" }
	pairs := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`["x",1],`, n), ",") + "]" }
	for _, tt := range []struct {
		name    string
		in      func(n int) string
		least   int // elements
		tables  string
		columns string
	}{
		{"plants in a garden", func(n int) string {
			return `{"title":"Garden","author":"Ann","city":"Oslo","country":"NO","year":2024,"plants":` +
				objects(n) + `}`
		}, 1, "plants", "x y.z"},
		{"results beside an id", func(n int) string { return `{"id":7,"name":"x","results":` + objects(n) + `}` }, 0,
			"results", "x y.z"},
		{"response", func(n int) string {
			return `{"count":3,"next":null,"previous":null,"results":` + objects(n) +
				`}`
		}, 0, "results", "x y.z"},
		{"response in a wrapper", func(n int) string {
			return `{"help":"x","success":true,"result":{"total":1,"fields":[{"id":"x"}],"records":` + objects(n) + `}}`
		}, 0, "result.records", "x y.z"},
		{"features", func(n int) string {
			return `{"type":"FeatureCollection","links":[{"rel":"self"}],"features":` + objects(n) + `}`
		}, 0, "features", "x y.z"},
		{"three deep", func(n int) string { return `{"id":7,"games":{"nh":{"buy":` + objects(n) + `}}}` }, 0, "",
			"id games.nh.buy"},
		{"list of numbers", func(n int) string { return `{"about":"x","numbers":` + numbers(n) + `}` }, 0, "",
			"about numbers"},
		{"two lists of numbers", func(n int) string { return `{"a":` + numbers(n) + `,"b":` + numbers(n) + `}` },
			0, "", "a b"},
		{"arrays", func(n int) string { return `{"columns":["a","b"],"rows":` + pairs(n) + `}` }, 1, "",
			"columns rows"},
		{"two tables", func(n int) string { return `{"nodes":` + objects(n) + `,"links":` + objects(n+1) + `}` }, 1,
			"nodes links", ""},
		{"nested records", func(n int) string { return `[{"x":1,"parts":` + objects(n) + `}]` }, 0, "", "x parts"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for n := tt.least; n <= 100; n = n + 1 + n/10 {
				m := memory{Base: "a.json", Content: tt.in(n)}
				tables, err := Format().Tables(t.Context(), m, rows.Options{},
					rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
				if got := strings.Join(rows.Names(tables), " "); err != nil || got != tt.tables {
					t.Fatalf("%d elements: got tables %q and error %v, want %q", n, got, err, tt.tables)
				}
				if tt.columns == "" || n == 0 && tt.tables != "" {
					continue
				}
				got, err := read(t, m, rows.Options{}, rows.Limits{})
				records := 1
				if tt.tables != "" {
					records = n
				}
				if err != nil || strings.Join(got.Rows[0], " ") != tt.columns || len(got.Rows) != 1+records {
					t.Fatalf("%d elements: got columns %q, %d records and error %v", n, got.Rows[0],
						len(got.Rows)-1, err)
				}
			}
		})
	}
	members := func(value string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":%s`, i, value)
		}
		return "{" + b.String()[1:] + "}"
	}
	for _, value := range []string{"1.50", `"x"`, `{"n":"fern","z":[1]}`, "[1,2,3,4,5,6,7,8,9,10]"} {
		for n := 1; n <= 100; n = n + 1 + n/10 {
			got, err := read(t, memory{Base: "a.json", Content: members(value, n)}, rows.Options{}, rows.Limits{})
			if err != nil || len(got.Rows) != 2 {
				t.Fatalf("%d members %s: got %d records and error %v", n, value, len(got.Rows)-1, err)
			}
		}
	}
}

// TestOpen_Members reads a document with two arrays of objects, and one of them as a table.
func TestOpen_Members(t *testing.T) {
	t.Parallel()
	m := memory{Base: "a.json",
		Content: `{"id":7,"size":{"h":1.50},"tags":["a","b"],"images":[{"url":"x"}],"makers":[{"n":1},{"n":2}]}`}
	const want = "the document has 2 tables: images, makers; name one of them, such as FILE#images"
	if _, err := read(t, m, rows.Options{}, rows.Limits{}); err == nil || err.Error() != want {
		t.Errorf("got error  %v\nwant error %s", err, want)
	}
	got, err := read(t, m, rows.Options{Table: "makers"}, rows.Limits{})
	note := `the records are in "makers"; other members are not part of this dataset: id, size, tags, images`
	if fmt.Sprint(got.Rows) != "[[n] [1] [2]]" || !slices.Equal(got.Notes, []string{note}) || err != nil {
		t.Errorf("got %v, notes %q and error %v", got.Rows, got.Notes, err)
	}
}

// TestOpen_AccountsForMembers reads random documents. Every member of a document is a column, is in
// a table, or is named by a note.
func TestOpen_AccountsForMembers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	readings := map[string]int{}
	for range 3_000 {
		names, in := randomDocument(random)
		m, document := memory{Base: "a.json", Content: in}, new(passedMembers)
		tables, err := Format().Tables(t.Context(), m, rows.Options{},
			rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		selected := rows.Published(tables)
		if len(selected) < 2 {
			selected = []string{""}
		}
		readings[fmt.Sprint(min(len(tables), 2), " tables")]++
		for _, table := range selected {
			got, err := rowstest.Read(t.Context(), Format(), kept{m, document}, rows.Options{Table: table},
				rows.Limits{})
			if err != nil {
				t.Fatalf("%s: %v", in, err)
			}
			if len(selected) == 1 && len(rows.Published(tables)) == 1 {
				table = rows.Published(tables)[0]
			}
			for _, name := range names {
				if !isAccounted(name, table, got.Rows, got.Notes) {
					t.Fatalf("%s: table %q: nothing accounts for the member %q; got %v and notes %q", in, table, name,
						got.Rows, got.Notes)
				}
			}
		}
	}
	if len(readings) < 3 {
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
	return isMember(table) || slices.ContainsFunc(read[0], isMember)
}

// randomDocument returns an object and the names of its members.
func randomDocument(random *rand.Rand) (names []string, document string) {
	words := []string{"id", "count", "name", "title", "next", "data", "rows", "results", "features", "images", "fields",
		"columns", "meta", "type", "tags", "size", "a.b"}
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
