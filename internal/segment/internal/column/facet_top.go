package column

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// valueCount is a value and the number of records that have it.
type valueCount struct {
	n      int
	order  int // position among the values in ascending order
	column *Column
	run    int    // of a list, the position of the element
	value  string // empty means that of the run of the column
}

// textPrefix returns the value, or at least as much of a longer one as a facet shows.
func (v *valueCount) textPrefix() string {
	const shown = query.MaxFacetValue + 1 // one more than is shown, so that a longer value is clipped
	switch {
	case v.value != "":
		return v.value
	case v.column.Field.Type == herb.TypeList:
		element := v.column.elements.At(v.run)
		return string(element[:min(len(element), shown)])
	default:
		return v.column.runValuePrefix(v.run, shown)
	}
}

// compare orders values by descending count, ties by sort order.
func (v *valueCount) compare(w *valueCount) int {
	if v.n != w.n || v.order != w.order { // decides nearly all cases
		return cmp.Or(cmp.Compare(w.n, v.n), cmp.Compare(v.order, w.order))
	}
	return strings.Compare(v.value, w.value)
}

// valueCollector counts the distinct values of a facet and keeps the most frequent of those that
// are offered. It collects twice as many as it has to return before it discards the others, so that
// an offer costs little however many it returns.
type valueCollector struct {
	find               *text.Substring // values to return contain it; nil means all values
	distinct, matching int             // number of values, and of those that contain the substring
	most               int             // maximum number of values to return
	values             []valueCount
	last               *valueCount // values that do not precede it are discarded; nil while there are few
}

func newValueCollector(q *query.FacetRequest) *valueCollector {
	c := &valueCollector{}
	if q.Top > 0 {
		c.most = q.Offset + q.Top
	}
	if find := text.NewSubstring(q.Containing); find.Len() > 0 {
		c.find = find
	}
	return c
}

// countFound counts a value that contains the substring to find, or does not. It returns found.
func (v *valueCollector) countFound(found bool) bool {
	v.distinct++
	if found {
		v.matching++
	}
	return found
}

// qualifies reports whether a value with this count and order could be among the top. Most values
// are not.
func (v *valueCollector) qualifies(n, order int) bool {
	return v.most > 0 && (v.last == nil || n > v.last.n || n == v.last.n && order <= v.last.order)
}

func (v *valueCollector) offer(value valueCount) {
	v.values = append(v.values, value)
	if len(v.values) >= 2*v.most {
		moveFirst(v.values, v.most)
		v.values = v.values[:v.most]
		v.last = new(v.values[v.most-1])
	}
}

// top returns the most frequent values in order, without the first ones.
func (v *valueCollector) top(skip int) (values []query.ValueCount) {
	if len(v.values) > v.most {
		moveFirst(v.values, v.most)
		v.values = v.values[:v.most]
	}
	slices.SortFunc(v.values, func(a, b valueCount) int { return a.compare(&b) })
	for i := skip; i < len(v.values); i++ {
		values = append(values, query.NewValueCount(v.values[i].textPrefix(), v.values[i].n))
	}
	return values
}

// moveFirst moves the n values that sort first to the front, in any order but with the greatest of
// them last. It is a quickselect: its expected time is linear.
func moveFirst(values []valueCount, n int) {
	for from, to := 0, len(values); to-from > 1; {
		pivot := values[from+rand.IntN(to-from)]
		i, j := from, to-1
		for i <= j {
			for values[i].compare(&pivot) < 0 {
				i++
			}
			for values[j].compare(&pivot) > 0 {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		switch {
		case n <= j+1:
			to = j + 1
		case n > i:
			from = i
		default:
			return
		}
	}
}
