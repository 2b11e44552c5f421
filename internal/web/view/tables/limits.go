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
	h := newHighlighter(s, req)
	for i, f := range s.Fields {
		// a match of the search may bring a column into view
		if h.Marks(i) && (limits[i] > 0 || len(s.Columns) == 0 && f.Searchable && req.Search != nil) {
			limits[i] = maxFoundValue
		}
	}
	return limits
}
