package column

import (
	"encoding/binary"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/bitmap"
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

// searchesAll reports whether a search in the values of some matches examines the stored values of all runs, because many of them have a match.
func (c *Column) searchesAll(matches int) bool {
	const share = 4
	return c.StoresValues() && matches >= c.Distinct()/share
}

// search adds the runs in [from, end) whose value contains a substring to a set.
func (v *runValues) search(from, end int, find *text.Substring, found bitmap.Bits) {
	for run := from; run < end; run = max(run+1, v.next) {
		v.steps.Add(1)
		if v.contains(run, find) {
			found.Add(uint32(run))
		}
		if v.isText {
			v.searchShort(min(end, run+searchedAtOnce), find, found)
		}
	}
}

const (
	searchedAtOnce = 256 // values between checks for cancellation
	shortSize      = 64  // maximum length of the part of a value that is searched by words
)

// searchShort reads the values of the next runs, before end, up to one whose stored part is long, and adds those that contain a substring to a
// set. The value before them must have been searched.
func (v *runValues) searchShort(end int, find *text.Substring, found bitmap.Bits) {
	le, ending := binary.LittleEndian, find.Ending()
	start, rest, buffer, length := v.next, v.rest, v.value[:cap(v.value)], len(v.value)
	for v.next < end && len(rest) >= 2+shortSize {
		stored := (*[2 + shortSize]byte)(rest)
		shared, suffix := int(stored[0]), int(stored[1])
		if suffix > shortSize || shared >= 0x80 || shared > length || shared+shortSize > len(buffer) {
			break // 0x80 begins a longer number
		}
		w0, w1, w2, w3 := le.Uint64(stored[2:]), le.Uint64(stored[10:]), le.Uint64(stored[18:]), le.Uint64(stored[26:])
		w4, w5, w6, w7 := le.Uint64(stored[34:]), le.Uint64(stored[42:]), le.Uint64(stored[50:]), le.Uint64(stored[58:])
		before := uint64(0)
		if shared > 0 {
			before = uint64(buffer[shared-1]) << 56
		}
		ends := ending.In(before, w0) | ending.In(w0, w1) | ending.In(w1, w2) | ending.In(w2, w3) |
			ending.In(w3, w4) | ending.In(w4, w5) | ending.In(w5, w6) | ending.In(w6, w7)
		value := (*[shortSize]byte)(buffer[shared:])
		le.PutUint64(value[0:], w0)
		le.PutUint64(value[8:], w1)
		le.PutUint64(value[16:], w2)
		le.PutUint64(value[24:], w3)
		le.PutUint64(value[32:], w4)
		le.PutUint64(value[40:], w5)
		le.PutUint64(value[48:], w6)
		le.PutUint64(value[56:], w7)
		rest, length = rest[2+suffix:], shared+suffix
		v.shared = min(v.shared, shared)
		if v.found > shared {
			v.found = 0
		}
		if v.found == 0 && ends != 0 {
			v.found = max(find.IndexKey(buffer[:length], shared), 0)
		}
		if v.found > 0 {
			found.Add(uint32(v.next))
		}
		v.next++
	}
	v.rest, v.value, v.known = rest, buffer[:length], length
	v.steps.Add(v.next - start)
}
