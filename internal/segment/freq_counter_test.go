package segment

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// randomSet returns a set with containers of all kinds and gaps.
func randomSet(g *rand.Rand, records int) *roaring.Bitmap {
	set := roaring.New()
	for first := 0; first < records; first += containerMembers {
		end := min(first+containerMembers, records)
		few := func(n int) {
			for range n {
				set.Add(uint32(first + g.IntN(end-first)))
			}
		}
		switch g.IntN(4) {
		case 0:
			few(100)
		case 1:
			few(20_000)
		case 2:
			from := first + g.IntN(end-first)
			set.AddRange(uint64(from), uint64(from+g.IntN(end-from)))
			few(3)
		}
	}
	set.RunOptimize()
	return set
}

func serialized(t *testing.T, set *roaring.Bitmap) []byte {
	t.Helper()
	b, err := set.ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFreqCounter counts terms with frequencies of one, two and more in more records than fit one pass.
func TestFreqCounter(t *testing.T) {
	t.Parallel()
	const records = recordsPerPass + 3*containerMembers/2
	g := rand.New(rand.NewPCG(5, 5))
	w := words{lengths: make(u32s, 4*records)}
	for range 2 { // the second time with a reused counter
		sum := w.newFreqCounter()
		counts := make([]int, records)
		for range 4 {
			found := randomSet(g, records)
			freqs, many := roaring.And(found, randomSet(g, records)), []byte(nil)
			for _, rec := range found.ToArray() {
				counts[rec]++
			}
			for _, rec := range freqs.ToArray() {
				many = append(many, byte(2+min(g.IntN(254), g.IntN(254), g.IntN(254))))
				counts[rec] += int(many[len(many)-1]) - 1
			}
			sum.add(serialized(t, found), serialized(t, freqs), many)
		}
		sum.count(newSteps(t.Context()))
		for i, bits := range []bitset{sum.atLeast1, sum.atLeast2, sum.atLeast3} {
			set, want := bits.set(), roaring.New()
			for rec, n := range counts {
				if n > i {
					want.Add(uint32(rec))
				}
			}
			if !set.Equals(want) {
				t.Errorf("%d records have %d or more; want %d", set.GetCardinality(), i+1, want.GetCardinality())
			}
		}
		w.release([]clause{{sum: sum}})
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		set := randomSet(g, 10*containerMembers)
		all := set.ToArray()
		var ranks, want, got []uint32
		for i, rec := range all {
			if g.IntN(50) == 0 || i == 0 || i == len(all)-1 {
				ranks, want = append(ranks, uint32(i)), append(want, rec)
			}
		}
		pick(serialized(t, set), ranks, func(i int, rec uint32) {
			if i != len(got) {
				t.Fatalf("rank %d comes after %d", i, len(got)-1)
			}
			got = append(got, rec)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("the members at %v are %v; want %v", ranks, got, want)
		}
	}
}
