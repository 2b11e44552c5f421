package column

import (
	"bytes"
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// valueMerger merges the values of several parts of a union, each in ascending order, and collects the merged ones.
type valueMerger struct {
	*valueCollector
	field     *herb.Field
	asWritten bool           // see countsAsWritten
	all       []*valueStream // by index
	streams   []*valueStream // those that have values left, by current value, ties by index
	merged    int            // position of the next merged value
	alone     *valueStream   // has had the last values
	sequence  int            // number of these values
}

// valueStream reads the values of one part.
type valueStream struct {
	index    int // of the part
	runs     runCounter
	values   runValues
	inMemory []Value // values before the next run: those of a part in memory, or of a non-uniform run

	// The current value.
	run    int // notRun if it is in memory
	count  int
	text   string // if it is in memory
	value  []byte // as in runValues
	ties   bool   // facets count it and that of the next stream as one
	key    []byte // its sort key, unless it is text
	hasKey bool
}

// notRun replaces the run of a value in memory.
const notRun = -1

// minSequence is the number of values that a stream has without a value of another before the end of this sequence is searched for. Parts
// often have values of different ranges, such as ascending numbers.
const minSequence = 512

// addRuns adds a stream of the values of a result.
func (m *valueMerger) addRuns(o *sortedResult) {
	m.all = append(m.all, &valueStream{index: len(m.all), runs: runCounter{sortedResult: o}, values: o.newRunValues(o.steps, o.total)})
}

// addValues adds a stream of values in memory. Of scalar values that are written differently, it keeps the first.
func (m *valueMerger) addValues(values []Value) {
	if len(values) == 0 {
		return
	}
	s, last := &valueStream{index: len(m.all)}, &Value{}
	for _, v := range values {
		if v.Key == last.Key && (v.Text == last.Text || !m.asWritten) {
			last.Count += v.Count
			continue
		}
		s.inMemory = append(s.inMemory, v)
		last = &s.inMemory[len(s.inMemory)-1]
	}
	m.all = append(m.all, s)
}

// merge collects the values of all streams. Of equal values that are written differently, it keeps that of the first part.
func (m *valueMerger) merge() {
	if len(m.all) == 1 {
		m.alone, m.sequence = m.all[0], minSequence
	}
	for _, s := range m.all {
		m.streams = slices.Insert(m.streams, 0, s)
		m.advance(0)
	}
	for len(m.streams) > 0 {
		first, n := m.streams[0], 1
		count := first.count
		for ; m.streams[n-1].ties; n++ {
			count += m.streams[n].count
		}
		if n > 1 || m.alone != first {
			m.alone, m.sequence = first, 0
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

// advance moves stream i to its next value and behind the streams with lower values, or removes it at its end.
func (m *valueMerger) advance(i int) {
	s := m.streams[i]
	if !m.next(s) {
		m.streams = slices.Delete(m.streams, i, i+1)
		return
	}
	at, tied := i, false
	for ; at+1 < len(m.streams); at++ {
		next := m.streams[at+1]
		order := m.compare(s, next)
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

// next reads the next value of a stream. It returns false at the end.
func (m *valueMerger) next(s *valueStream) bool {
	s.hasKey, s.ties = false, false
	for len(s.inMemory) == 0 {
		if s.runs.sortedResult == nil {
			return false
		}
		if m.alone == s && m.sequence >= minSequence {
			m.countSequence(s)
		}
		run, n, ok := s.runs.count(s.runs.Distinct(), 1)
		if !ok {
			return false
		}
		if !m.asWritten || !s.runs.isNonUniform(run) {
			s.run, s.count, s.text, s.value = run, n, "", s.values.at(run)
			return true
		}
		s.inMemory = s.runs.writings(run)
	}
	v := s.inMemory[0]
	s.inMemory = s.inMemory[1:]
	s.run, s.count, s.text, s.value = notRun, v.Count, v.Text, []byte(v.Text)
	if m.asWritten {
		s.value = appendValueKey(nil, s.value)
	}
	return true
}

// countSequence collects the next values of a stream up to the first one of another stream.
func (m *valueMerger) countSequence(s *valueStream) {
	end := s.runs.Distinct()
	if len(m.streams) > 1 {
		end = s.runs.firstRun(sortKey(m.field, m.streams[1].written()))
	}
	if end > s.runs.next {
		m.countAlone(s, end)
	}
	m.sequence = 0
}

// countAlone collects the values of the next runs of a stream, before end, which no other stream has. Unless all values must be
// searched, runs of one record need not be examined: they have the rest of the matches, and only the first of them can be among
// the most frequent values.
func (m *valueMerger) countAlone(s *valueStream, end int) {
	runs, least := &s.runs, 2
	if m.find != nil {
		least = 1
	}
	start := runs.next
	offer := func(run, n int, value string) {
		if order := m.merged + run - start; m.qualifies(n, order) {
			m.offer(valueCount{n: n, order: order, column: runs.Column, run: run, value: value})
		}
	}
	before := runs.countBelow(int(runs.runs.At(start)))
	single := runs.countBelow(int(runs.runs.At(end))) - before
	for {
		if m.find != nil && runs.set == nil { // most values need not be counted
			skipped := runs.next
			runs.next = s.values.skip(skipped, end, m.find)
			m.distinct += runs.next - skipped
			single -= int(runs.runs.At(runs.next) - runs.runs.At(skipped))
		}
		run, n, ok := runs.count(end, least)
		if !ok {
			break
		}
		single -= n
		if !m.asWritten || !runs.isNonUniform(run) {
			if m.countFound(m.find == nil || s.values.contains(run, m.find)) {
				offer(run, n, "")
			}
			continue
		}
		for _, w := range runs.writings(run) {
			if m.count([]byte(w.Text)) {
				offer(run, w.Count, w.Text)
			}
		}
	}
	m.addDistinct(single)
	first, left := start, min(single, m.skip+m.most)
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
	m.merged += end - start
}

// contains reports whether the current value contains a substring.
func (s *valueStream) contains(find *text.Substring) bool {
	if s.run == notRun {
		return find.In([]byte(s.text))
	}
	return s.values.contains(s.run, find)
}

// written returns the current value as written.
func (s *valueStream) written() string {
	if s.run == notRun {
		return s.text
	}
	return s.runs.RunValue(s.run)
}

// compare compares the current values of two streams. Values that facets count as one are equal.
func (m *valueMerger) compare(s, other *valueStream) int {
	a, b := s.value, other.value
	if m.asWritten {
		n := min(len(a), len(b))
		if len(a) != len(b) && a[n-1] == b[n-1] && bytes.Equal(a[:n], b[:n]) { // only one sort key is followed by its text
			return cmp.Compare(s.written(), other.written())
		}
		return bytes.Compare(a, b)
	}
	if m.field.Type == herb.TypeNumber && isDigits(a) && isDigits(b) { // needs no keys
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	}
	return bytes.Compare(m.sortKey(s), m.sortKey(other))
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

// sortKey returns the sort key of the current value of a stream.
func (m *valueMerger) sortKey(s *valueStream) []byte {
	if !s.hasKey {
		key, err := AppendSortKey(s.key[:0], m.field, s.value)
		if err != nil {
			guard.Corrupt("%v", err)
		}
		s.key, s.hasKey = key, true
	}
	return s.key
}
