package segment

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Union lists segments and a tail as one dataset: the records of the first segment, then those of
// the second and so on, then those of the tail. All have the same fields: texts, and numbers of
// which no two parts have the same, such as a primary key. It is safe for concurrent use while the
// caller holds a reference to each segment.
type Union struct {
	Segments []*Reader
	Tail     Tail
}

// Len returns the number of records.
func (u *Union) Len() int {
	n := u.Tail.Len()
	for _, r := range u.Segments {
		n += r.Len()
	}
	return n
}

// List returns the requested page. Its records may point into the maps of the segments.
func (u *Union) List(ctx context.Context, q *query.Request) (page query.Page, err error) {
	err = runQuery(ctx, u.guard, u.Segments, q, func(st *guard.Steps) error {
		m := u.match(st, q)
		defer m.release()
		page.Total = m.total
		from := min(q.Offset(), m.total)
		for _, e := range m.page(from, min(from+q.PerPage, m.total)) {
			prefault(st, e.record)
			page.Records = append(page.Records, e.record)
		}
		return nil
	})
	return page, err
}

// guard calls read and converts faults of the maps and failed format checks to errors.
func (u *Union) guard(read func() error) error {
	for _, r := range u.Segments {
		inner := read
		read = func() error { return r.file.Guard(inner) }
	}
	return guard.Run(nil, read)
}

// sortKey is the position of a record in the order of a request; records with the same key are in
// dataset order. Without a sort and a search, all keys are the same.
type sortKey struct {
	fields []column.SortKey // by sort field
	score  float64          // by relevance
}

func (a sortKey) compare(b sortKey, sort []query.SortField) int {
	return cmp.Or(column.CompareSortKeys(a.fields, b.fields, sort), cmp.Compare(b.score, a.score))
}

type entry struct {
	sortKey
	record []byte
}

// matches is the records of one part of a union that match a request, in its order.
type matches interface {
	len() int
	// locate returns the numbers of the records at positions [from, to).
	locate(from, to int) []uint32
	// record returns the record with a number.
	record(number uint32) []byte
	// key returns the sort key of the record with a number, which is at a position.
	key(position int, number uint32) sortKey
	// countThrough returns the number of records that do not sort after a key.
	countThrough(k sortKey) int
	// dropRead releases memory that was only needed for the records up to the one with a number.
	dropRead(number uint32)
	release()
}

// unionMatches is the records of a union that match a request.
type unionMatches struct {
	parts []matches
	sort  []query.SortField // empty if there is only one part, whose records are not compared
	total int
}

func (u *Union) match(st *guard.Steps, q *query.Request) *unionMatches {
	m := &unionMatches{}
	stats := u.Tail.statistics(st, q)
	segments := make([]*segmentMatches, len(u.Segments))
	for i, r := range u.Segments {
		segments[i] = &segmentMatches{r: r, steps: st, q: q, result: r.evaluate(st, q, nil)}
		m.parts = append(m.parts, segments[i])
	}
	if len(u.Segments) != 1 || u.Tail.Len() > 0 {
		for _, s := range segments {
			if q.ByRelevance() {
				stats.Add(s.r.words.Statistics(st, s.clauses))
			}
		}
		for _, s := range segments {
			s.order(stats)
		}
		m.parts = append(m.parts, u.Tail.match(st, q, stats))
	}
	if len(m.parts) > 1 {
		m.sort = q.Sort
	}
	for _, p := range m.parts {
		m.total += p.len()
	}
	return m
}

func (m *unionMatches) release() {
	for _, p := range m.parts {
		p.release()
	}
}

// entry returns the record of a part with a number, which is at a position, with its sort key if it
// is compared.
func (m *unionMatches) entry(p matches, position int, number uint32) entry {
	e := entry{record: p.record(number)}
	if len(m.parts) > 1 {
		e.sortKey = p.key(position, number)
	}
	return e
}

func (m *unionMatches) page(from, to int) (entries []entry) {
	for i, start := range m.split(from) {
		p := m.parts[i]
		for j, n := range p.locate(start, min(start+to-from, p.len())) {
			entries = append(entries, m.entry(p, start+j, n))
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return a.compare(b.sortKey, m.sort) })
	return entries[:to-from]
}

// split returns how many of the first n records are in each part.
//
// It starts with the last part. The position of one of its records among those of all parts before
// it is the number of their records that do not sort after it, because ties are in dataset order;
// so a binary search finds how many are among the first n. The rest of n is in the parts before.
func (m *unionMatches) split(n int) []int {
	starts := make([]int, len(m.parts))
	for i := len(m.parts) - 1; i >= 0; i-- {
		before, p := m.parts[:i], m.parts[i]
		rest := 0
		for _, b := range before {
			rest += b.len()
		}
		low, high := max(n-rest, 0), min(n, p.len())
		starts[i] = low + sort.Search(high-low, func(j int) bool {
			at := low + j
			key := p.key(at, p.locate(at, at+1)[0])
			for _, b := range before {
				at += b.countThrough(key)
			}
			return at >= n
		})
		n -= starts[i]
	}
	return starts
}
