package column

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/query"
)

// valueCount is a value and the number of records that have it.
type valueCount struct {
	n     int
	run   int
	key   []byte // sort key of list elements
	value string // empty means that of the run
}

// compare orders values by descending count, ties by sort order.
func (v *valueCount) compare(w *valueCount) int {
	if v.n != w.n || v.run != w.run { // decides nearly all cases
		return cmp.Or(cmp.Compare(w.n, v.n), cmp.Compare(v.run, w.run))
	}
	return cmp.Or(bytes.Compare(v.key, w.key), strings.Compare(v.value, w.value))
}

// topValues keeps the most frequent of the offered values. It collects twice as many as it has to return before it discards
// the others, so that an offer costs little however many it returns.
type topValues struct {
	skip, most int
	values     []valueCount
	last       *valueCount // values that do not precede it are discarded; nil while there are few
}

// qualifies reports whether a value with this count could be among the top.
func (t *topValues) qualifies(n int) bool { return t.most > 0 && (t.last == nil || n >= t.last.n) }

// offerRun offers the value of a run. It is the fast path, because most values are rejected.
func (t *topValues) offerRun(run, n int) {
	if t.qualifies(n) {
		t.offer(valueCount{n: n, run: run})
	}
}

// rejects reports whether a value is not among the top.
func (t *topValues) rejects(v *valueCount) bool {
	return t.most == 0 || t.last != nil && v.compare(t.last) >= 0
}

func (t *topValues) offer(v valueCount) {
	if t.rejects(&v) {
		return
	}
	t.values = append(t.values, v)
	if kept := t.skip + t.most; len(t.values) >= 2*kept {
		t.sort()
		t.values = t.values[:kept]
		t.last = new(t.values[kept-1])
	}
}

func (t *topValues) sort() {
	slices.SortFunc(t.values, func(a, b valueCount) int { return a.compare(&b) })
}

// list returns the most frequent values in order, without those to skip. valueOf returns the value of a run.
func (t *topValues) list(valueOf func(run int) string) (values []query.ValueCount) {
	t.sort()
	for _, v := range t.values[min(t.skip, len(t.values)):min(t.skip+t.most, len(t.values))] {
		if v.value == "" {
			v.value = valueOf(v.run)
		}
		values = append(values, query.ValueCount{Value: v.value, Count: v.n})
	}
	return values
}
