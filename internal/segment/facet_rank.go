package segment

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// ranked is a value with the number of records that have it.
type ranked struct {
	n     int
	run   int
	key   []byte // by which elements of lists sort
	value string // empty: that of the run
}

// before reports whether a value comes before another: the more frequent first, equally frequent ones as they sort.
func (v *ranked) before(w *ranked) bool {
	if v.n != w.n || v.run != w.run { // for nearly all values that is all there is to see
		return v.n > w.n || v.n == w.n && v.run < w.run
	}
	return cmp.Or(bytes.Compare(v.key, w.key), strings.Compare(v.value, w.value)) < 0
}

// ranking keeps the most frequent values of all that it is offered.
type ranking struct {
	most   int
	values []ranked // the first of them first
}

// takes reports whether a value so frequent could have a place.
func (r *ranking) takes(n int) bool {
	return len(r.values) < r.most || r.most > 0 && n >= r.values[r.most-1].n
}

// offerRun offers the value of a run. Most are refused, so that this is the quick way to do it.
func (r *ranking) offerRun(run, n int) {
	if r.takes(n) {
		r.offer(ranked{n: n, run: run})
	}
}

func (r *ranking) offer(v ranked) {
	full := len(r.values) == r.most
	if full && (r.most == 0 || !v.before(&r.values[r.most-1])) {
		return
	}
	if full {
		r.values = r.values[:r.most-1]
	}
	i, _ := slices.BinarySearchFunc(r.values, v, func(w, v ranked) int {
		if w.before(&v) {
			return -1
		}
		return 1
	})
	r.values = slices.Insert(r.values, i, v)
}
