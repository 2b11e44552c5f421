package tables

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/state"
)

// The limits in bytes of what a page reads of a value. Values can have megabytes, and a page a
// hundred rows.
const (
	// MaxRecordValue is the limit of a value of the open record.
	MaxRecordValue = 32 << 10
	// maxRecordJSON is the limit of the JSON of the open record. That of a larger one is not shown.
	maxRecordJSON = 64 << 10
	// maxCellValue is the limit of a value in the table, which shows 60 characters of it. It is
	// longer than addresses that are linked.
	maxCellValue = 4 << 10
	// maxFoundValue is the limit of a list, whose elements are counted, and of a value in which the
	// table shows a match.
	maxFoundValue = 16 << 10
)

// DecodeLimits returns how many bytes of the values of each field the table needs; none of fields
// that it does not show.
func DecodeLimits(s *state.State, req *query.Request) []int {
	limits := make([]int, len(s.Fields))
	for _, i := range s.ShownColumns() {
		limits[i] = maxCellValue
		if s.Fields[i].Type == herb.TypeList {
			limits[i] = maxFoundValue
		}
	}
	if req.Search == nil {
		return limits
	}
	for i, f := range s.Fields {
		if f.Searchable && (limits[i] > 0 || len(s.Columns) == 0) { // a match may bring a column into view
			limits[i] = maxFoundValue
		}
	}
	return limits
}
