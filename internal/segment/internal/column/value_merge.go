package column

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// mergeValues calls f for each distinct value of some segments in ascending order, with the cursors
// that have it, in the order of the segments.
func mergeValues(st *guard.Steps, cursors []*valueCursor, f func(same []*valueCursor)) {
	cursors = slices.DeleteFunc(slices.Clone(cursors), func(c *valueCursor) bool { return !c.next() })
	var same []*valueCursor
	for len(cursors) > 0 {
		st.Add(len(cursors))
		same = append(same[:0], cursors[0])
		var second *valueCursor // at the least other value
		for _, c := range cursors[1:] {
			switch order := bytes.Compare(c.key, same[0].key); {
			case order == 0:
				same = append(same, c)
			case order < 0:
				second = same[0]
				same = append(same[:0], c)
			case second == nil || bytes.Compare(c.key, second.key) < 0:
				second = c
			}
		}
		f(same)
		ended := false
		for _, c := range same {
			ended = !c.next() || ended
		}
		// Segments often have values of different ranges.
		for first := same[0]; !ended && len(same) == 1 && (second == nil || bytes.Compare(first.key, second.key) < 0); ended = !first.next() {
			st.Add(1)
			f(same)
		}
		if ended {
			cursors = slices.DeleteFunc(cursors, func(c *valueCursor) bool { return c.ended })
		}
	}
}

// valueCursor reads the values of a field among the matching records of one segment, in ascending
// order.
type valueCursor struct {
	part      int // index of the segment
	runs      runCounter
	values    runValues
	spellings []spelling // next values: those of a non-uniform run
	buffer    []byte     // for a key
	ended     bool

	// The current value.
	run   int
	count int    // of matching records
	text  string // one spelling of the run; empty if it has only one
	key   []byte // by which values are ordered, and equal for equal values only
}

func newValueCursor(part int, o *sortedResult) *valueCursor {
	return &valueCursor{part: part, runs: runCounter{sortedResult: o}, values: o.newRunValues(o.steps, o.total)}
}

// next moves to the next value. It returns false at the end.
func (c *valueCursor) next() bool {
	f := &c.runs.Field
	if len(c.spellings) == 0 {
		run, n, ok := c.runs.countNext()
		if !ok {
			c.ended = true
			return false
		}
		c.run = run
		if !c.runs.isNonUniform(run) {
			c.count, c.text, c.key = n, "", c.values.at(run)
			if f.Type != herb.TypeText { // values of text are read as keys
				c.buffer = appendRunKey(c.buffer[:0], f, c.key)
				c.key = c.buffer
			}
			return true
		}
		c.spellings = c.runs.spellings(run)
	}
	c.text, c.count = c.spellings[0].text, c.spellings[0].count
	c.spellings = c.spellings[1:]
	c.buffer = appendRunKey(c.buffer[:0], f, []byte(c.text))
	c.key = c.buffer
	return true
}

// contains reports whether the current value contains a substring, the same for all values.
func (c *valueCursor) contains(find *text.Substring) bool {
	if c.text != "" {
		return find.In([]byte(c.text))
	}
	return c.values.contains(c.run, find)
}

func appendRunKey(dst []byte, f *herb.Field, value []byte) []byte {
	if f.Type == herb.TypeText {
		return appendValueKey(dst, value)
	}
	key, err := AppendSortKey(dst, f, value)
	if err != nil {
		guard.Corrupt("%v", err)
	}
	return key
}

// spelling is one of the different texts of a run and the number of records that have it.
type spelling struct {
	text  string
	count int
}

// bytesPerSpelling is the memory for a spelling in a map.
const bytesPerSpelling = 64

// spellings returns the different texts of a non-uniform run among the matches, in the order of
// their value keys: the one whose key is not ambiguous, if there is one, and then by their bytes.
func (o *sortedResult) spellings(run int) (all []spelling) {
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
	ambiguous := func(text string) int {
		if KeyIsAmbiguous(o.Field.Type, []byte(text)) {
			return 1
		}
		return 0
	}
	for _, text := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		o.steps.Add(1)
		return cmp.Or(cmp.Compare(ambiguous(a), ambiguous(b)), strings.Compare(a, b))
	}) {
		all = append(all, spelling{text, counts[text]})
	}
	return all
}
