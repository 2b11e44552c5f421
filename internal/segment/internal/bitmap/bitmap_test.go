package bitmap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/guard"
)

// randomSet returns a set with containers of all kinds and gaps.
func randomSet(g *rand.Rand, records int) *roaring.Bitmap {
	set := roaring.New()
	for first := 0; first < records; first += ContainerMembers {
		end := min(first+ContainerMembers, records)
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

func TestPick(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		set := randomSet(g, 10*ContainerMembers)
		all := set.ToArray()
		var ranks, want, got []uint32
		for i, rec := range all {
			if g.IntN(50) == 0 || i == 0 || i == len(all)-1 {
				ranks, want = append(ranks, uint32(i)), append(want, rec)
			}
		}
		Pick(serialized(t, set), ranks, func(i int, rec uint32) {
			if i != len(got) {
				t.Fatalf("rank %d comes after %d", i, len(got)-1)
			}
			got = append(got, rec)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("members at %v are %v; want %v", ranks, got, want)
		}
	}
}

// TestCountIn compares counts in encoded sets with intersections.
func TestCountIn(t *testing.T) {
	t.Parallel()
	const records = 5*ContainerMembers + 7
	g := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		set, among := randomSet(g, records), randomSet(g, records)
		dense := NewContainerBits(records)
		among.WriteDenseTo(dense)
		st := guard.NewSteps(t.Context())
		if got, want := CountIn(st, serialized(t, set), dense), int(set.AndCardinality(among)); got != want {
			t.Fatalf("%d members; want %d", got, want)
		}
		if got, want := CountIn(st, serialized(t, set), nil), int(set.GetCardinality()); got != want {
			t.Fatalf("%d members of all; want %d", got, want)
		}
	}
}

// TestBits compares Count, Next and Last with a slice of booleans.
func TestBits(t *testing.T) {
	t.Parallel()
	const n = 300
	g := rand.New(rand.NewPCG(8, 8))
	for _, share := range []int{1, 2, 50, 1000} {
		b, has, st := NewBits(n), make([]bool, n), guard.NewSteps(t.Context())
		for i := range n {
			if g.IntN(share) == 0 {
				b.Add(uint32(i))
				has[i] = true
			}
		}
		for from := range n + 1 {
			for to := from; to <= n; to++ {
				count, next, last := 0, to, -1
				for i := to - 1; i >= 0; i-- {
					if !has[i] {
						continue
					}
					last = max(last, i)
					if i >= from {
						count, next = count+1, i
					}
				}
				if b.Count(from, to) != count || b.Next(st, from, to) != next || b.Last(st, to) != last {
					t.Fatalf("[%d, %d): count %d, next %d, last %d; want %d, %d, %d",
						from, to, b.Count(from, to), b.Next(st, from, to), b.Last(st, to), count, next, last)
				}
			}
		}
	}
}
