package column

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestTopValues checks that the top few of many values, divided among some lists, equal a part of
// all values in order.
func TestTopValues(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 6))
	for most := range 12 {
		for _, skip := range []int{0, 1, 7, 150, 300} {
			q := &query.FacetRequest{Top: most, Offset: skip}
			best, all := make([]*valueCollector, 1+skip%3), &valueCollector{most: 1000}
			for i := range best {
				best[i] = newValueCollector(q)
			}
			for run := range 200 {
				n := 1 + g.IntN(20)
				v := valueCount{n: n, order: run, value: fmt.Sprint(1000 + run)}
				if c := best[g.IntN(len(best))]; c.qualifies(n, run) {
					c.offer(v)
				}
				all.offer(v)
			}
			var lists []topList
			for _, c := range best {
				c.sort()
				lists = append(lists, topList{values: c.values})
			}
			all.sort()
			number := &herb.Field{Type: herb.TypeNumber}
			got := mergeTops(lists, number, q)
			want := mergeTops([]topList{{values: all.values}}, number, &query.FacetRequest{Top: 1000})
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
