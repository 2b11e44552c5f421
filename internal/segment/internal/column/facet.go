package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// FacetCounter counts the facets of a request. Its memory is reused for each field.
type FacetCounter struct {
	Request *query.FacetRequest
	buffer  []valueCount
}

// Facet returns the facet of a field among the matching records; a nil set means all.
func (c *FacetCounter) Facet(st *guard.Steps, column *Column, set *bitmap.Set) query.Facet {
	q, f := c.Request, &column.Field
	facet := query.Facet{Field: f.Name, Type: f.Type, Total: column.sorted.Len()}
	if set != nil {
		facet.Total = set.Len()
	}
	if query.HasRange(f.Type) {
		facet.Scale = query.ScaleLinear
	}
	if facet.Total == 0 && !q.AllEdges {
		return facet
	}
	v := newValueCollector(q)
	v.values = c.buffer[:0]
	isList, search := f.Type == herb.TypeList, newValueSearch(column, facet.Total, v.find != nil)
	o := newSortedResult(st, column, set, !isList && !column.countsBySets(st, set, search.minRecords))
	defer o.release()
	facet.Empty = o.total - o.countBelow(o.Values())
	if isList {
		column.countElements(st, set, v)
	} else {
		v.collectRuns(&o, search)
	}
	facet.Distinct, facet.Matching, facet.Values = v.distinct, v.matching, v.top(q.Offset)
	c.buffer = v.values
	if query.HasRange(f.Type) {
		counted := population{&o, column.newRunKeys(st, q.Buckets)}
		edges := counted
		if q.AllEdges {
			unfiltered := newSortedResult(st, column, nil, false)
			edges.sortedResult = &unfiltered
		}
		setHistogram(&facet, f, counted, edges, q)
	}
	return facet
}

// valueSearch is the method of counting the values of a segment, and of searching them for a
// substring.
type valueSearch struct {
	// search the stored values of all runs, and count those that contain it; else search those with
	// matches
	all bool
	// of the runs to count one by one. Runs of one record need not be counted unless each is
	// searched for
	minRecords int
}

// newValueSearch chooses the search of a number of matches, or only how they are counted if there
// is nothing to find.
func newValueSearch(c *Column, matching int, finds bool) valueSearch {
	// Searching the stored values in sequence is fast, so it is chosen if many runs have a match.
	all := finds && c.StoresValues() && matching >= c.Distinct()/cost.SearchShare
	if finds && !all {
		return valueSearch{minRecords: 1}
	}
	return valueSearch{all: all, minRecords: 2}
}

// collectRuns collects the values of the runs of a segment. Runs of one record need not be counted:
// they have the rest of the matches, and only the first of them, or those that contain the
// substring to find, can be returned.
func (v *valueCollector) collectRuns(o *sortedResult, search valueSearch) {
	offer := func(run, n int, value string) {
		if v.qualifies(n, run) {
			v.offer(valueCount{n: n, order: run, column: o.Column, run: run, value: value})
		}
	}
	runs, values := runCounter{sortedResult: o}, o.newRunValues(o.steps, o.total)
	single := o.countBelow(o.Values())
	for {
		run, n, ok := runs.count(o.Distinct(), search.minRecords)
		if !ok {
			break
		}
		single -= n
		if o.isNonUniform(run) {
			for _, s := range o.spellings(run) {
				if v.countFound(v.find == nil || v.find.In([]byte(s.text))) {
					offer(run, s.count, s.text)
				}
			}
		} else if v.distinct++; !search.all && (v.find == nil || values.contains(run, v.find)) {
			v.matching++
			offer(run, n, "")
		}
	}
	v.distinct += single
	if search.all {
		v.searchRuns(o, &values, offer)
	} else if v.find == nil {
		v.matching += single
		v.offerSingle(o, single, offer)
	}
}

// searchRuns offers the values of the runs that contain the substring to find. Most runs need not
// be counted.
func (v *valueCollector) searchRuns(o *sortedResult, values *runValues, offer func(run, n int, value string)) {
	found, end := o.pool.Get(o.steps), o.Distinct()
	defer o.pool.Put(o.steps, found)
	values.search(0, end, v.find, found)
	runs := runCounter{sortedResult: o}
	for run := found.Next(o.steps, 0, end); run < end; run = found.Next(o.steps, run+1, end) {
		// those are counted already
		if n := runs.countRun(run, int(o.runs.At(run)), int(o.runs.At(run+1))); n > 0 && !o.isNonUniform(run) {
			v.matching++
			offer(run, n, "")
		}
	}
}

// offerSingle offers the values of the first of the runs of one record, of which n match.
func (v *valueCollector) offerSingle(o *sortedResult, n int, offer func(run, n int, value string)) {
	first, left := 0, min(n, v.most)
	if left > 0 && v.qualifies(1, 0) {
		first = o.runAt(0, o.rank(0)) // matches may begin far behind
	}
	for run := first; left > 0 && run < o.Distinct() && v.qualifies(1, run); run++ {
		o.steps.Add(1)
		if from, to := o.run(run); to-from == 1 && (o.set == nil || o.set.Has(o.sorted.At(from))) {
			offer(run, 1, "")
			left--
		}
	}
}
