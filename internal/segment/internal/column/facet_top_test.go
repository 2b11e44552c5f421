package column

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/query"
)

// TestTopValues checks that the top few of many values equal a part of all values in order.
func TestTopValues(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 6))
	for most := range 12 {
		for _, skip := range []int{0, 1, 7, 150, 300} {
			best, all := newValueCollector(&query.FacetRequest{Top: most, Offset: skip}), &valueCollector{most: 1000}
			for run := range 200 {
				n := 1 + g.IntN(20)
				v := valueCount{n: n, order: run, value: fmt.Sprint(1000 + run)}
				if best.qualifies(n, run) {
					best.offer(v)
				}
				all.offer(v)
			}
			want, got := all.top(0), best.top(skip)
			for i := range want[1:] {
				if want[i].Count < want[i+1].Count {
					t.Fatalf("%+v is before %+v", want[i], want[i+1])
				}
			}
			if diff := cmp.Diff(want[min(skip, 200):min(skip+most, 200)], got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%d after the first %d (-want +got):\n%s", most, skip, diff)
			}
		}
	}
}
