package column

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestTopValues checks that the top few of many values equal the start of all values.
func TestTopValues(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(5, 6))
	for most := range 12 {
		best, all := topValues{most: most}, topValues{most: 1000}
		for run := range 200 {
			n := 1 + g.IntN(20)
			best.offerRun(run, n)
			all.offer(valueCount{n: n, run: run})
		}
		for i := range all.values[1:] {
			if !all.values[i].before(&all.values[i+1]) {
				t.Fatalf("%+v is before %+v", all.values[i], all.values[i+1])
			}
		}
		if diff := cmp.Diff(all.values[:most], best.values, cmp.AllowUnexported(valueCount{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the first %d (-want +got):\n%s", most, diff)
		}
	}
}
