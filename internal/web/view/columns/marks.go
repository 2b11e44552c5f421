package columns

import "herbarium/internal/herb"

// longestCategory is the length of the longest value of a text column that colors points, in
// characters: a map loads the values of all its points.
const longestCategory = 200

// CanColor reports whether a field can color the points of a map: a number, or a short text of
// which the most frequent values get colors.
func (d *Dataset) CanColor(i int) bool {
	switch f, c := d.Fields[i], d.Meanings[i].Report; {
	case !f.Filterable:
		return false
	case f.Type == herb.TypeText:
		return c == nil || c.Longest <= longestCategory
	default:
		return f.Type == herb.TypeNumber || f.Type == herb.TypeBoolean
	}
}

// CanSize reports whether a field can be the size of the points of a map.
func (d *Dataset) CanSize(i int) bool {
	return d.Fields[i].Filterable && d.Fields[i].Type == herb.TypeNumber
}
