package ingest_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/text"
)

// TestInspect_arrays checks how arrays of JSON files become lists: all of a column are written in
// one way, which depends on values that may be in the last record or in another file.
func TestInspect_arrays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		files    []string
		want     string // the values, separated by " | "
		field    herb.Type
		json     bool
		elements string
	}{
		{"without commas", []string{`[{"a":["church","spire"]},{"a":["boat"]}]`}, "church,spire | boat", herb.TypeList,
			false, "church|spire|boat"},
		{"with a comma at the end", []string{`[{"a":["church", "spire"]},{"a":[]},{"a":["boat, sailing","church"]}]`},
			`["church","spire"] |  | ["boat, sailing","church"]`, herb.TypeList, true,
			"church|spire|boat, sailing|church"},
		{"with a comma at the start", []string{`[{"a":["boat, sailing"]},{"a":["church"]}]`},
			`["boat, sailing"] | ["church"]`, herb.TypeList, true, "boat, sailing|church"},
		{"with a comma in every value", []string{`[{"a":["b, c"]}]`}, `["b, c"]`, herb.TypeList, true, "b, c"},
		{"with null and empty elements", []string{`[{"a":["b",null]},{"a":["c",""]},{"a":["d"]}]`},
			`["b",null] | ["c",""] | ["d"]`, herb.TypeList, true, "b|c|d"},
		{"with brackets", []string{`[{"a":["[b]"]},{"a":["c"]}]`}, `["[b]"] | ["c"]`, herb.TypeList, true, "[b]|c"},
		{"with escapes", []string{`[{"a":["caf\u00e9, \"bar\""]}]`}, `["café, \"bar\""]`, herb.TypeList, true,
			`café, "bar"`},
		{"of numbers", []string{`[{"a":[1.50,2]},{"a":[3]}]`}, "1.50,2 | 3", herb.TypeList, false, "1.50|2|3"},
		{"nested", []string{`[{"a":["b"]},{"a":[["c"]]}]`}, `["b"] | [["c"]]`, herb.TypeText, false, ""},
		{"beside text", []string{`[{"a":["b","c"]},{"a":"d"},{"a":["e, f"]}]`}, `["b","c"] | d | ["e, f"]`,
			herb.TypeText, false, ""},
		{"beside numbers", []string{`[{"a":[1,2]},{"a":3},{"a":[4,5]}]`}, "[1,2] | 3 | [4,5]",
			herb.TypeText, false, ""},
		{"of numbers beside an empty one", []string{`[{"a":[1,2]},{"a":[]},{"a":null},{"a":[4,5]}]`}, "1,2 |  |  | 4,5",
			herb.TypeList, false, "1|2|4|5"},
		{"in the second file only", []string{`[{"b":1}]`, `[{"b":1,"a":[1,2]}]`}, " | 1,2", herb.TypeList,
			false, "1|2"},
		{"in records that are arrays", []string{`[["x"],[["b"]],[["c, d"]]]`}, `["b"] | ["c, d"]`, herb.TypeList,
			true, "b|c, d"},
		{"in records that are arrays without names", []string{`[[["b"]],[["c, d"]]]`}, `["b"] | ["c, d"]`,
			herb.TypeList, true, "b|c, d"},
		{"in objects", []string{`[{"o":{"a":["b"]}},{"o":{"a":["c, d"]}}]`}, `["b"] | ["c, d"]`, herb.TypeList,
			true, "b|c, d"},
		{"in lines", []string{"{\"a\":[\"b\"]}\n{\"a\":[\"c, d\"]}\n"}, `["b"] | ["c, d"]`, herb.TypeList,
			true, "b|c, d"},
		{"in another file", []string{`[{"a":["b"]}]`, `[{"a":["c, d"]}]`}, `["b"] | ["c, d"]`, herb.TypeList,
			true, "b|c, d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src := ingest.Source{}
			for i, content := range tt.files {
				path := writeFile(t, dir, string(rune('a'+i))+".json", content)
				if src.Path == "" {
					src.Path = path
				} else {
					src.MoreFiles = append(src.MoreFiles, path)
				}
			}
			table := inspect(t, src)
			at := herb.FieldIndex(table.Dataset.Fields, "a")
			at = max(at, 0) // without names
			f := table.Dataset.Fields[at]
			var values, elements []string
			longest := 0
			for _, r := range recordsOf(t, table) {
				values = append(values, r[at])
				longest = max(longest, utf8.RuneCountInString(r[at]))
				if f.Type == herb.TypeList {
					elements = append(elements, text.Elements(&f, r[at])...)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(values, " | ")); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if r := table.Dataset.Report.Columns[at]; r.Longest != longest {
				t.Errorf("longest %d; want %d", r.Longest, longest)
			}
			if f.Type != tt.field || f.Notation.JSON != tt.json || strings.Join(elements, "|") != tt.elements {
				t.Errorf("type %s, JSON %t, elements %q; want %s, %t, %q", f.Type, f.Notation.JSON, elements, tt.field,
					tt.json, tt.elements)
			}
		})
	}
}

// TestInspect_arraysOfOneColumn checks that only columns that need it are written as JSON.
func TestInspect_arraysOfOneColumn(t *testing.T) {
	t.Parallel()
	const content = `[{"a":["b"],"tags":["x","y"]},{"a":["c, d"],"tags":["z"]}]`
	src := ingest.Source{Path: writeFile(t, t.TempDir(), "a.json", content)}
	table := inspect(t, src)
	if got, want := recordsOf(t, table), []herb.Record{{`["b"]`, "x,y"}, {`["c, d"]`, "z"}}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	previous := ingest.Previous{Hash: table.Dataset.SourceHash, Bytes: int64(len(content))}
	if _, err := ingest.Inspect(t.Context(), src, ingest.Options{Previous: previous}); !errors.Is(err,
		ingest.ErrUnchanged) {
		t.Errorf("again: %v; the hash must not depend on how the file had to be read", err)
	}
}
