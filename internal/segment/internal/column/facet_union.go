package column

import (
	"bytes"
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Value is a value of a field and the number of records that have it.
type Value struct {
	Key   string // sort key
	Text  string // as written
	Count int
}

// Values are the values of a field in several records.
type Values struct {
	All   []Value // of each record that has one, in ascending order
	Empty int     // records whose value is missing
}

// distinct returns the values with those merged that facets count as one. Of scalar values that are written differently, it
// keeps the first.
func (v *Values) distinct(f *herb.Field) (values []Value) {
	for _, value := range v.All {
		last := len(values) - 1
		if last >= 0 && values[last].Key == value.Key && (values[last].Text == value.Text || !countsAsWritten(f.Type)) {
			values[last].Count += value.Count
		} else {
			values = append(values, value)
		}
	}
	return values
}

// Part is the matches in one segment of a union.
type Part struct {
	Column  *Column
	Matches *Matches
}

// FacetOfParts returns the facet of a field in several segments and of values in memory: of the matching records, and of all
// for the edges of histograms. The values of all parts are merged in ascending order, without collecting them.
func FacetOfParts(st *guard.Steps, f *herb.Field, parts []Part, tail, allTail Values, q *query.FacetRequest) query.Facet {
	facet := query.Facet{Field: f.Name, Type: f.Type, Total: tail.Empty + len(tail.All), Empty: tail.Empty}
	counted, edges := []population{}, []population{}
	values := valueMerger{valueCollector: newValueCollector(q)}
	for i, p := range parts {
		o := newSortedResult(p.Matches.steps, p.Column, p.Matches.set, !p.Column.countsBySets(p.Matches, 1))
		defer o.release()
		counted = append(counted, &o)
		edges = append(edges, new(newSortedResult(p.Matches.steps, p.Column, nil, false)))
		facet.Total += p.Matches.n
		facet.Empty += p.Matches.n - o.len()
		values.add(&valueStream{
			field: f, index: i, matches: p.Matches, next: p.Column.runCounts(p.Matches, o.marks, 1),
			runs: p.Column.newRunValues(p.Matches.steps, p.Matches.n),
		})
	}
	values.add(&valueStream{field: f, index: len(parts), pending: tail.distinct(f)})
	if query.HasRange(f.Type) {
		counted = append(counted, valuePopulation(tail.All))
		if edges = append(edges, valuePopulation(allTail.All)); !q.AllEdges {
			edges = counted
		}
		setHistogram(&facet, f, counted, edges, q)
	}
	values.merge(st)
	values.setFacet(&facet, nil)
	return facet
}

// valueStream reads the values of one part of a union in ascending order.
type valueStream struct {
	field   *herb.Field
	index   int         // of the part
	ties    bool        // facets count the current value and that of the next stream as one
	matches *Matches    // of a segment
	next    runSequence // nil if all values are pending
	runs    runValues
	pending []Value // values in memory: those of a tail, or the written forms of a run

	// The current value.
	run    int    // -1 if it is in memory
	text   []byte // valid until the next call of advance
	count  int
	key    []byte // sort key
	hasKey bool
}

// advance reads the next value; ok is false at the end.
func (s *valueStream) advance() (ok bool) {
	s.hasKey = false
	if len(s.pending) == 0 && s.next != nil {
		if s.run, s.count, ok = s.next(); !ok {
			return false
		}
		if c := s.runs.c; countsAsWritten(s.field.Type) && c.isNonUniform(s.run) {
			s.pending = c.writings(s.matches, s.run)
		} else {
			s.text = s.runs.at(s.run)
			return true
		}
	}
	if len(s.pending) == 0 {
		return false
	}
	v := s.pending[0]
	s.pending = s.pending[1:]
	s.run, s.count, s.text = -1, v.Count, []byte(v.Text)
	return true
}

// sortKey returns the sort key of the current value.
func (s *valueStream) sortKey() []byte {
	if !s.hasKey {
		key, err := AppendSortKey(s.key[:0], s.field, s.text)
		if err != nil {
			guard.Corrupt("%v", err)
		}
		s.key, s.hasKey = key, true
	}
	return s.key
}

// compare compares the current values. Values that facets count as one are equal.
func (s *valueStream) compare(other *valueStream) int {
	asWritten := countsAsWritten(s.field.Type)
	if asWritten {
		if order, ok := text.CompareASCII(s.text, other.text); ok {
			return order
		}
	} else if s.field.Type == herb.TypeNumber && isDigits(s.text) && isDigits(other.text) { // needs no keys
		return cmp.Or(cmp.Compare(len(s.text), len(other.text)), bytes.Compare(s.text, other.text))
	}
	order := bytes.Compare(s.sortKey(), other.sortKey())
	if order == 0 && asWritten {
		return bytes.Compare(s.text, other.text)
	}
	return order
}

// isDigits reports whether a number consists of digits, the first of which is not 0.
func isDigits(number []byte) bool {
	for _, c := range number {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(number) > 0 && number[0] != '0'
}

// valueMerger merges streams of values. Each distinct value counts as a run of its own.
type valueMerger struct {
	*valueCollector
	streams []*valueStream // by current value, ties by index
	merged  int            // distinct values so far
	alone   int            // number of values of the first stream since another one had a value
	below   int            // runs of the first stream before this one have lower values than the other streams
}

// aloneBeforeSearch is the number of consecutive values of one stream after which the end of such a sequence is searched for.
// Parts often have values of different ranges, such as ascending numbers; comparing them would take most of the time.
const aloneBeforeSearch = 256

// add adds a stream.
func (m *valueMerger) add(s *valueStream) {
	m.streams = slices.Insert(m.streams, 0, s)
	m.advance(0)
}

// advance reads the next value of stream i and moves the stream behind those with lower values, or removes it at its end.
func (m *valueMerger) advance(i int) {
	s := m.streams[i]
	if !s.advance() {
		m.streams = slices.Delete(m.streams, i, i+1)
		m.below = 0
		return
	}
	s.ties = false
	if s.run >= 0 && s.run < m.below {
		return
	}
	m.below = 0
	at, tied := i, false
	for ; at+1 < len(m.streams); at++ {
		next := m.streams[at+1]
		order := s.compare(next)
		if order < 0 || order == 0 && s.index < next.index {
			s.ties = order == 0
			break
		}
		m.streams[at], m.streams[at+1], tied = next, s, order == 0
	}
	if at > i {
		m.streams[at-1].ties = tied
	}
}

// merge collects the values of all streams. Of equal values that are written differently, it keeps that of the first part.
func (m *valueMerger) merge(st *guard.Steps) {
	for len(m.streams) > 0 {
		st.Add(1)
		first, n := m.streams[0], 1
		v := valueCount{n: first.count, run: m.merged}
		for ; m.streams[n-1].ties; n++ {
			v.n += m.streams[n].count
		}
		if m.countFound(m.find == nil || first.contains(m.find)) && !m.rejects(&v) {
			v.value = string(first.text)
			m.offer(v)
		}
		m.merged++
		for i := n - 1; i >= 0; i-- {
			m.advance(i)
		}
		m.searchBelow(first, n == 1)
	}
}

// searchBelow updates the number of runs that need no comparison, after a value that the given stream had, alone or not.
func (m *valueMerger) searchBelow(last *valueStream, alone bool) {
	if m.alone++; !alone || m.below > 0 || len(m.streams) < 2 || m.streams[0] != last || last.run < 0 {
		m.alone = 0
		return
	}
	if m.alone == aloneBeforeSearch {
		m.alone, m.below = 0, last.runs.c.firstRun(sortKey(last.field, string(m.streams[1].text)))
	}
}

// contains reports whether the current value contains a substring.
func (s *valueStream) contains(find *text.Substring) bool {
	if s.run < 0 {
		return find.In(s.text)
	}
	return s.runs.contains(s.run, find)
}
