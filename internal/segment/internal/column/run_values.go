package column

import (
	"encoding/binary"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// runValues reads the values of runs in ascending order; of text, their value keys. They are stored
// in sequence, each without the prefix that it shares with the one before. A few, and those that
// are not stored, are read from the records.
type runValues struct {
	c          *Column
	steps      *guard.Steps
	stored     bool
	isText     bool   // reads value keys
	rest       []byte // stored values after the last one that was read
	next       int    // run after the last one that was read
	value      []byte // last one that was read
	fromRecord []byte // buffer for a value that is read from a record
	codes      []byte // buffer for the collation codes of a value; see text.AppendCodes
	known      int    // length of the prefix of value that has been searched
	found      int    // end of the first occurrence of the substring in that prefix; 0 if there is none
}

// newRunValues returns a reader of the values of about n runs.
func (c *Column) newRunValues(st *guard.Steps, n int) runValues {
	return runValues{
		c: c, steps: st, isText: c.Field.Type == herb.TypeText, value: make([]byte, 0, 128),
		stored: len(c.values) > 0 && n >= c.Distinct()/cost.ValuesShare, rest: c.values,
	}
}

// at returns the value of a run, which must not be before that of the last call. The bytes are
// valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.next <= run {
		v.value = append(v.value[:0], v.read(run)...)
		if v.isText {
			v.value = appendValueKey(v.value[:0], v.fromRecord)
		}
		v.next = run + 1
	}
	for ; v.next <= run; v.next++ {
		shared, suffix, rest := v.lengths()
		v.rest = rest
		if shared > len(v.value) || suffix > len(v.rest) {
			guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
		}
		if suffix <= chunkSize && len(v.rest) >= chunkSize && shared+chunkSize <= cap(v.value) {
			*(*[chunkSize]byte)(v.value[shared : shared+chunkSize]) = [chunkSize]byte(v.rest)
			v.value = v.value[:shared+suffix]
		} else {
			v.steps.Add(suffix / bytesPerStep)
			v.value = append(v.value[:shared], v.rest[:suffix]...)
		}
		v.rest = v.rest[suffix:]
		v.known = min(v.known, shared)
	}
	return v.value
}

// read returns the value of a run from a record. The bytes are valid until the next call.
func (v *runValues) read(run int) []byte {
	record := v.c.sorted.At(int(v.c.runs.At(run)))
	v.c.addReadSteps(v.steps, record)
	v.fromRecord = v.c.records.appendValue(v.fromRecord[:0], record, v.c.fieldIndex)
	return v.fromRecord
}

// chunkSize is the number of bytes that are copied at once, which is faster than copying a few.
const chunkSize = 16

// lengths returns the length of the prefix that the next stored value shares with the one before
// it, that of the rest, and the bytes from there on.
func (v *runValues) lengths() (shared, suffix int, rest []byte) {
	rest = v.rest
	if len(rest) >= 2 && rest[0] < 0x80 && rest[1] < 0x80 { // most values are short
		return int(rest[0]), int(rest[1]), rest[2:]
	}
	shared, rest = v.uvarint(rest)
	suffix, rest = v.uvarint(rest)
	return shared, suffix, rest
}

func (v *runValues) uvarint(b []byte) (int, []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(v.c.values)) {
		guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
	}
	return int(n), b[size:]
}

// bytesPerStep is the number of bytes of a value of a record that are searched in a step.
const bytesPerStep = 64

// contains reports whether the value of a run contains a substring, which must not be empty and be
// the same for all runs. Only the part of the value that differs from the one before is searched.
func (v *runValues) contains(run int, find *text.Substring) bool {
	// Reading a value from a record takes several microseconds, and collating it some nanoseconds
	// per byte.
	const readSteps, collatedPerStep = 8, 16
	if !v.stored {
		value := v.read(run)
		v.steps.Add(readSteps + len(value)/collatedPerStep)
		return find.In(value)
	}
	searched := v.at(run)
	if v.found > 0 && v.found <= v.known {
		return true
	}
	if !v.isText {
		if !find.MayEndAfter(searched, v.known) {
			v.found, v.known = 0, len(searched)
			return false
		}
		var ok bool
		v.codes, ok = text.AppendCodes(v.codes[:0], searched)
		if !ok {
			v.found, v.known = 0, 0
			return find.In(searched)
		}
		searched = v.codes
	}
	v.found, v.known = max(find.IndexKey(searched, v.known), 0), len(searched)
	return v.found > 0
}

// search adds the runs in [from, end) whose value contains a substring to a set.
func (v *runValues) search(from, end int, find *text.Substring, found bitmap.Bits) {
	for run := from; run < end; run++ {
		v.steps.Add(1)
		if v.contains(run, find) {
			found.Add(uint32(run))
		}
	}
}
