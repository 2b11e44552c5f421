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
	suffix []byte // end of it, as stored
	folded []byte // prefix of it that has been folded to search it
	found  int    // end of the first occurrence of the substring in folded; 0 if there is none
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
		v.suffix, v.rest = v.rest[:suffix], v.rest[suffix:]
		v.value = append(v.value[:shared], v.suffix...)
		if shared < len(v.folded) {
			v.folded = v.folded[:shared]
		}
	}
	return v.value
}

func (v *runValues) uvarint() int {
	n, size := binary.Uvarint(v.rest)
	if size <= 0 || n > uint64(len(v.c.values)) {
		guard.Corrupt("field %q has an invalid stored value", v.c.Field.Name)
	}
	v.rest = v.rest[size:]
	return int(n)
}

// contains reports whether the value of a run contains a substring, which must not be empty and be the same for all runs. Only
// the part of the value that differs from the one before is searched.
func (v *runValues) contains(run int, find *text.Substring) (ok bool) {
	const slowSteps = 8 // a long value, or one by its weights, takes several microseconds
	value := v.at(run)
	known := len(v.folded) // this part contains the substring if found is in it
	if v.found > 0 && v.found <= known {
		return true
	}
	v.found = 0
	rest := value[known:]
	if len(rest) == len(v.suffix) { // has the same bytes; reading those just written would have to wait
		rest = v.suffix
	}
	if v.folded, ok = text.AppendFoldedASCII(v.folded, rest); !v.stored || !ok {
		v.steps.Add(slowSteps)
	}
	if !ok {
		v.folded = v.folded[:0]
		return find.In(value)
	}
	from := max(known-find.Len()+1, 0)
	if end := find.IndexFoldedASCII(v.folded[from:]); end >= 0 {
		v.found = from + end
	}
	return v.found > 0
}
