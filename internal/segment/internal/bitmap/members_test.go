package bitmap

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"herbarium/internal/testseed"
)

// TestMembers compares masks of records with the set.
func TestMembers(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	for range 30 {
		const records = 5 * ContainerMembers
		set := randomSet(g, records)
		members := NewMembers(serialized(t, set))
		var all []uint32
		for range g.IntN(5000) {
			all = append(all, uint32(g.IntN(records)))
		}
		slices.Sort(all)
		all = slices.Compact(all)
		for chunk := range slices.Chunk(all, 1+g.IntN(EachAtOnce)) {
			got, want := bytes.Repeat([]byte{7}, len(chunk)), make([]byte, len(chunk))
			for i, rec := range chunk {
				if set.Contains(rec) {
					want[i] = 7
				}
			}
			members.Mask(chunk, got)
			if !bytes.Equal(got, want) {
				t.Fatalf("%v: %v; want %v", chunk, got, want)
			}
		}
	}
}
