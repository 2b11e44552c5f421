package tables

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// TestWidths checks the widths of columns by their values, those that users choose, and the column
// that takes the rest of the window.
func TestWidths(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Records: 100}
	d.Report = &herb.Report{}
	for _, c := range []struct {
		name    string
		kind    herb.Type
		longest int
		max     string
	}{
		{"id", herb.TypeNumber, 13, "9780000029563"}, {"name", herb.TypeText, 20, "Zinnia"},
		{"speech:1", herb.TypeText, 5000, "words"},
		{"heading_that_is_long", herb.TypeBoolean, 5, "true"}, {"名称", herb.TypeText, 12, "東京都"},
	} {
		d.Fields = append(d.Fields, herb.Field{Name: c.name, Type: c.kind})
		d.Report.Columns = append(d.Report.Columns, herb.ColumnReport{Field: c.name, Filled: 100, Distinct: 100,
			Longest: c.longest, Max: c.max})
	}
	for _, tt := range []struct{ query, want, params string }{
		{"", "id 137, name 162, speech:1 320 rest, heading_that_is_long 198, 名称 183: 1056 stretches", ""},
		{"_width=name:300", "id 137, name 300, speech:1 320 rest, heading_that_is_long 198, 名称 183: 1194 stretches",
			"_width=name%3A300"},
		{"_width=speech:1:500", "id 137, name 162, speech:1 500, heading_that_is_long 198, 名称 183: 1236",
			"_width=speech%3A1%3A500"},
		{"_width=name:10&_width=name:20000",
			"id 137, name 1200, speech:1 320 rest, heading_that_is_long 198, 名称 183: 2094 stretches",
			"_width=name%3A1200"},
		{"_width=name:0&_width=gone:50&_width=name&_width=name:x",
			"id 137, name 162, speech:1 320 rest, heading_that_is_long 198, 名称 183: 1056 stretches", ""},
		{"_fields=id&_width=id:60", "id 60: 116", "_fields=id&_width=id%3A60"},
	} {
		s, _, err := state.ParseState("/t", query.Split(tt.query), columns.Read(d))
		if err != nil {
			t.Fatal(err)
		}
		req, err := s.Request(herb.Order{})
		if err != nil {
			t.Fatal(err)
		}
		s.Pin = -1
		if s.Columns == nil {
			s.Columns = []int{0, 1, 2, 3, 4}
		}
		table := NewTable(&s, req, nil)
		var parts []string
		for _, h := range table.Headers {
			part := fmt.Sprintf("%s %d", h.Name, h.Width)
			if h.Flexible {
				part += " rest"
			}
			parts = append(parts, part)
		}
		got := fmt.Sprintf("%s: %d", strings.Join(parts, ", "), table.Width)
		if table.Stretches {
			got += " stretches"
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.query, got, tt.want)
		}
		if len(tt.query) > 0 {
			again, _, _ := state.ParseState("/t", query.Split(tt.query), columns.Read(d))
			if params := again.Params().Encode(); params != tt.params {
				t.Errorf("%s becomes %s, want %s", tt.query, params, tt.params)
			}
		}
	}
}

// TestCellLength checks that wide cells have more of a text than narrow ones, and an ellipsis.
func TestCellLength(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("long ", 200)
	for _, tt := range []struct{ limit, want int }{{30, 31}, {300, 301}, {2000, 1000}} {
		c := newCell(&state.State{}, &Header{limit: tt.limit}, value, noMarks())
		if got := len([]rune(c.Text)); got != tt.want || c.Clipped != (tt.limit < len(value)) {
			t.Errorf("%d of %d characters, clipped is %t", got, tt.limit, c.Clipped)
		}
	}
}

// TestRowNumberWidth compares the widths with the style sheet, which cannot be told: pages have no
// styles of their own.
func TestRowNumberWidth(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("../../assets/grid.css")
	for digits, width := range rowNumberWidths {
		want := fmt.Sprintf(".grid:has(.digits%d) { --row-number: %dpx; }", digits, width)
		if digits == 4 {
			want = fmt.Sprintf(".grid { --row-number: %dpx;", width)
		}
		if width > 0 && (err != nil || !strings.Contains(string(css), want)) {
			t.Errorf("grid.css does not contain %q, %v", want, err)
		}
	}
}

// TestWidths_exceptions checks that a column has space for its type and the number of exceptions.
func TestWidths_exceptions(t *testing.T) {
	t.Parallel()
	d := &herb.Dataset{Records: 600, Fields: []herb.Field{{Name: "p", Type: herb.TypeNumber},
		{Name: "q", Type: herb.TypeNumber}}}
	exceptions := []herb.ValueCount{{Value: "on request", Count: 10}}
	d.Report = &herb.Report{Columns: []herb.ColumnReport{{Field: "p", Filled: 600, Longest: 6, Exceptions: exceptions},
		{Field: "q", Filled: 600, Longest: 6}}}
	s, _, err := state.ParseState("/t", query.Split(""), columns.Read(d))
	if err != nil {
		t.Fatal(err)
	}
	req, err := s.Request(herb.Order{})
	if err != nil {
		t.Fatal(err)
	}
	s.Columns = []int{0, 1}
	if h := NewTable(&s, req, nil).Headers; h[0].Width < leastWidth+20 || h[1].Width != leastWidth {
		t.Errorf("the widths are %d and %d", h[0].Width, h[1].Width)
	}
}
