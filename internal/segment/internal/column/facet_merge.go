package column

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// valueMerger merges the values of several parts of a union, each in ascending order, and collects
// the merged ones. Only texts are merged; of another type, it has one part.
//
// It knows the length of the prefix that each value shares with the one before it. Of two values
// after a third, the one that shares the longer prefix with the third is lower: after oak, oakum
// precedes oat. Bytes are compared only if both share the same length.
type valueMerger struct {
	*valueCollector
	steps    *guard.Steps
	all      []*valueStream // by index
	streams  []*valueStream // those that have values left, by current value, ties by index
	merged   int            // position of the next merged value
	sequence int            // number of the last merged values that came from the same stream
}

// valueStream reads the values of one part.
type valueStream struct {
	index    int // of the part
	runs     runCounter
	values   runValues
	search   valueSearch
	inMemory []Value // values before the next run: those of a part in memory, or of a non-uniform run

	// The current value.
	run    int // notRun if it is in memory
	count  int
	text   string // if it is in memory
	key    []byte // value key, or sort key and text
	shared int    // length of the prefix that the key shares with the preceding one in merged order; tied if facets count both as one
}

// tied replaces the length of the prefix that two values share if facets count them as one.
const tied = math.MaxInt

// notRun replaces the run of a value in memory.
const notRun = -1

// minSequence is the number of consecutive values of one stream after which the end of this
// sequence is searched for, instead of comparing each value. Parts often have values of different
// ranges, such as ascending numbers.
const minSequence = 512

func newValueMerger(st *guard.Steps, q *query.FacetRequest) *valueMerger {
	return &valueMerger{valueCollector: newValueCollector(q), steps: st}
}

func (m *valueMerger) addRuns(o *sortedResult, search valueSearch) {
	m.all = append(m.all, &valueStream{
		index: len(m.all), runs: runCounter{sortedResult: o}, values: o.newRunValues(o.steps, o.total), search: search,
	})
}

// valueSearch is the method of counting the values that only one part has, and of searching them
// for a substring.
type valueSearch struct {
	all        bool // search the stored values of all runs, and count those that contain it; else search those with matches
	minRecords int  // of the runs to count one by one. Runs of one record need not be counted unless each is searched for
}

// newValueSearch chooses the search of the matches of a part, or only how they are counted if there
// is nothing to find.
func newValueSearch(p Part, finds bool) valueSearch {
	matches := p.Column.sorted.Len()
	if p.Set != nil {
		matches = p.Set.Len()
	}
	// Searching the stored values in sequence is fast, so it is chosen if many runs have a match.
	all := finds && p.Column.StoresValues() && matches >= p.Column.Distinct()/cost.SearchShare
	if finds && !all {
		return valueSearch{minRecords: 1}
	}
	return valueSearch{all: all, minRecords: 2}
}

// addValues adds a stream of values in memory. If they are equal by their keys, it keeps the first
// of those that are written differently.
func (m *valueMerger) addValues(values []Value, equalByKey bool) {
	if len(values) == 0 {
		return
	}
	s, last := &valueStream{index: len(m.all)}, &Value{}
	for _, v := range values {
		if v.Key == last.Key && (v.Text == last.Text || equalByKey) {
			last.Count += v.Count
			continue
		}
		s.inMemory = append(s.inMemory, v)
		last = &s.inMemory[len(s.inMemory)-1]
	}
	m.all = append(m.all, s)
}

// merge collects the values of all streams. Of equal values that are written differently, it keeps
// that of the first part.
func (m *valueMerger) merge() {
	if len(m.all) == 1 {
		m.sequence = minSequence
	}
	for _, s := range m.all {
		m.streams = slices.Insert(m.streams, 0, s)
		m.advance(0)
	}
	for len(m.streams) > 0 {
		m.steps.Add(1)
		first, n := m.streams[0], 1
		count := first.count
		for ; n < len(m.streams) && m.streams[n].shared == tied; n++ {
			count += m.streams[n].count
			m.sequence = 0
		}
		m.sequence++
		if m.countFound(m.find == nil || first.contains(m.find)) && m.qualifies(count, m.merged) {
			v := valueCount{n: count, order: m.merged, run: first.run, value: first.text}
			if v.run != notRun {
				v.column = first.runs.Column
			}
			m.offer(v)
		}
		m.merged++
		for i := n - 1; i >= 0; i-- {
			m.advance(i)
		}
	}
}

// advance moves stream i to its next value and behind the streams with lower values, or removes it
// at its end.
func (m *valueMerger) advance(i int) {
	s := m.streams[i]
	shared, ok := m.next(s)
	if !ok {
		m.streams = slices.Delete(m.streams, i, i+1)
		return
	}
	rest := m.streams[i:]
	for at := 1; at < len(rest); at++ {
		next := rest[at]
		if shared > next.shared {
			break
		}
		if shared == next.shared {
			less, common := m.less(s, next, shared)
			if less {
				next.shared = common
				break
			}
			shared = common
		}
		rest[at-1], rest[at], m.sequence = next, s, 0
	}
	s.shared = shared
}

// next reads the next value of a stream and returns the length of the prefix that it shares with
// the last one. ok is false at the end.
func (m *valueMerger) next(s *valueStream) (shared int, ok bool) {
	for len(s.inMemory) == 0 {
		if s.runs.sortedResult == nil {
			return 0, false
		}
		if m.sequence >= minSequence {
			m.countSequence(s)
		}
		run, n, ok := s.runs.countNext()
		if !ok {
			return 0, false
		}
		if s.runs.isNonUniform(run) {
			s.inMemory = s.runs.spellingCounts(run)
			continue
		}
		wasRun := s.run != notRun
		s.run, s.count, s.text = run, n, ""
		value := s.values.at(run)
		shared, s.values.shared = s.values.shared, len(value)
		if !s.values.stored || !wasRun {
			return s.setKey(slices.Clone(value)), true // the next one is in the same memory
		}
		s.key = value
		return shared, true
	}
	v := s.inMemory[0]
	s.inMemory = s.inMemory[1:]
	s.run, s.count, s.text = notRun, v.Count, v.Text
	return s.setKey(slices.Concat([]byte(v.Key), []byte{0}, []byte(v.Text))), true
}

// setKey sets the key of the current value and returns the length of the prefix that it shares with
// the last one.
func (s *valueStream) setKey(key []byte) (shared int) {
	shared = commonPrefix(s.key, key, 0)
	s.key = key
	return shared
}

// countSequence collects the next values of a stream up to the first one of another stream.
func (m *valueMerger) countSequence(s *valueStream) {
	end := s.runs.Distinct()
	if len(m.streams) > 1 {
		end = s.runs.firstRun(sortKey(&s.runs.Field, m.streams[1].valueText()))
	}
	if end > s.runs.next {
		m.countAlone(s, end)
	}
	m.sequence = 0
}

// countAlone collects the values of the next runs of a stream, before end, which no other stream
// has. Runs of one record need not be counted: they have the rest of the matches, and only the
// first of them, or those that contain the substring to find, can be returned.
func (m *valueMerger) countAlone(s *valueStream, end int) {
	runs, start := &s.runs, s.runs.next
	offer := func(run, n int, value string) {
		if order := m.merged + run - start; m.qualifies(n, order) {
			m.offer(valueCount{n: n, order: order, column: runs.Column, run: run, value: value})
		}
	}
	unread := *runs
	before := runs.countBelow(int(runs.runs.At(start)))
	single := runs.countBelow(int(runs.runs.At(end))) - before
	for {
		run, n, ok := runs.count(end, s.search.minRecords)
		if !ok {
			break
		}
		single -= n
		if runs.isNonUniform(run) {
			for _, w := range runs.spellingCounts(run) {
				if m.countFound(m.find == nil || m.find.In([]byte(w.Text))) {
					offer(run, w.Count, w.Text)
				}
			}
		} else if m.distinct++; !s.search.all && (m.find == nil || s.values.contains(run, m.find)) {
			m.matching++
			offer(run, n, "")
		}
	}
	m.distinct += single
	if s.search.all {
		m.searchAlone(s, unread, end, offer)
	} else if m.find == nil {
		m.matching += single
		first, left := start, min(single, m.most)
		if left > 0 && m.qualifies(1, m.merged) {
			first = runs.runAt(start, runs.rank(before)) // matches may begin far behind
		}
		for run := first; left > 0 && run < end && m.qualifies(1, m.merged+run-start); run++ {
			runs.steps.Add(1)
			if from, to := runs.run(run); to-from == 1 && (runs.set == nil || runs.set.Has(runs.sorted.At(from))) {
				offer(run, 1, "")
				left--
			}
		}
	}
	m.merged += end - start
}

// searchAlone offers the values of the runs of a counter, before end, that contain the substring to
// find. Most runs need not be counted.
func (m *valueMerger) searchAlone(s *valueStream, runs runCounter, end int, offer func(run, n int, value string)) {
	found := runs.pool.Get()
	defer runs.pool.Put(found)
	s.values.search(runs.next, end, m.find, found)
	for run := found.Next(m.steps, runs.next, end); run < end; run = found.Next(m.steps, run+1, end) {
		if n := runs.countRun(run, int(runs.runs.At(run)), int(runs.runs.At(run+1))); n > 0 && !runs.isNonUniform(run) { // those are counted already
			m.matching++
			offer(run, n, "")
		}
	}
}

func (s *valueStream) contains(find *text.Substring) bool {
	if s.run == notRun {
		return find.In([]byte(s.text))
	}
	return s.values.contains(s.run, find)
}

// valueText returns the text of the current value.
func (s *valueStream) valueText() string {
	if s.run == notRun {
		return s.text
	}
	return s.runs.RunValue(s.run)
}

// less reports whether the current value of a stream precedes that of another, which shares the
// same length with the value before it. Of values that facets count as one, that of the first part
// precedes the others. It also returns the length of the prefix that both values share.
func (m *valueMerger) less(s, other *valueStream, shared int) (less bool, common int) {
	if shared == tied {
		return s.index < other.index, tied
	}
	a, b := s.key, other.key
	common = commonPrefix(a, b, shared)
	if common < min(len(a), len(b)) {
		return a[common] < b[common], common
	}
	if len(a) != len(b) { // one sort key is not followed by its text
		s.addText()
		other.addText()
		a, b = s.key, other.key
		common = commonPrefix(a, b, shared)
	}
	if order := bytes.Compare(a[common:], b[common:]); order != 0 {
		return order < 0, common
	}
	return s.index < other.index, tied
}

// addText adds the text of the current value to its key, unless it is there already: values in
// memory and ambiguous sort keys have it.
func (s *valueStream) addText() {
	if s.run == notRun || len(s.key) != len(s.values.value) {
		return
	}
	if value := []byte(s.valueText()); !KeyIsAmbiguous(herb.TypeText, value) {
		s.key = slices.Concat(s.key, value)
	}
}

// commonPrefix returns the length of the common prefix of two keys, which is at least from. It
// compares eight bytes at a time. These may include bytes between the length and the capacity of a
// key, which do not change the result.
func commonPrefix(a, b []byte, from int) int {
	n := min(len(a), len(b))
	for end := min(cap(a), cap(b)) - 8; from < n && from <= end; from += 8 {
		if differ := binary.LittleEndian.Uint64(a[from:from+8]) ^ binary.LittleEndian.Uint64(b[from:from+8]); differ != 0 {
			return min(from+bits.TrailingZeros64(differ)/8, n)
		}
	}
	for from < n && a[from] == b[from] {
		from++
	}
	return min(from, n)
}
