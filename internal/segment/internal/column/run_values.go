package column

import (
	"encoding/binary"

	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// runValues reads the values of runs in ascending order, or their primary weights. They are stored in sequence, each without the
// prefix that it shares with the one before. A few, and those that are not stored, are read from the records.
type runValues struct {
	c       *Column
	steps   *guard.Steps
	weights bool
	stored  bool
	rest    []byte // stored values after the last one that was read
	next    int    // run after the last one that was read
	value   []byte // last one that was read
	suffix  []byte // end of it, as stored
	folded  []byte // value that was searched last, folded; weights need not be folded
	known   int    // length of the prefix of value that is in folded, and has been searched
	found   int    // end of the first occurrence of the substring in that prefix; 0 if there is none
}

// newRunValues returns a reader of the values of about n runs, or of their primary weights.
func (c *Column) newRunValues(st *guard.Steps, n int, weights bool) runValues {
	const share = 64
	stored := c.values
	if weights {
		stored = c.weights
	}
	return runValues{c: c, steps: st, weights: weights, stored: len(stored) > 0 && n >= c.Distinct()/share, rest: stored}
}

// at returns the value of a run, which must not be before that of the last call. The bytes are valid until the next call.
func (v *runValues) at(run int) []byte {
	if !v.stored && v.next <= run {
		first := v.c.sorted.At(int(v.c.runs.At(run)))
		v.value, v.known, v.next = v.c.records.appendValue(v.value[:0], first, v.c.position), 0, run+1
		if v.weights {
			v.value = text.AppendPrimaryKey(nil, v.value)
		}
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
		if shared < v.known {
			v.known = shared
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
func (v *runValues) contains(run int, find *text.Substring) bool {
	const slowSteps = 8 // a long value, or one by its weights, takes several microseconds
	value := v.at(run)
	known := v.known
	if v.found > 0 && v.found <= known {
		return true
	}
	if !v.stored {
		v.steps.Add(slowSteps)
	}
	if v.weights {
		v.found, v.known = find.IndexWeights(value, max(known-len(find.Weights())+1, 0)), len(value)
		return v.found > 0
	}
	rest := value[known:]
	if len(rest) == len(v.suffix) { // has the same bytes; reading those just written would have to wait
		rest = v.suffix
	}
	var ok bool
	if v.folded, ok = text.AppendFoldedASCII(v.folded[:known], rest); !ok {
		v.steps.Add(slowSteps)
		v.found, v.known = 0, 0
		return find.In(value)
	}
	from := max(known-find.Len()+1, 0)
	v.found, v.known = find.IndexFoldedASCII(v.folded[from:]), len(value)
	if v.found >= 0 {
		v.found += from
	}
	return v.found > 0
}
