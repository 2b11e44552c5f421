package column

import (
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// valueCollector counts the distinct values of a facet and keeps the most frequent ones.
type valueCollector struct {
	topValues
	find               *text.Substring // values to return contain it; nil means all values
	distinct, matching int
}

func newValueCollector(q *query.FacetRequest, buffer []valueCount) *valueCollector {
	c := &valueCollector{topValues: topValues{skip: q.Offset, most: q.Top, values: buffer[:0]}}
	if find := text.NewSubstring(q.Containing); find.Len() > 0 {
		c.find = find
	}
	return c
}

// addDistinct counts n values, all of which could be returned.
func (v *valueCollector) addDistinct(n int) {
	v.distinct += n
	v.matching += n
}

// count counts a value and reports whether it can be returned.
func (v *valueCollector) count(value []byte) bool {
	return v.countFound(v.find == nil || v.find.In(value))
}

// countFound counts a value that contains the substring to find, or does not. It returns found.
func (v *valueCollector) countFound(found bool) bool {
	v.distinct++
	if found {
		v.matching++
	}
	return found
}

// setFacet sets the counts and values of a facet.
func (v *valueCollector) setFacet(f *query.Facet) {
	f.Distinct, f.Matching, f.Values = v.distinct, v.matching, v.list()
}
