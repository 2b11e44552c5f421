package plants

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sort"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/text"
)

// merger merges the plants of several segments that match a request, in its order. Plants with
// equal sort keys are in creation order, which is that of the segments.
type merger struct {
	request *query.Request
	fields  []herb.Field
	results []*segment.Result // by segment
	total   int
	ordered bool // else in creation order
}

// find returns the plants of some segments that match a request. The caller must release them.
func find(ctx context.Context, parts []*segment.Reader, r *query.Request) (m *merger, err error) {
	m = &merger{request: r, fields: parts[0].Fields(), ordered: len(r.Sort) > 0 || r.ByRelevance() &&
		hasScores(r.Search)}
	defer func() {
		if err != nil {
			m.release()
		}
	}()
	if _, err := words(parts, r); err != nil {
		return nil, err
	}
	for _, p := range parts {
		found, err := p.Find(ctx, r)
		if err != nil {
			return nil, err
		}
		m.results, m.total = append(m.results, found), m.total+found.Len()
	}
	if !m.ordered {
		return m, nil
	}
	var stats segment.Statistics
	if r.ByRelevance() {
		for _, found := range m.results {
			own, err := found.Statistics()
			if err != nil {
				return nil, err
			}
			stats.Add(own)
		}
	}
	for _, found := range m.results {
		if err := found.Order(stats); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// hasScores reports whether records have different scores: only words that are searched count.
func hasScores(s *query.Search) bool {
	return slices.ContainsFunc(s.Clauses, func(c query.Clause) bool { return !c.Exclude })
}

func (m *merger) release() {
	for _, found := range m.results {
		found.Release()
	}
}

// plant is a plant with its position in the order of a request.
type plant struct {
	json  []byte
	part  int      // index of its segment
	keys  []string // by sort field; empty if the value is missing
	score float64  // by relevance
}

// newPlant returns the plant of a segment that is at a position of its result.
func (m *merger) newPlant(part, position int, json []byte) (p plant, err error) {
	p = plant{json: json, part: part}
	if len(m.request.Sort) > 0 {
		values := make(herb.Record, 0, len(m.fields))
		if err := herb.NewRecordDecoder(m.fields).Decode(json,
			func(v []byte) { values = append(values, string(v)) }); err != nil {
			return p, err
		}
		p.keys = make([]string, len(m.request.Sort))
		for i, f := range m.request.Sort {
			if v := values[f.Field]; v != "" {
				key, _ := text.Key(m.fields[f.Field].Type, v)
				p.keys[i] = "+" + key // the key of a value may be empty
			}
		}
	} else if m.ordered {
		p.score, err = m.results[part].Score(position)
	}
	return p, err
}

// at returns the plant at a position of the result of a segment, to compare it with others.
func (m *merger) at(part, position int) (p plant, err error) {
	if len(m.request.Sort) == 0 { // its score suffices
		return m.newPlant(part, position, nil)
	}
	found, err := m.results[part].Records(position, position+1)
	if err != nil {
		return p, err
	}
	return m.newPlant(part, position, found[0])
}

// isBefore reports whether a plant precedes one of another segment. Missing values are last in both
// directions.
func (m *merger) isBefore(a, b *plant) bool {
	for i, f := range m.request.Sort {
		switch x, y := a.keys[i], b.keys[i]; {
		case x == y:
		case x == "" || y == "":
			return y == ""
		default:
			return (x < y) != f.Desc
		}
	}
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part)) < 0
}

// page returns the plants at positions [from, to).
func (m *merger) page(from, to int) ([][]byte, error) {
	starts, err := m.split(from)
	if err != nil {
		return nil, err
	}
	var heads []head
	for i, start := range starts {
		records, err := m.results[i].Records(start, min(start+to-from, m.results[i].Len()))
		if err != nil {
			return nil, err
		}
		next := func() (json []byte, err error, ok bool) {
			if len(records) == 0 {
				return nil, nil, false
			}
			json, records = records[0], records[1:]
			return json, nil, true
		}
		heads = append(heads, head{plant: plant{part: i}, position: start, next: next})
	}
	page := make([][]byte, 0, to-from)
	err = m.merge(heads, func(json []byte) bool {
		if len(page) < to-from {
			page = append(page, json)
		}
		return len(page) < to-from
	})
	return page, err
}

// split returns how many of the first n plants are in each segment.
//
// It narrows the bounds of these numbers: it takes the plant in the middle of the widest bounds,
// and counts in each other segment the plants before it. If there are n or more in all segments, it
// is not among the first n, and neither are the plants after it; else the plants before it are.
func (m *merger) split(n int) ([]int, error) {
	low, high := make([]int, len(m.results)), make([]int, len(m.results))
	for i, found := range m.results {
		high[i] = min(found.Len(), n)
	}
	if !m.ordered {
		for i := range high {
			high[i] = min(high[i], n)
			n -= high[i]
		}
		return high, nil
	}
	for {
		widest, sumLow, sumHigh := 0, 0, 0
		for i := range low {
			sumLow, sumHigh = sumLow+low[i], sumHigh+high[i]
		}
		for i := range low {
			low[i], high[i] = max(low[i], n-sumHigh+high[i]), min(high[i], n-sumLow+low[i])
			if high[i]-low[i] > high[widest]-low[widest] {
				widest = i
			}
		}
		if low[widest] == high[widest] {
			return low, nil
		}
		middle := (low[widest] + high[widest]) / 2
		pivot, err := m.at(widest, middle)
		if err != nil {
			return nil, err
		}
		before, sum := make([]int, len(low)), 0
		for i := range before {
			before[i] = middle
			if i != widest {
				before[i], err = m.countBefore(&pivot, i, low[i], high[i])
				if err != nil {
					return nil, err
				}
			}
			sum += before[i]
		}
		if sum < n {
			before[widest]++ // the pivot is one of the first n
			low = before
		} else {
			high = before
		}
	}
}

// countBefore returns how many plants of a segment precede one of another segment. The result is
// bounded by low and high.
func (m *merger) countBefore(p *plant, part, low, high int) (n int, err error) {
	n = low + sort.Search(high-low, func(i int) bool {
		other, failed := m.at(part, low+i)
		if failed != nil {
			err = failed
			return true
		}
		return m.isBefore(p, &other)
	})
	return n, err
}

// head is the next plant of a segment.
type head struct {
	plant
	position int // of the plant after it
	next     func() (json []byte, err error, ok bool)
}

// advance reads the next plant. ok is false at the end.
func (h *head) advance(m *merger) (ok bool, err error) {
	json, err, ok := h.next()
	if !ok || err != nil {
		return false, err
	}
	h.plant, err = m.newPlant(h.part, h.position, json)
	h.position++
	return true, err
}

// merge yields the plants of all heads in order, until yield returns false.
func (m *merger) merge(heads []head, yield func(json []byte) bool) error {
	var open []*head
	for i := range heads {
		ok, err := heads[i].advance(m)
		if err != nil {
			return err
		}
		if ok {
			open = append(open, &heads[i])
		}
	}
	for len(open) > 0 {
		first := 0
		for i, h := range open[1:] {
			if m.isBefore(&h.plant, &open[first].plant) {
				first = 1 + i
			}
		}
		if !yield(open[first].json) {
			return nil
		}
		ok, err := open[first].advance(m)
		if err != nil {
			return err
		}
		if !ok {
			open = append(open[:first], open[first+1:]...)
		}
	}
	return nil
}

// stream returns all plants. It releases the results when they are read.
func (m *merger) stream() (query.Stream, error) {
	s := query.Stream{Total: m.total}
	streams := make([]query.Stream, len(m.results))
	for i, found := range m.results {
		var err error
		streams[i], err = found.Stream()
		if err != nil {
			return query.Stream{}, err
		}
		s.Longest = max(s.Longest, streams[i].Longest)
	}
	s.Records = func(yield func([]byte, error) bool) {
		defer m.release()
		heads := make([]head, len(streams))
		for i := range streams {
			next, stop := iter.Pull2(streams[i].Records)
			defer stop()
			heads[i] = head{plant: plant{part: i}, next: next}
		}
		if err := m.merge(heads, func(json []byte) bool { return yield(json, nil) }); err != nil {
			yield(nil, err)
		}
	}
	return s, nil
}
