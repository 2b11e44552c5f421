package tables

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// noMarks returns a highlighter that marks nothing.
func noMarks() highlighter { return highlighter{query.NewMarker(nil, nil, nil)} }

// mark returns the text of a cell of 180 pixels with the matches of a request in brackets.
func mark(t *testing.T, params, value string) string {
	t.Helper()
	fields := []herb.Field{{Name: "text", Type: herb.TypeText, Searchable: true, Filterable: true}}
	req, err := query.Parse(params, fields)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	h := highlighter{req.NewMarker()}
	for _, p := range h.pieces(0, h.excerpt(0, value, 180)) {
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
	search := func(words string) string {
		return query.Params{{Name: query.ParamSearch, Value: words}}.Encode()
	}
	for _, tt := range []struct{ params, value, want string }{
		{search("rose"), "A Rose, a ROSÉ and roses", "A [Rose], a [ROSÉ] and [roses]"},
		{search(`"rose"`), "A Rose, a ROSÉ and roses", "A [Rose], a [ROSÉ] and roses"},
		{search("eleve"), "l’élève, d'élèves", "[l’élève], [d'élèves]"},
		{search("ros*"), "A Rose and roses", "A [Rose] and [roses]"},
		// punctuation does not separate the words of a phrase
		{search(`"red rose"`), "red rose, red, rose", "[red rose], [red, rose]"},
		{search(`"red ro"*`), "a red rose", "a [red rose]"},
		{search("-rose tree"), "rose tree", "rose [tree]"},
		{search("strasse"), "Lange Straße 1", "Lange [Straße] 1"},
		{search("植"), "植物園", "[植]物園"},
		{search("rose"), "tulip", ""},
		{search("end"), "a text that is long before its end", "…its [end]"},
		{search("植"), "東京都大阪府春夏秋冬花桜梅紅葉植物園", "…府春夏秋冬花桜梅紅葉[植]物園"}, // these letters are twice as wide
		{"text[contains]=ROSE", "prim rosé and roses", "prim [rosé] and [rose]s"},
		{"text[contains]=end", "a text that is long before its end", "…its [end]"},
		{"text[prefix]=a+r", "Á red rose, a red", "[Á r]ed rose, a red"},
		{"text[match]=rose&search=red", "a red rose", "a [red] [rose]"},
	} {
		if got := mark(t, tt.params, tt.value); got != tt.want {
			t.Errorf("%s in %q: %q, want %q", tt.params, tt.value, got, tt.want)
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
		req, err := query.Parse("search=rose", fields)
		if err != nil {
			t.Fatal(err)
		}
		got := moveToFront(columns, bringIntoView(highlighter{req.NewMarker()}, columns, tt.rows))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
