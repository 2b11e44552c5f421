package tables

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// mark returns the text of a cell of 180 pixels with the matches of a search in brackets.
func mark(t *testing.T, search, value string) string {
	t.Helper()
	req, err := query.Parse(query.Params{{Name: query.ParamSearch, Value: search}}.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h := newHighlighter(req.Search)
	for _, p := range h.pieces(h.excerpt(value, 180)) {
		if p.Mark {
			b.WriteString("[" + p.Text + "]")
		} else {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestHighlighter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ search, value, want string }{
		{"rose", "A Rose, a ROSÉ and roses", "A [Rose], a [ROSÉ] and [roses]"},
		{`"rose"`, "A Rose, a ROSÉ and roses", "A [Rose], a [ROSÉ] and roses"},
		{"eleve", "l’élève, d'élèves", "[l’élève], [d'élèves]"},
		{"ros*", "A Rose and roses", "A [Rose] and [roses]"},
		// punctuation does not separate the words of a phrase
		{`"red rose"`, "red rose, red, rose", "[red rose], [red, rose]"},
		{`"red ro"*`, "a red rose", "a [red rose]"},
		{"-rose tree", "rose tree", "rose [tree]"},
		{"strasse", "Lange Straße 1", "Lange [Straße] 1"},
		{"植", "植物園", "[植]物園"},
		{"rose", "tulip", ""},
		{"end", "a text that is long before its end", "…its [end]"},
		{"植", "東京都大阪府春夏秋冬花桜梅紅葉植物園", "…府春夏秋冬花桜梅紅葉[植]物園"}, // these letters are twice as wide
	} {
		if got := mark(t, tt.search, tt.value); got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.search, tt.value, got, tt.want)
		}
	}
}

// TestBringIntoView checks that each row has a match among the first columns.
func TestBringIntoView(t *testing.T) {
	t.Parallel()
	fields := make([]herb.Field, 20)
	columns := make([]int, 10)
	for i := range fields {
		fields[i].Searchable = i != 19
	}
	for i := range columns {
		columns[i] = i
	}
	row := func(matches ...int) []string {
		r := make([]string, len(fields))
		for _, i := range matches {
			r[i] = "a rose"
		}
		return r
	}
	for _, tt := range []struct {
		name string
		rows []herb.Record
		want []int
	}{
		{"in view", []herb.Record{row(0), row(5, 15)}, columns},
		{"none", []herb.Record{row(), row(19)}, columns},
		{"not shown", []herb.Record{row(1), row(12, 15), row(15)}, []int{0, 15, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"shown further right", []herb.Record{row(8), row(9)}, []int{0, 8, 9, 1, 2, 3, 4, 5, 6, 7}},
	} {
		req, err := query.Parse("search=rose", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := moveToFront(columns, bringIntoView(newHighlighter(req.Search), columns, tt.rows,
			fields)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
