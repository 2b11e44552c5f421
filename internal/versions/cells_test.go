package versions_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// cellsOf computes the hash as documented.
func cellsOf(rows ...[]string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "%d:%s", len(cell), cell)
		}
		b.WriteString("\n")
	}
	sum := sha256.Sum256([]byte(b.String()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestPublish_report(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	l := versionstest.NewSharedDir(t).Open(t)
	given := &herb.Report{
		Format: "csv", Rows: 5, Notes: []string{"a note"},
		Columns: []herb.ColumnReport{{Field: "n", Column: "N", Type: herb.TypeNumber, Evidence: "number: 3 of 4",
			Shortest: 1, Longest: 4}, {Column: "T"}},
	}
	before, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{
			Ref: ref, Fields: []herb.Field{field("n", herb.TypeNumber), field("t", herb.TypeText)},
			Details: herb.Details{Report: given},
		},
		Records: sequence(herb.Record{"10", "b\n\"x\""}, herb.Record{"9.50", long}, herb.Record{"", "a"},
			herb.Record{"10.0", ""}),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &herb.Report{
		Format: "csv", Rows: 5, Notes: []string{"a note"},
		Cells: cellsOf([]string{"n", "t"}, []string{"10", "b\n\"x\""}, []string{"9.50", long}, []string{"", "a"},
			[]string{"10.0", ""}),
		Columns: []herb.ColumnReport{
			{
				Field: "n", Column: "N", Type: herb.TypeNumber, Evidence: "number: 3 of 4", Shortest: 1, Longest: 4,
				Filled: 3, Empty: 1, Distinct: 2, Min: "9.50", Max: "10",
			},
			{Field: "t", Column: "T", Type: herb.TypeText, Filled: 3, Empty: 1, Distinct: 3, Min: "a",
				Max: strings.Repeat("é", 100) + "…"},
		},
	}
	if diff := cmp.Diff(want, out.Report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	kept, err := l.Version(t.Context(), ref, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, kept.Report); diff != "" {
		t.Errorf("report that is kept (-want +got):\n%s", diff)
	}
	if after, err := json.Marshal(given); err != nil || string(after) != string(before) {
		t.Errorf("the report of the caller is changed: %s, %v", after, err)
	}
}

// TestPublish_cells publishes tables that differ only in where their cells end, and one whose cells
// fill buffers.
func TestPublish_cells(t *testing.T) {
	t.Parallel()
	two := []herb.Field{field("a", herb.TypeText), field("b", herb.TypeText)}
	big := strings.Repeat("0123456789abcdef", 20_000)
	tables := map[string]versions.Publication{
		"plain": {Dataset: herb.Dataset{Fields: two}, Records: sequence(herb.Record{"a", "bc"})},
		"cells": {Dataset: herb.Dataset{Fields: two}, Records: sequence(herb.Record{"ab", "c"})},
		"rows": {Dataset: herb.Dataset{Fields: two[:1]},
			Records: sequence(herb.Record{"a"}, herb.Record{"bc"})},
		"a row of looks":  {Dataset: herb.Dataset{Fields: two[:1]}, Records: sequence(herb.Record{"a2:bc\n"})},
		"no records":      {Dataset: herb.Dataset{Fields: two}, Records: sequence()},
		"no fields":       {Dataset: herb.Dataset{}, Records: sequence()},
		"an empty record": {Dataset: herb.Dataset{Fields: two}, Records: sequence(herb.Record{"", ""})},
		"big": {Dataset: herb.Dataset{Fields: two},
			Records: sequence(herb.Record{big, big[1:]}, herb.Record{"", big})},
	}
	seen := map[string]string{}
	for name, p := range tables {
		l := versionstest.NewSharedDir(t).Open(t)
		p.Dataset.Ref = ref
		var header []string
		for _, f := range p.Dataset.Fields {
			header = append(header, f.Name)
		}
		rows := [][]string{header}
		for r := range p.Records {
			rows = append(rows, r)
		}
		out, err := l.Publish(t.Context(), p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hash := out.Report.Cells
		if want := cellsOf(rows...); hash != want {
			t.Errorf("%s: %s; want %s", name, hash, want)
		}
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[hash] = name
	}
}

// TestPublish_cellsInParts publishes a table whose listing is verified in several parts.
func TestPublish_cellsInParts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 10_000)
	rows := [][]string{{"n"}}
	var records []herb.Record
	var column herb.ColumnCells
	for i := range 20 {
		value := long[i:]
		column.Add(i, []byte(value))
		rows, records = append(rows, []string{value}), append(records, herb.Record{value})
	}
	out, err := versionstest.NewSharedDir(t).Open(t).Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{field("n", herb.TypeText)},
			Details: herb.Details{Report: &herb.Report{
				SourceCells: &herb.SourceCells{Total: len(records)},
				Columns:     []herb.ColumnReport{{Field: "n", Column: "N", Source: column}},
			}}},
		Records: sequence(records...),
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := cellsOf(rows...); out.Report.Cells != want {
		t.Errorf("got %s; want %s", out.Report.Cells, want)
	}
}

// TestPublish_lossy publishes from sources whose values change between reading and writing.
func TestPublish_lossy(t *testing.T) {
	t.Parallel()
	sources := map[string]iter.Seq2[herb.Record, error]{
		"a record changes after it was read": func(yield func(herb.Record, error) bool) {
			r := herb.Record{"1"}
			if yield(r, nil) {
				r[0] = "2"
			}
		},
		"there are more values than fields": sequence(herb.Record{"1"}, herb.Record{"2", "3"}),
		"a value is not UTF-8":              sequence(herb.Record{"1"}, herb.Record{"\xff"}),
	}
	for name, records := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			_, err := l.Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{field("n", herb.TypeText)}}, Records: records,
			})
			if err == nil || !strings.Contains(err.Error(), "cannot read back") &&
				!strings.Contains(err.Error(), "nothing was published") {
				t.Errorf("%v; want an error about the lost values", err)
			}
			if _, err := l.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound || len(s.Files(t)) != 0 {
				t.Errorf("the version was published: %v, %v", err, s.Files(t))
			}
		})
	}
}

// TestPublish_sourceCells publishes fewer records than the reader of the file has counted.
func TestPublish_sourceCells(t *testing.T) {
	t.Parallel()
	column := func(values ...string) (c herb.ColumnCells) {
		for i, v := range values {
			c.Add(i, []byte(v))
		}
		return c
	}
	for _, tt := range []struct {
		name   string
		cells  herb.SourceCells
		column herb.ColumnCells
		want   string // part of the error; empty if it is published
	}{
		{"all of them", herb.SourceCells{Total: 2}, column("1", "2"), ""},
		{"those that settings left out are known", herb.SourceCells{Total: 9, Hidden: 4, Excluded: 2, Missing: 1},
			column("1", "2"), ""},
		{"one was lost", herb.SourceCells{Total: 3}, column("1", "2"), "the source has 3 non-empty cells"},
		{"one is another", herb.SourceCells{Total: 2}, column("1", "3"),
			`field "n" does not hold the values of column "N"`},
		{"they are in other rows", herb.SourceCells{Total: 2}, column("2", "1"),
			`field "n" does not hold the values of column "N"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := versionstest.NewSharedDir(t)
			l := s.Open(t)
			out, err := l.Publish(t.Context(), versions.Publication{
				Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{field("n", herb.TypeText)},
					Details: herb.Details{Report: &herb.Report{
						SourceCells: &tt.cells, Columns: []herb.ColumnReport{
							{Field: "n", Column: "N", Source: tt.column}},
					}}},
				Records: sequence(herb.Record{"1"}, herb.Record{"2"}),
			})
			if tt.want == "" {
				if err != nil || *out.Report.SourceCells != tt.cells {
					t.Errorf("%v, %v", out.Report, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "the listing is incomplete") ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want %q", err, tt.want)
			}
			if _, err := l.Acquire(t.Context(), ref); herb.CodeOf(err) != herb.CodeNotFound || len(s.Files(t)) != 0 {
				t.Errorf("the version was published: %v, %v", err, s.Files(t))
			}
		})
	}
}

// TestCellsDoc publishes the example of docs/format/cells.md and compares the documented bytes and
// hash.
func TestCellsDoc(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/format/cells.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	out, err := versionstest.NewSharedDir(t).Open(t).Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Fields: []herb.Field{
			field("id", herb.TypeNumber), field("name", herb.TypeText), field("note", herb.TypeText),
		}},
		Records: sequence(herb.Record{"1", "Röse", `said "hardy"`}, herb.Record{"2", "", "two\nlines"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	hash := out.Report.Cells
	if !strings.Contains(doc, "\n"+hash+"\n") {
		t.Errorf("the document does not have the hash %s", hash)
	}
	blocks := regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$").FindAllStringSubmatch(doc, -1)
	find := func(language string) string {
		for _, m := range blocks {
			if m[1] == language {
				return m[2]
			}
		}
		t.Fatalf("the document has no block of %s", language)
		return ""
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("HERBARIUM_TEST_REQUIRE") != "" {
			t.Fatal("python3 is needed to run the program of the document")
		}
		t.Skip("python3 is needed to run the program of the document")
	}
	file := filepath.Join(t.TempDir(), "example.csv")
	if err := os.WriteFile(file, []byte(find("csv")), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.CommandContext(t.Context(), python, "-c", find("python"), file).CombinedOutput()
	if err != nil || strings.TrimSpace(string(got)) != hash {
		t.Errorf("the program of the document says %s, %v; want %s", got, err, hash)
	}
}
