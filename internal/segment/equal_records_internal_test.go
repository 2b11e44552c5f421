package segment

import (
	"slices"
	"testing"

	"herbarium/internal/segment/internal/guard"
)

// TestEqualRecords reads lists of more records than are listed one by one.
func TestEqualRecords(t *testing.T) {
	t.Parallel()
	const records = 3 * maxFewEqual
	st := guard.NewSteps(t.Context())
	e := equalRecords{records: records}
	for _, n := range []int{maxFewEqual + 1000, 10, 2 * maxFewEqual} {
		var all []uint32
		for i := range uint32(n) {
			all = append(all, i+i/8)
			e.add(st, i+i/8)
		}
		for _, skipped := range []int{0, 5, maxFewEqual - 1, maxFewEqual, maxFewEqual + 7, n, n + 1} {
			var got []uint32
			e.eachAfter(st, skipped, func(record uint32) { got = append(got, record) })
			if want := all[min(skipped, n):]; !slices.Equal(got, want) {
				t.Errorf("%d records after %d: got %d, want %d", n, skipped, len(got), len(want))
			}
		}
		e.reset()
	}
}
