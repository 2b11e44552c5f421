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
	ascii     text.ASCIIComparer
	byWeights bool         // values are compared by their primary weights first, because some of them are not ASCII
	merged    int          // position of the next merged value
	only      *valueStream // has had all values since it read its last batch; nil if there is no such stream
}

// valueStream reads the values of one part in batches.
type valueStream struct {
	index   int // of the part
	runs    runCounter
	texts   runValues
	weights runValues // primary weights of the values, if they are stored
	batch   []streamValue
	bytes   []byte // text of each value of the batch, and its primary weights if they are compared
	at      int    // index of the current value in the batch
	next    int    // start of the next value in bytes
	text    []byte // of the current value
	primary []byte // weights of the current value
	ties    bool   // facets count the current value and that of the next stream as one

	key    []byte // sort key of the current value
	hasKey bool
}

// streamValue is a value of a stream.
type streamValue struct {
	run     int // inMemory if the value is not that of a run
	count   int
	textEnd int
	end     int  // of its weights
	found   bool // it contains the substring to find
}

// inMemory replaces the run of a value whose text is needed later: one in memory, or one of several in a run.
const inMemory = -1

// batchValues is the number of values that a stream reads at a time. If no other stream had a value in the meantime, the end of
// this sequence is searched for. Parts often have values of different ranges, such as ascending numbers.
const batchValues = 512

// addRuns adds a stream of the values of a result.
func (m *valueMerger) addRuns(o *sortedResult) {
	m.byWeights = m.byWeights || len(o.weights) > 0
	m.all = append(m.all, &valueStream{
		index: len(m.all), runs: runCounter{sortedResult: o},
		texts: o.newRunValues(o.steps, o.total, false), weights: o.newRunValues(o.steps, o.total, true),
	})
}

// addValues adds a stream of values in memory. Of scalar values that are written differently, it keeps the first.
func (m *valueMerger) addValues(values []Value) {
	if len(values) == 0 {
		return
	}
	s, last := &valueStream{index: len(m.all)}, Value{}
	for _, v := range values {
		if v.Key == last.Key && (v.Text == last.Text || !m.asWritten) {
			s.batch[len(s.batch)-1].count += v.Count
			continue
		}
		last = v
		m.append(s, v.Count, v.Text)
	}
	m.all = append(m.all, s)
}

// append appends a value in memory to the batch of a stream.
func (m *valueMerger) append(s *valueStream, count int, value string) {
	s.bytes = append(s.bytes, value...)
	textEnd := len(s.bytes)
	if m.byWeights {
		s.bytes = text.AppendPrimaryKey(s.bytes, []byte(value))
	}
	found := m.find == nil || m.find.In([]byte(value))
	s.batch = append(s.batch, streamValue{inMemory, count, textEnd, len(s.bytes), found})
}

// appendRun appends the value of a run to the batch of a stream. If there is only one stream, values are not compared.
func (m *valueMerger) appendRun(s *valueStream, run, count int) {
	if len(m.all) > 1 {
		s.bytes = append(s.bytes, s.texts.at(run)...)
	}
	textEnd := len(s.bytes)
	if m.byWeights && len(m.all) > 1 {
		if len(s.runs.weights) > 0 {
			s.bytes = append(s.bytes, s.weights.at(run)...)
		} else {
			s.bytes = text.AppendPrimaryKey(s.bytes, s.texts.at(run))
		}
	}
	s.batch = append(s.batch, streamValue{run, count, textEnd, len(s.bytes), m.find == nil || m.contains(s, run)})
}

// contains reports whether the value of a run contains the substring to find.
func (m *valueMerger) contains(s *valueStream, run int) bool {
	if len(s.runs.weights) > 0 {
		return s.weights.contains(run, m.find)
	}
	return s.texts.contains(run, m.find)
}

// merge collects the values of all streams. Of equal values that are written differently, it keeps that of the first part.
func (m *valueMerger) merge() {
	if len(m.all) == 1 {
		m.only = m.all[0]
	}
	for _, s := range m.all {
		m.streams = slices.Insert(m.streams, 0, s)
		s.at--
		m.advance(0)
	}
	for len(m.streams) > 0 {
		first, n := m.streams[0], 1
		value := &first.batch[first.at]
		for ; m.streams[n-1].ties; n++ {
			tied := m.streams[n]
			value.count += tied.batch[tied.at].count
		}
		if n > 1 || m.only != first {
			m.only = nil
		}
		if m.countFound(value.found) && m.qualifies(value.count, m.merged) {
			v := valueCount{n: value.count, order: m.merged, run: value.run}
			if value.run == inMemory {
				v.value = string(first.text)
			} else {
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
	s.at++
	s.hasKey, s.ties = false, false
	if s.at >= len(s.batch) && !m.fill(s) {
		m.streams = slices.Delete(m.streams, i, i+1)
		return
	}
	v := &s.batch[s.at]
	s.text, s.next = s.bytes[s.next:v.textEnd], v.end
	if m.byWeights {
		s.primary = s.bytes[v.textEnd:v.end]
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

// fill reads the next batch of a stream. It returns false at the end.
func (m *valueMerger) fill(s *valueStream) bool {
	if s.runs.sortedResult == nil { // all values are in memory
		return false
	}
	end := s.runs.Distinct()
	if m.only == s {
		alone := end
		if len(m.streams) > 1 {
			alone = s.runs.firstRun(sortKey(m.field, string(m.streams[1].text)))
		}
		if alone > s.runs.next {
			m.countAlone(s, alone)
		}
	}
	m.only = s
	s.batch, s.bytes, s.at, s.next = s.batch[:0], s.bytes[:0], 0, 0
	for len(s.batch) < batchValues {
		run, n, ok := s.runs.count(end, 1)
		if !ok {
			break
		}
		if m.asWritten && s.runs.isNonUniform(run) {
			for _, w := range s.runs.writings(run) {
				m.append(s, w.Count, w.Text)
			}
			continue
		}
		m.appendRun(s, run, n)
	}
	return len(s.batch) > 0
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
	for run, n, ok := runs.count(end, least); ok; run, n, ok = runs.count(end, least) {
		single -= n
		if !m.asWritten || !runs.isNonUniform(run) {
			if m.countFound(m.find == nil || m.contains(s, run)) {
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

// compare compares the current values of two streams. Values that facets count as one are equal.
func (m *valueMerger) compare(s, other *valueStream) int {
	a, b := s.text, other.text
	switch {
	case m.byWeights:
		if order := bytes.Compare(s.primary, other.primary); order != 0 || bytes.Equal(a, b) {
			return order
		}
	case m.asWritten:
		if order, ok := m.ascii.Compare(a, b); ok {
			return order
		}
	case m.field.Type == herb.TypeNumber && isDigits(a) && isDigits(b): // needs no keys
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	}
	order := bytes.Compare(m.sortKey(s), m.sortKey(other))
	if order == 0 && m.asWritten {
		return bytes.Compare(a, b)
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

// sortKey returns the sort key of the current value of a stream.
func (m *valueMerger) sortKey(s *valueStream) []byte {
	if !s.hasKey {
		key, err := AppendSortKey(s.key[:0], m.field, s.text)
		if err != nil {
			guard.Corrupt("%v", err)
		}
		s.key, s.hasKey = key, true
	}
	return s.key
}
