package columns

import "herbarium/internal/herb"

// CanColor reports whether a field can color the points of a map: a number, or a short text of
// which the most frequent values get colors.
func (d *Dataset) CanColor(i int) bool {
	f, c := d.Fields[i], d.Meanings[i].Report
	isShort := f.Type == herb.TypeText && (c == nil || c.Longest <= LongText)
	return d.CanSize(i) || f.Filterable && (isShort || f.Type == herb.TypeBoolean)
}

// CanSize reports whether a field can be the size of the points of a map.
func (d *Dataset) CanSize(i int) bool {
	return d.Fields[i].Filterable && d.Fields[i].Type == herb.TypeNumber
}
