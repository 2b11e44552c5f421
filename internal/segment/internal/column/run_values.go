package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// runValues reads the values of runs in ascending order. They are stored in sequence, each without the prefix that it shares
// with the one before. Without stored values, it reads them from the records.
type runValues struct {
	c      *Column
	steps  *guard.Steps
	stored bool
	rest   []byte // stored values after the last one that was read
	next   int    // run after the last one that was read
	value  []byte // last one that was read
	folded []byte // prefix of it that is folded; see contains
}

// newRunValues returns a reader of the values of about n runs. A few are read faster from the records.
func (c *Column) newRunValues(st *guard.Steps, n int) runValues {
	const share = 64
	return runValues{c: c, steps: st, stored: len(c.values) > 0 && n >= c.Distinct()/share, rest: c.values}
}

// at returns the value of a run, which must not be before that of the last call. The bytes are valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.next <= run {
		first := v.c.sorted.At(int(v.c.runs.At(run)))
		v.value, v.folded, v.next = v.c.records.appendValue(v.value[:0], first, v.c.position), v.folded[:0], run+1
	}
	for v.next <= run {
		shared := v.uvarint()
		suffix := v.uvarint()
		if shared > len(v.value) || suffix > len(v.rest) {
			guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
		}
		v.value = append(v.value[:shared], v.rest[:suffix]...)
		v.rest = v.rest[suffix:]
		v.folded = v.folded[:min(len(v.folded), shared)]
		v.next++
	}
	return v.value
}

func (v *runValues) uvarint() int {
	if len(v.rest) > 0 && v.rest[0] < 0x80 { // nearly all are short
		n := v.rest[0]
		v.rest = v.rest[1:]
		return int(n)
	}
	n, size := binary.Uvarint(v.rest)
	if size <= 0 || n > uint64(len(v.c.values)) {
		guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
	}
	v.rest = v.rest[size:]
	return int(n)
}

// contains reports whether the value of a run contains a substring.
func (v *runValues) contains(run int, find *text.Substring) bool {
	const slowSteps = 8 // a long value, or one by its weights, takes several microseconds
	value, ok := v.at(run), false
	v.folded, ok = text.AppendFoldedASCII(v.folded, value[len(v.folded):])
	if !v.stored || !ok {
		v.steps.Add(slowSteps)
	}
	if ok {
		return find.InFoldedASCII(v.folded)
	}
	v.folded = v.folded[:0]
	return find.In(value)
}
