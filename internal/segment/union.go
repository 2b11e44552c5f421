package segment

import (
	"cmp"
	"slices"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/fulltext"
)

// Union lists one or more segments as one dataset: the records of the first segment, then those of
// the second and so on. Several segments have the same fields: texts, and numbers of which no two
// segments have the same, such as a primary key. A union is safe for concurrent use while the
// caller holds a reference to each segment.
type Union struct {
	Segments []*Reader
}

// Len returns the number of records.
func (u *Union) Len() (n int) {
	for _, r := range u.Segments {
		n += r.Len()
	}
	return n
}

func (u *Union) fields() []herb.Field { return u.Segments[0].Fields() }

// sortKey is the position of a record in the order of a request; records with the same key are in
// dataset order. Without a sort and a search, all keys are the same.
type sortKey struct {
	fields []column.SortKey // by sort field
	score  float64          // by relevance
}

// compare compares the keys of two records in the order of the request.
func (m *matches) compare(a, b sortKey) int {
	if len(m.segments) == 1 { // records have no keys
		return 0
	}
	return cmp.Or(column.CompareSortKeys(a.fields, b.fields, m.request.Sort), cmp.Compare(b.score, a.score))
}

// keyedRecord is a record with its sort key.
type keyedRecord struct {
	sortKey
	json []byte
}

// record returns the record of a segment with a number, which is at a position. It has a sort key
// if there are several segments, so that it is compared.
func (m *matches) record(s *segmentMatches, position int, number uint32) keyedRecord {
	rec := keyedRecord{json: s.r.records.JSON(number)}
	if len(m.segments) > 1 {
		rec.sortKey = s.key(position, number)
	}
	return rec
}

// order prepares the order of the request: several segments are merged by the same sort keys.
func (m *matches) order() {
	if len(m.segments) == 1 {
		return
	}
	var stats fulltext.Statistics
	if m.request.ByRelevance() {
		for _, s := range m.segments {
			stats.Add(s.r.words.Statistics(m.steps, s.clauses))
		}
	}
	for _, s := range m.segments {
		s.order(stats)
	}
}

// page returns the records at positions [from, to) in the order of the request.
func (m *matches) page(from, to int) [][]byte {
	m.order()
	var all []keyedRecord
	for i, start := range m.split(from) {
		s := m.segments[i]
		for j, number := range s.locate(start, min(start+to-from, s.len())) {
			all = append(all, m.record(s, start+j, number))
		}
	}
	slices.SortStableFunc(all, func(a, b keyedRecord) int { return m.compare(a.sortKey, b.sortKey) })
	page := make([][]byte, to-from)
	for i := range page {
		page[i] = all[i].json
		prefault(m.steps, page[i])
	}
	return page
}

// split returns how many of the first n records are in each segment.
//
// It starts with the last segment. The position of one of its records among those of all segments
// before it is the number of their records that do not sort after it, because ties are in dataset
// order; so a binary search finds how many are among the first n. The rest of n is in the segments
// before.
func (m *matches) split(n int) []int {
	starts := make([]int, len(m.segments))
	for i := len(m.segments) - 1; i >= 0; i-- {
		before, s := m.segments[:i], m.segments[i]
		rest := 0
		for _, b := range before {
			rest += b.len()
		}
		low, high := max(n-rest, 0), min(n, s.len())
		starts[i] = low + sort.Search(high-low, func(j int) bool {
			at := low + j
			key := s.key(at, s.locate(at, at+1)[0])
			for _, b := range before {
				at += b.countThrough(key)
			}
			return at >= n
		})
		n -= starts[i]
	}
	return starts
}
