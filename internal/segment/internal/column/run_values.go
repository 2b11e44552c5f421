package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// runValues reads the values of runs in ascending order, and searches them for a substring. They are stored in sequence, each
// without the prefix that it shares with the one before. Without stored values, it reads them from the records.
type runValues struct {
	c      *Column
	steps  *guard.Steps
	find   *text.Scanner // nil if nothing is searched for
	stored bool
	rest   []byte          // stored values after the last one that was read
	next   int             // run after the last one that was read
	value  []byte          // last one that was read
	found  text.ScanResult // in that value
}

// newRunValues returns a reader of the values of about n runs. A few are read faster from the records.
func (c *Column) newRunValues(st *guard.Steps, find *text.Substring, n int) runValues {
	const share = 64
	v := runValues{c: c, steps: st, stored: len(c.values) > 0 && n >= c.Distinct()/share, rest: c.values}
	if find != nil {
		v.find = find.NewScanner()
	}
	return v
}

// at returns the value of a run, which must not be before that of the last call. The bytes are valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.next <= run {
		first := v.c.sorted.At(int(v.c.runs.At(run)))
		v.value, v.next = v.c.records.appendValue(v.value[:0], first, v.c.position), run+1
		v.scan(0)
	}
	for ; v.next <= run; v.next++ {
		shared := v.uvarint()
		suffix := v.uvarint()
		if shared > len(v.value) || suffix > len(v.rest) {
			guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
		}
		v.value = append(v.value[:shared], v.rest[:suffix]...)
		v.rest = v.rest[suffix:]
		v.scan(shared)
	}
	return v.value
}

// scan searches the last value, which shares some bytes with the one before.
func (v *runValues) scan(shared int) {
	if v.find != nil {
		v.found = v.find.Scan(shared, v.value[shared:])
	}
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

// contains reports whether the value of a run, which must not be before that of the last call, contains the substring.
func (v *runValues) contains(run int) bool {
	const slowSteps = 8 // a long value, or one by its weights, takes several microseconds
	value := v.at(run)
	if !v.stored || v.found == text.Undecided {
		v.steps.Add(slowSteps)
	}
	return v.found == text.Found || v.found == text.Undecided && v.find.In(value)
}
