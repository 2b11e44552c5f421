package value

import (
	"herbarium/internal/text"
)

// digitDates recognizes columns of dates without separators, such as 20240229.
type digitDates struct {
	count    int     // dates in any notation
	rejected [3]bool // by the position in digitFormats: some value is not in the notation
}

// observe adds a value.
func (d *digitDates) observe(v []byte) {
	if len(v) != len("20240229") {
		return
	}
	isDate := false
	for i, format := range digitFormats() {
		matches := text.MatchesDateFormat(format, v)
		isDate, d.rejected[i] = isDate || matches, d.rejected[i] || !matches
	}
	if isDate {
		d.count++
	}
}

// format returns the notation of all values of the column, of which there are count; empty if there
// is none or more than one.
func (d *digitDates) format(count int) string {
	format := ""
	for i, f := range digitFormats() {
		switch {
		case d.rejected[i]:
		case format != "" || d.count < count:
			return ""
		default:
			format = f
		}
	}
	return format
}
