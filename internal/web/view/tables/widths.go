package tables

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/plot"
	"herbarium/internal/web/view/state"
)

// The widths of columns in pixels. Tables have a fixed layout: browsers lay out a page without
// measuring its cells, and columns do not move while you type.
const (
	leastWidth    = 124 // of the distribution in the header
	mostWidth     = 260 // unless the column has the longest texts
	longTextWidth = 320

	cellPadding = 20
	fontSize    = 13
	digitWidth  = 9.0 // of all digits of numbers
)

// rowNumberWidths are the widths of the column of row numbers in pixels, by the digits of the
// number of records: filters do not change it. --row-number of grid.css is the same.
var rowNumberWidths = [...]int{4: 56, 5: 68, 6: 76, 7: 88, 8: 96, 9: 106}

// setRowNumbers sets the width of the column of row numbers.
func (t *Table) setRowNumbers(records int) {
	t.Digits = min(max(len(strconv.Itoa(records)), 4), len(rowNumberWidths)-1)
	t.RowNumberWidth = rowNumberWidths[t.Digits]
}

// MinWidth and MaxWidth return the widths that a user may choose for a column, in pixels.
func (*Table) MinWidth() int { return state.MinWidth }
func (*Table) MaxWidth() int { return state.MaxWidth }

// MaxDistributions returns how many distributions the script may request at once.
func (*Table) MaxDistributions() int { return query.MaxFacetFields }

// setWidths sets the widths of the columns of a table. One column takes the rest of the window,
// unless users have chosen widths for all that could: the one with the longest texts, else the last
// list. Short values next to each other are easier to read than with a gap in between.
func (t *Table) setWidths(s *state.State) {
	flexible, longest := -1, 0
	for k := range t.Headers {
		h := &t.Headers[k]
		h.Width = defaultWidth(s.Dataset, &h.Column)
		if h.Exceptions != nil { // they are beside the type
			h.Width = max(h.Width, int(plot.TextWidth(string(h.Type)+" – "+h.Exceptions.Label, fontSize))+cellPadding)
		}
		if at := slices.IndexFunc(s.Widths, func(w state.ColumnWidth) bool { return w.Field == h.Index }); at >= 0 {
			h.Width = s.Widths[at].Pixels
		} else if score := flexibility(s.Dataset, &h.Column); score > 0 && score >= longest {
			flexible, longest = k, score
		}
		h.limit = max(h.Width/4, leastCell) // narrow letters have four pixels
	}
	if flexible >= 0 {
		t.Headers[flexible].Flexible, t.Headers[flexible].limit = true, maxCell
	}
	t.setRowNumbers(s.Dataset.Records)
	t.Width = t.RowNumberWidth
	for k := range t.Headers {
		t.Width += t.Headers[k].Width
	}
	t.Stretches = flexible >= 0
}

// flexibility rates a column as the one that takes the rest of the window; 0 if it cannot.
func flexibility(d *columns.Dataset, c *columns.Column) int {
	const longest = 40 // characters that need more space than others
	r := d.Meanings[c.Index].Report
	switch {
	case c.Kind == columns.KindText && r != nil && r.Longest > longest:
		return r.Longest
	case c.Kind == columns.KindText && r == nil, c.Kind == columns.KindList:
		return 1
	}
	return 0
}

// defaultWidth returns the width of a column that fits its heading, and its values as far as the
// publish report describes them.
func defaultWidth(d *columns.Dataset, c *columns.Column) int {
	const menu = 28
	need := plot.TextWidth(c.Heading, fontSize) + menu
	r := d.Meanings[c.Index].Report
	switch {
	case c.Kind == columns.KindImage:
		return leastWidth
	case len(c.Categories) > 0:
		need = max(need, categoryWidth(c.Categories))
	case c.Type == herb.TypeDateTime:
		need = max(need, 150)
	case c.Type == herb.TypeNumber && r != nil:
		need = max(need, digitWidth*float64(numberLength(c, r)))
	case c.Kind == columns.KindText && r != nil && r.Longest > columns.LongText:
		return longTextWidth
	case c.Kind == columns.KindText && r != nil:
		sample := r.Min + r.Max // shows how wide the letters are
		letter := plot.TextWidth(sample, fontSize) / float64(max(utf8.RuneCountInString(sample), 1))
		need = max(need, letter*float64(r.Longest))
	case c.Kind == columns.KindText, c.Kind == columns.KindList:
		need = max(need, 180)
	}
	return int(min(max(need+cellPadding, leastWidth), mostWidth))
}

// categoryWidth returns the width of the longest category as cells show it. Of very many it reads
// the first ones.
func categoryWidth(categories []herb.Category) (widest float64) {
	const most = 1000
	for _, c := range categories[:min(len(categories), most)] {
		widest = max(widest, plot.TextWidth(herb.Clip(cmp.Or(c.Label, c.Value), maxCell), fontSize))
	}
	return widest
}
