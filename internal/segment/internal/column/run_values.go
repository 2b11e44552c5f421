package column

import (
	"encoding/binary"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// runValues reads the values of runs in ascending order; of text, their value keys. They are stored in sequence, each without the
// prefix that it shares with the one before. A few, and those that are not stored, are read from the records.
type runValues struct {
	c       *Column
	steps   *guard.Steps
	stored  bool
	isText  bool   // reads value keys
	rest    []byte // stored values after the last one that was read
	next    int    // run after the last one that was read
	value   []byte // last one that was read
	written []byte // buffer for one that is read from a record
	shared  int    // length of the prefix that all stored values share that were read since the caller set it to that of one
	codes   []byte // of the value that was searched last, unless it is a key
	known   int    // length of the prefix of value that has been searched
	found   int    // end of the first occurrence of the substring in that prefix; 0 if there is none
}

// newRunValues returns a reader of the values of about n runs.
func (c *Column) newRunValues(st *guard.Steps, n int) runValues {
	const share = 64
	return runValues{
		c: c, steps: st, isText: c.Field.Type == herb.TypeText, value: make([]byte, 0, 128),
		stored: len(c.values) > 0 && n >= c.Distinct()/share, rest: c.values,
	}
}

// at returns the value of a run, which must not be before that of the last call. The bytes are valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.next <= run {
		first := v.c.sorted.At(int(v.c.runs.At(run)))
		v.written = v.c.records.appendValue(v.written[:0], first, v.c.position)
		if v.isText {
			v.value = appendValueKey(v.value[:0], v.written)
		} else {
			v.value = append(v.value[:0], v.written...)
		}
		v.known, v.next = 0, run+1
	}
	for ; v.next <= run; v.next++ {
		shared, suffix := 0, 0
		if rest := v.rest; len(rest) >= 2 && rest[0] < 0x80 && rest[1] < 0x80 { // nearly all values are short
			shared, suffix, v.rest = int(rest[0]), int(rest[1]), rest[2:]
		} else {
			shared, suffix = v.uvarint(), v.uvarint()
		}
		if shared > len(v.value) || suffix > len(v.rest) {
			guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
		}
		if suffix <= chunkSize && len(v.rest) >= chunkSize && shared+chunkSize <= cap(v.value) {
			*(*[chunkSize]byte)(v.value[shared : shared+chunkSize]) = [chunkSize]byte(v.rest)
			v.value = v.value[:shared+suffix]
		} else {
			v.value = append(v.value[:shared], v.rest[:suffix]...)
		}
		v.rest = v.rest[suffix:]
		v.known, v.shared = min(v.known, shared), min(v.shared, shared)
	}
	return v.value
}

// chunkSize is the number of bytes that are copied at once, which is faster than copying a few.
const chunkSize = 16

func (v *runValues) uvarint() int {
	n, size := binary.Uvarint(v.rest)
	if size <= 0 || n > uint64(len(v.c.values)) {
		guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
	}
	v.rest = v.rest[size:]
	return int(n)
}

// contains reports whether the value of a run contains a substring, which must not be empty and be the same for all runs. Only the
// part of the value that differs from the one before is searched.
func (v *runValues) contains(run int, find *text.Substring) bool {
	const slowSteps = 8 // reading a value from a record takes several microseconds
	if !v.stored {
		v.steps.Add(slowSteps)
	}
	searched := v.at(run)
	if v.found > 0 && v.found <= v.known {
		return true
	}
	if !v.isText {
		var ok bool
		if v.codes, ok = text.AppendCodes(v.codes[:v.known], searched[v.known:]); !ok {
			v.found, v.known = 0, 0
			return find.In(searched)
		}
		searched = v.codes
	}
	v.found, v.known = max(find.IndexKey(searched, v.known), 0), len(searched)
	return v.found > 0
}

// skip returns the first run in [run, end) whose value contains a substring or which is not uniform, or end.
func (v *runValues) skip(run, end int, find *text.Substring) int {
	for run < end && !v.c.isNonUniform(run) && !v.contains(run, find) {
		v.steps.Add(1)
		run++
	}
	return run
}
