package fulltext

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPositionsOf(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(1, 1))
	counts := make([]byte, 1003)
	for i := range counts {
		counts[i] = byte(2 + min(g.IntN(254), g.IntN(254), g.IntN(254)))
	}
	for _, least := range []int{2, 3, 4, 100, 127, 128, 129, 200, 254, 255} {
		t.Run(fmt.Sprint(least), func(t *testing.T) {
			t.Parallel()
			var want []uint32
			for i, c := range counts {
				if int(c) >= least {
					want = append(want, uint32(i))
				}
			}
			if d := cmp.Diff(want, positionsOf(counts, least)); d != "" {
				t.Errorf("- want, + got:\n%s", d)
			}
		})
	}
}
