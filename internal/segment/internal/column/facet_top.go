package column

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// valueCount is a value and the number of records that have it.
type valueCount struct {
	n     int
	run   int
	key   []byte // sort key of list elements
	value string // empty means that of the run
}

// before reports whether a value precedes another: by descending count, ties by sort order.
func (v *valueCount) before(w *valueCount) bool {
	if v.n != w.n || v.run != w.run { // decides nearly all cases
		return v.n > w.n || v.n == w.n && v.run < w.run
	}
	return cmp.Or(bytes.Compare(v.key, w.key), strings.Compare(v.value, w.value)) < 0
}

// topValues keeps the most frequent of the offered values.
type topValues struct {
	most   int
	values []valueCount // in order
}

// qualifies reports whether a value with this count could be among the top.
func (t *topValues) qualifies(n int) bool {
	return len(t.values) < t.most || t.most > 0 && n >= t.values[t.most-1].n
}

// offerRun offers the value of a run. It is the fast path, because most values are rejected.
func (t *topValues) offerRun(run, n int) {
	if t.qualifies(n) {
		t.offer(valueCount{n: n, run: run})
	}
}

func (t *topValues) offer(v valueCount) {
	full := len(t.values) == t.most
	if full && (t.most == 0 || !v.before(&t.values[t.most-1])) {
		return
	}
	if full {
		t.values = t.values[:t.most-1]
	}
	i, _ := slices.BinarySearchFunc(t.values, v, func(w, v valueCount) int {
		if w.before(&v) {
			return -1
		}
		return 1
	})
	t.values = slices.Insert(t.values, i, v)
}
