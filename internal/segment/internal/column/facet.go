package column

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// Part is the records of one segment of a union that match a request.
type Part struct {
	Column *Column
	Set    *bitmap.Set // nil means all records
}

func (p Part) matching() int {
	if p.Set == nil {
		return p.Column.sorted.Len()
	}
	return p.Set.Len()
}

// FacetCounter counts the facets of a request. Its memory is reused for each field.
type FacetCounter struct {
	Request *query.FacetRequest
	buffer  []valueCount
}

// Facet returns the facet of a field among the matching records of one or more segments. Several
// segments may have the same texts, but not the same values of other types, and no lists.
func (c *FacetCounter) Facet(st *guard.Steps, parts []Part) query.Facet {
	q, f := c.Request, &parts[0].Column.Field
	facet := query.Facet{Field: f.Name, Type: f.Type}
	isList, merges := f.Type == herb.TypeList, f.Type == herb.TypeText && len(parts) > 1
	finds := newValueCollector(q).find != nil
	var cursors []*valueCursor
	var counted, edges []population
	var tops []topList
	add := func(collect func(v *valueCollector)) {
		v := newValueCollector(q)
		v.values = c.buffer[:0]
		collect(v)
		v.sort()
		tops, c.buffer = append(tops, topList{values: slices.Clone(v.values)}), v.values
		facet.Distinct += v.distinct
		facet.Matching += v.matching
	}
	for i, p := range parts {
		facet.Total += p.matching()
		if p.matching() == 0 && !q.AllEdges {
			continue
		}
		search := newValueSearch(p, finds)
		if merges {
			search = valueSearch{minRecords: 1} // each value is compared with those of other segments
		}
		o := newSortedResult(st, p.Column, p.Set, !isList && !p.Column.countsBySets(st, p.Set, search.minRecords))
		defer o.release()
		facet.Empty += o.total - o.countBelow(o.Values())
		if query.HasRange(f.Type) {
			own := population{&o, p.Column.newRunKeys(st, q.Buckets)}
			unfiltered := newSortedResult(st, p.Column, nil, false)
			counted, edges = append(counted, own), append(edges, population{&unfiltered, own.keys})
		}
		switch {
		case isList:
			add(func(v *valueCollector) { p.Column.countElements(st, p.Set, v) })
		case merges:
			cursors = append(cursors, newValueCursor(i, &o))
		default:
			add(func(v *valueCollector) { v.collectRuns(&o, search) })
		}
	}
	if merges {
		add(func(v *valueCollector) { v.collectMerged(st, cursors) })
	}
	if query.HasRange(f.Type) {
		if !q.AllEdges {
			edges = counted
		}
		setHistogram(&facet, f, counted, edges, q)
	}
	facet.Values = mergeTops(tops, f, q)
	return facet
}

// collectMerged collects the values of several segments.
func (v *valueCollector) collectMerged(st *guard.Steps, cursors []*valueCursor) {
	order := 0
	mergeValues(st, cursors, func(same []*valueCursor) {
		first, n := same[0], 0
		for _, c := range same {
			n += c.count
		}
		if v.countFound(v.find == nil || first.contains(v.find)) && v.qualifies(n, order) {
			v.offer(valueCount{n: n, order: order, column: first.runs.Column, run: first.run, value: first.text})
		}
		order++
	})
}

// valueSearch is the method of counting the values of a segment, and of searching them for a
// substring.
type valueSearch struct {
	all        bool // search the stored values of all runs, and count those that contain it; else search those with matches
	minRecords int  // of the runs to count one by one. Runs of one record need not be counted unless each is searched for
}

// newValueSearch chooses the search of the matches of a part, or only how they are counted if there
// is nothing to find.
func newValueSearch(p Part, finds bool) valueSearch {
	// Searching the stored values in sequence is fast, so it is chosen if many runs have a match.
	all := finds && p.Column.StoresValues() && p.matching() >= p.Column.Distinct()/cost.SearchShare
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
		if n := runs.countRun(run, int(o.runs.At(run)), int(o.runs.At(run+1))); n > 0 && !o.isNonUniform(run) { // those are counted already
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
