package tables

import (
	"herbarium/internal/herb"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/format"
)

// setPlaces sets how many digits after the decimal point the numbers of each column leave space
// for, so that their decimal points are below each other: as many as any number of the column has,
// so that a filter moves none. Cells show numbers as they are; no digits are added or left out.
func (t *Table) setPlaces(d *columns.Dataset, rows []herb.Record) {
	for k := range t.Headers {
		h := &t.Headers[k]
		if h.Kind != columns.KindNumber {
			continue
		}
		longestWhole := 0
		add := func(value string) {
			if whole, fraction, ok := format.SplitDecimal(&h.Field, value); ok {
				h.places, longestWhole = max(h.places, len(fraction)), max(longestWhole, len(h.Number(whole)))
			}
		}
		if r := d.Meanings[h.Index].Report; r != nil {
			add(r.Min)
			add(r.Max)
			h.places = max(h.places, r.Decimals)
		}
		if h.places == 0 { // versions of earlier releases have no number of decimals
			for _, row := range rows {
				add(row[h.Index])
			}
		}
		room := int(float64(h.Width-cellPadding)/digitWidth) - longestWhole - 1
		h.places = max(min(h.places, room), 0) // a space never clips a number
	}
}

// pad returns the digits that a number lacks to end where the longest fraction of its column does.
func (h *Header) pad(value string) string {
	_, fraction, ok := format.SplitDecimal(&h.Field, value)
	if !ok {
		return ""
	}
	return format.DecimalPad(fraction, h.places)
}

// numberLength returns the length of the numbers of a column with their decimal points below each
// other. The ends of the column have the longest whole parts.
func numberLength(c *columns.Column, r *herb.ColumnReport) int {
	longest := r.Longest
	for _, value := range []string{r.Min, r.Max} {
		longest = max(longest, len(c.Number(value)))
		if whole, _, ok := format.SplitDecimal(&c.Field, value); ok && r.Decimals > 0 {
			longest = max(longest, len(c.Number(whole))+1+r.Decimals)
		}
	}
	return longest
}
