package column

import (
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/query"
)

// valueCount is a value and the number of records that have it.
type valueCount struct {
	n      int
	order  int // position among the values in ascending order
	column *Column
	run    int
	value  string // empty means that of the run of the column
}

// compare orders values by descending count, ties by sort order.
func (v *valueCount) compare(w *valueCount) int {
	if v.n != w.n || v.order != w.order { // decides nearly all cases
		return cmp.Or(cmp.Compare(w.n, v.n), cmp.Compare(v.order, w.order))
	}
	return strings.Compare(v.value, w.value)
}

// topValues keeps the most frequent of the offered values. It collects twice as many as it has to return before it discards
// the others, so that an offer costs little however many it returns.
type topValues struct {
	skip, most int
	values     []valueCount
	last       *valueCount // values that do not precede it are discarded; nil while there are few
}

// qualifies reports whether a value with this count and order could be among the top. Most values are not.
func (t *topValues) qualifies(n, order int) bool {
	return t.most > 0 && (t.last == nil || n > t.last.n || n == t.last.n && order <= t.last.order)
}

// offer adds a value that qualifies.
func (t *topValues) offer(v valueCount) {
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

// list returns the most frequent values in order, without those to skip.
func (t *topValues) list() (values []query.ValueCount) {
	t.sort()
	for _, v := range t.values[min(t.skip, len(t.values)):min(t.skip+t.most, len(t.values))] {
		if v.value == "" {
			v.value = v.column.RunValue(v.run)
		}
		values = append(values, query.ValueCount{Value: v.value, Count: v.n})
	}
	return values
}
