package export

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// RecordMemory returns about how many bytes an export needs for its longest record: a copy of it
// with the selected fields, and a decoded value. The lane accounts for an export of short records.
func RecordMemory(d herb.Dataset, req *query.Request) int {
	const copies, inLane = 3, 256 << 10
	if d.Report == nil {
		return 0 // plants, which are short
	}
	longest := 0
	for _, c := range d.Report.Columns {
		if req.Selected == nil {
			longest += c.Longest
		}
	}
	for _, i := range req.Selected {
		longest += LongestValue(d, i)
	}
	return max(0, copies*longest-inLane)
}

// LongestValue returns the length of the longest value of a field; 0 if it is not known.
func LongestValue(d herb.Dataset, field int) int {
	if d.Report == nil || field < 0 || field >= len(d.Report.Columns) {
		return 0
	}
	return d.Report.Columns[field].Longest
}
