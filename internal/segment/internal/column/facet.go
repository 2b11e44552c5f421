package column

import (
	"maps"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
)

// Part is the records of one segment of a union that match a request.
type Part struct {
	Column *Column
	Set    *bitmap.Set // nil means all records
}

// Value is a value of a field and the number of records that have it.
type Value struct {
	Key   string // sort key
	Text  string // as written
	Count int
}

// Values are the values of a field in several records in memory.
type Values struct {
	All   []Value // of each record that has one, in ascending order
	Empty int     // records whose value is missing
}

// FacetCounter counts the facets of a request. Its memory is reused for each field.
type FacetCounter struct {
	Request *query.FacetRequest
	buffer  []valueCount
}

// Facet returns the facet of a field among the matching records of some segments and among tail,
// the matching values in memory. all is the values in memory of all records, for the edges of
// histograms. Lists are only counted in segments, of which there must be at most one.
func (c *FacetCounter) Facet(st *guard.Steps, f *herb.Field, parts []Part, tail, all Values) query.Facet {
	q := c.Request
	facet := query.Facet{Field: f.Name, Type: f.Type, Total: tail.Empty + len(tail.All), Empty: tail.Empty}
	// Several parts of a union may have a text. Values of other types are merged by part, because
	// comparing them takes most of the time.
	isText, isList, hasRange := f.Type == herb.TypeText, f.Type == herb.TypeList, query.HasRange(f.Type)
	mergers := []*valueMerger{newValueMerger(st, q)}
	for range parts {
		if !isText && !isList {
			mergers = append(mergers, newValueMerger(st, q))
		}
	}
	last := mergers[len(mergers)-1]
	isAlone := len(mergers) > 1 || len(parts) == 1 && len(tail.All) == 0
	var counted, edges []population
	for i, p := range parts {
		search := newValueSearch(p, last.find != nil)
		minRecords := 1 // of the runs to count
		if isAlone {
			minRecords = search.minRecords
		}
		o := newSortedResult(st, p.Column, p.Set, !isList && !p.Column.countsBySets(st, p.Set, minRecords))
		defer o.release()
		if hasRange {
			unfiltered := newSortedResult(st, p.Column, nil, false)
			o.keys = p.Column.newRunKeys(st, q.Buckets)
			unfiltered.keys = o.keys
			counted, edges = append(counted, &o), append(edges, &unfiltered)
		}
		facet.Total += o.total
		facet.Empty += o.total - o.len()
		if m := mergers[min(i, len(mergers)-1)]; isList {
			m.values = c.buffer[:0]
			p.Column.countElements(st, p.Set, m.valueCollector)
		} else {
			m.addRuns(&o, search)
		}
	}
	last.addValues(tail.All, EqualByKey(f.Type))
	if hasRange {
		counted = append(counted, valuePopulation(tail.All))
		if edges = append(edges, valuePopulation(all.All)); !q.AllEdges {
			edges = counted
		}
		setHistogram(&facet, f, counted, edges, q)
	}
	var tops []topList
	for _, m := range mergers {
		if !isList { // elements are counted already
			m.values = c.buffer[:0]
			m.merge()
		}
		m.sort()
		tops, c.buffer = append(tops, topList{values: slices.Clone(m.values)}), m.values
		facet.Distinct += m.distinct
		facet.Matching += m.matching
	}
	facet.Values = mergeTops(tops, f, q)
	return facet
}

// spellingCounts returns the different texts of a non-uniform run among the matches and their
// counts, in the order of their bytes.
func (o *sortedResult) spellingCounts(run int) (values []Value) {
	counts := map[string]int{}
	from, to := o.run(run)
	for p := from; p < to; p++ {
		o.steps.Add(1)
		if rec := o.sorted.At(p); o.set == nil || o.set.Has(rec) {
			value := o.readValue(o.steps, rec)
			if counts[value] == 0 {
				o.steps.Reserve(bytesPerSpelling + len(value))
			}
			counts[value]++
		}
	}
	key := o.runKey(run)
	for _, spelling := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		o.steps.Add(1)
		return strings.Compare(a, b)
	}) {
		values = append(values, Value{key, spelling, counts[spelling]})
	}
	return values
}
