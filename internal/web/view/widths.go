package view

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/plot"
)

// The widths of columns in pixels. Tables have a fixed layout: browsers lay out a page without
// measuring its cells, and columns do not move while you type.
const (
	rowNumberWidth = 56  // of the first column; grid.css repeats it
	leastWidth     = 124 // of the chart in the header
	mostWidth      = 260 // unless the column has the longest texts
	longTextWidth  = 320
	widthStep      = 80 // of the menu

	cellPadding = 20
	fontSize    = 13
)

// The widths of columns that a user may choose, in pixels.
const (
	minWidth = 48
	maxWidth = 1200
)

// ColumnWidth is the width of a column that a user has chosen.
type ColumnWidth struct{ field, pixels int }

// setWidth sets the width of a column from a parameter such as "title:320"; 0 restores the default.
func (s *State) setWidth(value string) {
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return
	}
	field := herb.FieldIndex(s.fields, value[:at])
	pixels, err := strconv.Atoi(value[at+1:])
	if field < 0 || err != nil || pixels < 0 {
		return
	}
	s.Widths = slices.DeleteFunc(s.Widths, func(w ColumnWidth) bool { return w.field == field })
	if pixels > 0 && len(s.Widths) < maxColumns {
		s.Widths = append(s.Widths, ColumnWidth{field, min(max(pixels, minWidth), maxWidth)})
	}
}

// widthParams returns the parameters of the chosen widths.
func (s *State) widthParams() (ps query.Params) {
	for _, w := range s.Widths {
		ps = append(ps, query.Param{Name: ParamWidth, Value: widthValue(s.fields[w.field].Name, w.pixels)})
	}
	return ps
}

func widthValue(field string, pixels int) string { return field + ":" + strconv.Itoa(pixels) }

// setWidths sets the widths of the columns of a table. One column takes the rest of the window,
// unless users have chosen widths for all that could: that with the longest texts, else the last
// one that is not a number.
func (t *Table) setWidths(s *State) {
	flexible, longest := -1, 0
	for k := range t.Headers {
		h := &t.Headers[k]
		h.Width = defaultWidth(s.dataset, &h.Column)
		if at := slices.IndexFunc(s.Widths, func(w ColumnWidth) bool { return w.field == h.Index }); at >= 0 {
			h.Width, h.Sized = s.Widths[at].pixels, true
		} else if score := flexibility(s.dataset, &h.Column); score > 0 && score >= longest {
			flexible, longest = k, score
		}
		h.limit = max(h.Width/4, leastCell) // narrow letters have four pixels
	}
	if flexible >= 0 {
		t.Headers[flexible].Flexible, t.Headers[flexible].limit = true, maxCell
	}
	t.Width = rowNumberWidth
	for k := range t.Headers {
		t.Width += t.Headers[k].Width
	}
	t.Stretches = flexible >= 0
}

// Wider and Narrower return the values of the parameter that changes the width of a column.
func (h *Header) Wider() string    { return widthValue(h.Name, h.Width+widthStep) }
func (h *Header) Narrower() string { return widthValue(h.Name, max(h.Width-widthStep, minWidth)) }

// DefaultWidth returns the value of the parameter that restores the width of a column.
func (h *Header) DefaultWidth() string { return widthValue(h.Name, 0) }

// flexibility rates a column as the one that takes the rest of the window; 0 if it cannot.
func flexibility(d *herb.Dataset, c *Column) int {
	const longest = 40 // characters that need more space than others
	switch c.Kind {
	case KindNumber, KindCode, KindDate, KindImage:
		return 0
	}
	if r := ColumnReport(d, c.Index); r != nil && c.Kind == KindText && r.Longest > longest {
		return r.Longest
	}
	return 1
}

// defaultWidth returns the width of a column that fits its heading, and its values as far as the
// publish report describes them.
func defaultWidth(d *herb.Dataset, c *Column) int {
	const menu, digit = 28, 9.0 // all digits of numbers have the same width
	need := plot.TextWidth(c.Heading, fontSize) + menu
	r := ColumnReport(d, c.Index)
	switch {
	case c.Kind == KindImage:
		return leastWidth
	case c.Type == herb.TypeDateTime:
		need = max(need, 150)
	case c.Type == herb.TypeNumber && r != nil:
		for _, value := range []string{r.Min, r.Max} {
			shown := c.number(roundNumber(&c.Field, value, decimals(&c.Field, value)))
			need = max(need, digit*float64(len(shown)))
		}
	case c.Kind == KindText && r != nil && r.Longest > longText:
		return longTextWidth
	case c.Kind == KindText && r != nil:
		sample := r.Min + r.Max // shows how wide the letters are
		letter := plot.TextWidth(sample, fontSize) / float64(max(utf8.RuneCountInString(sample), 1))
		need = max(need, letter*float64(r.Longest))
	case c.Kind == KindText, c.Kind == KindList:
		need = max(need, 180)
	}
	return int(min(max(need+cellPadding, leastWidth), mostWidth))
}
