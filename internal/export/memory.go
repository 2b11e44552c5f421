package export

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// inLane is the memory of a request that its lane accounts for. Estimates are the rest.
const inLane = 256 << 10

// RecordMemory returns about how many bytes an export needs for its longest record: a copy of it
// with the selected fields, and a decoded value.
func RecordMemory(d *herb.Dataset, req *query.Request) int {
	const copies = 3
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
		longest += longestValue(d, i)
	}
	longest += req.LabelBytes()
	return max(0, copies*longest-inLane)
}

// longestValue returns the length of the longest value of a field; 0 if it is not known.
func longestValue(d *herb.Dataset, field int) int {
	if d.Report == nil || field < 0 || field >= len(d.Report.Columns) {
		return 0
	}
	return d.Report.Columns[field].Longest
}

// TypedMemory returns about how many bytes a response in typed JSON needs for its longest list: the
// text, its elements and the array.
func TypedMemory(d *herb.Dataset, req *query.Request) int {
	const copies = 12
	if d.Report == nil || !req.Typed {
		return 0
	}
	longest := 0
	for _, f := range req.Fields() {
		if f.Type == herb.TypeList {
			longest = max(longest, longestValue(d, herb.FieldIndex(d.Fields, f.Name)))
		}
	}
	return max(0, copies*longest-inLane)
}

// GeometryMemory returns about how many bytes a file with geometries needs for its longest one: the
// value, and the geometry that is written.
func GeometryMemory(d *herb.Dataset, format Format) int {
	const copies = 12
	if format != GeoJSON {
		return 0
	}
	longest := 0
	for _, c := range d.Coordinates {
		longest = max(longest, longestValue(d, herb.FieldIndex(d.Fields, c.Field)))
	}
	return max(0, copies*longest-inLane)
}

// GroupMemory returns about how many bytes an export of groups needs for the longest row, like
// RecordMemory. Computed values are short.
func GroupMemory(d *herb.Dataset, req *query.AggregateRequest) int {
	const copies = 3
	longest := 0
	for _, by := range req.By {
		longest += longestValue(d, by.Field)
	}
	for _, m := range req.Measures[:req.Returned] {
		if !m.Kind.IsComputed() {
			longest += longestValue(d, m.Field)
		}
	}
	return max(0, copies*longest-inLane)
}
