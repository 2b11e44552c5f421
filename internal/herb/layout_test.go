package herb_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

func TestLayout_Notes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		layout herb.Layout
		left   []string // texts of rows from 1 that are left out
		want   string
	}{
		{"no layout", herb.Layout{}, nil, ""},
		{"a plain table", herb.Layout{Unit: "line", Header: []int{1}}, nil, ""},
		{"a header further down", herb.Layout{Unit: "row", Header: []int{3}}, []string{"Prices"},
			"header: row 3 names the columns|left out: row 1 (above the table: Prices); set header=none to keep all"},
		{"a given header", herb.Layout{Unit: "row", Header: []int{3}, Given: true}, nil, ""},
		{"several rows", herb.Layout{Unit: "line", Header: []int{1, 2, 3}}, nil,
			"header: lines 1, 2 and 3 name the columns together; set header=3 if only the last one does"},
		{"no header", herb.Layout{Unit: "array", Doubt: "no array clearly names the columns"}, nil,
			"no header: no array clearly names the columns; set header=N if array N names the columns"},
		{"rows without values", herb.Layout{Unit: "line", Header: []int{1}}, []string{""},
			"left out: line 1 (above the table)"},
		{"many rows", herb.Layout{Unit: "line", Header: []int{9}, Given: true}, []string{"a", "b\nc", "d", "e", "f"},
			"left out: 5 lines: 1 (above the table: a), 2 (above the table: b c), 3 (above the table: d) and 2 more, " +
				"which the report lists; set header=none to keep all"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for i, text := range c.left {
				c.layout.LeaveOut(i+1, "above the table", text)
			}
			if got := strings.Join(c.layout.Notes(), "|"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got, want := c.layout.NotRecords(), len(c.layout.Header)+len(c.left); got != want {
				t.Errorf("%d rows are not records, want %d", got, want)
			}
		})
	}
}

// TestLayout_bounded leaves out more rows than are listed, in two files.
func TestLayout_bounded(t *testing.T) {
	t.Parallel()
	var l, other herb.Layout
	for i := range 1500 {
		l.LeaveOut(i, "no value", "")
		other.LeaveOut(i, "footnote", strings.Repeat("x", 1000))
	}
	l.Add(other)
	if l.LeftOut != 3000 || len(l.Rows) != 1000 || len(other.Rows[0].Text) > 210 {
		t.Errorf("got %d rows, %d listed, a text of %d bytes", l.LeftOut, len(l.Rows), len(other.Rows[0].Text))
	}
}
