package columns

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// FilterMode is how a field is filtered.
type FilterMode string

// The filter modes.
const (
	ModeValues FilterMode = "values" // select from values with counts
	ModeRange  FilterMode = "range"  // enter a range
	ModePrefix FilterMode = "prefix" // enter a prefix; nearly every row has a value of its own
)

// ManyValues is how many values a field may have to be filtered by selecting them.
const ManyValues = 5000

// modeOf returns how a field is filtered, depending on its type and on the number of its values in
// the publish report.
func modeOf(d *herb.Dataset, i int, c *herb.ColumnReport) FilterMode {
	f := d.Fields[i]
	if len(f.Categories) > 0 {
		return ModeValues
	}
	if query.HasRange(f.Type) {
		return ModeRange
	}
	if f.Type != herb.TypeText || c == nil || c.Distinct <= 50 || c.Distinct <= ManyValues &&
		2*c.Distinct <= d.Records {
		return ModeValues
	}
	return ModePrefix
}
