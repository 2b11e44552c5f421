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

func newValueCollector(q *query.FacetRequest) *valueCollector {
	c := &valueCollector{topValues: topValues{skip: q.Offset, most: q.Top}}
	if q.Containing != "" {
		c.find = text.NewSubstring(q.Containing)
	}
	return c
}

// addDistinct counts n values, all of which could be returned.
func (v *valueCollector) addDistinct(n int) {
	v.distinct += n
	v.matching += n
}

// addValue adds a value. It keeps neither the value nor its sort key unless they are among the top.
func (v *valueCollector) addValue(c valueCount) {
	if v.count(c.value) {
		v.offer(c)
	}
}

// count counts a value and reports whether it can be returned.
func (v *valueCollector) count(value string) bool {
	v.distinct++
	if v.find != nil && !v.find.In(value) {
		return false
	}
	v.matching++
	return true
}

// addRun adds the value of a run.
func (v *valueCollector) addRun(c *Column, run, n int) {
	if v.find == nil {
		v.addDistinct(1)
		v.offerRun(run, n)
	} else if v.count(c.RunValue(run)) {
		v.offerRun(run, n)
	}
}

// setFacet sets the counts of a facet. valueOf returns the value of a run.
func (v *valueCollector) setFacet(f *query.Facet, valueOf func(run int) string) {
	f.Distinct, f.Matching, f.Values = v.distinct, v.matching, v.list(valueOf)
}
