package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// storedValues reads the stored values of runs in sequence. Each is stored without the prefix that it shares with the one before.
type storedValues struct {
	c    *Column
	rest []byte // stored values after the last one that was read
}

// next returns the next value as the length of the prefix that it shares with the last one, and its rest.
func (v *storedValues) next() (shared int, suffix []byte) {
	shared = v.uvarint()
	size := v.uvarint()
	if size > len(v.rest) {
		v.corrupt()
	}
	suffix, v.rest = v.rest[:size], v.rest[size:]
	return shared, suffix
}

func (v *storedValues) uvarint() int {
	if len(v.rest) > 0 && v.rest[0] < 0x80 { // nearly all are short
		n := v.rest[0]
		v.rest = v.rest[1:]
		return int(n)
	}
	n, size := binary.Uvarint(v.rest)
	if size <= 0 || n > uint64(len(v.c.values)) {
		v.corrupt()
	}
	v.rest = v.rest[size:]
	return int(n)
}

func (v *storedValues) corrupt() {
	guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
}

// readsStoredValues reports whether reading the values of about n runs in sequence is faster than reading them from the records.
func (c *Column) readsStoredValues(n int) bool {
	const share = 64
	return len(c.values) > 0 && n >= c.Distinct()/share
}

// runValues reads the values of runs in ascending order.
type runValues struct {
	storedValues
	stored bool   // false means that they are read from the records
	read   int    // run after the last one that was read
	value  []byte // last one that was read
}

// newRunValues returns a reader of the values of about n runs.
func (c *Column) newRunValues(n int) runValues {
	return runValues{storedValues: storedValues{c, c.values}, stored: c.readsStoredValues(n)}
}

// at returns the value of a run, which must not be before that of the last call. The bytes are valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.read <= run {
		v.value, v.read = v.c.appendRunValue(v.value[:0], run), run+1
	}
	for ; v.read <= run; v.read++ {
		shared, suffix := v.next()
		if shared > len(v.value) {
			v.corrupt()
		}
		v.value = append(v.value[:shared], suffix...)
	}
	return v.value
}

// appendRunValue appends the value of the first record of a run.
func (c *Column) appendRunValue(dst []byte, run int) []byte {
	return c.records.appendValue(dst, c.sorted.At(int(c.runs.At(run))), c.position)
}

// valueSearch searches the values of runs, in ascending order, for a substring.
type valueSearch struct {
	storedValues
	steps  *guard.Steps
	find   *text.Substring // nil if nothing is searched
	stored bool            // false means that all values are read from the records
	read   int             // run after the last one whose stored value was read
	found  text.ScanResult // in that value
	value  []byte          // the last value that was read from a record
}

// newValueSearch returns a search of the values of about n runs.
func (c *Column) newValueSearch(st *guard.Steps, find *text.Substring, n int) valueSearch {
	return valueSearch{storedValues: storedValues{c, c.values}, steps: st, find: find, stored: c.readsStoredValues(n)}
}

// contains reports whether the value of a run, which must not be before that of the last call, contains the substring.
func (s *valueSearch) contains(run int) bool {
	const recordSteps = 8 // reading and searching a long value takes several microseconds
	for ; s.stored && s.read <= run; s.read++ {
		s.found = s.find.Scan(s.next())
	}
	if s.stored && s.found != text.Undecided {
		return s.found == text.Found
	}
	s.steps.Add(recordSteps)
	s.value = s.c.appendRunValue(s.value[:0], run)
	if !s.stored {
		if found := s.find.Scan(0, s.value); found != text.Undecided {
			return found == text.Found
		}
	}
	return s.find.In(s.value)
}
