package bitmap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/file"
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

func TestEncoded_Picked(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(6, 6))
	for range 20 {
		set := randomSet(g, 10*ContainerMembers)
		all := set.ToArray()
		var positions, want, got []uint32
		for i, rec := range all {
			if g.IntN(50) == 0 || i == 0 || i == len(all)-1 {
				positions, want = append(positions, uint32(i)), append(want, rec)
			}
		}
		EncodedSet(serialized(t, set)).Pick(positions, func(i int, rec uint32) {
			if i != len(got) {
				t.Fatalf("position %d comes after %d", i, len(got)-1)
			}
			got = append(got, rec)
		})
		if !slices.Equal(got, want) {
			t.Fatalf("members at %v are %v; want %v", positions, got, want)
		}
	}
}

// TestEncoded compares encoded sets with those of the library that encoded them.
func TestEncoded(t *testing.T) {
	t.Parallel()
	const records = 5*ContainerMembers + 7
	g := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		set, among := randomSet(g, records), randomSet(g, records)
		e, st := EncodedSet(serialized(t, set)), guard.NewSteps(t.Context())
		pool := Pool{Records: records}
		dense, copied := pool.Get(st), pool.Get(st)
		among.WriteDenseTo(dense)
		if got, want := e.CountIn(st, dense), int(set.AndCardinality(among)); got != want {
			t.Fatalf("%d members; want %d", got, want)
		}
		if got, want := e.CountIn(st, nil), int(set.GetCardinality()); got != want || e.Len() != want {
			t.Fatalf("%d members of all; want %d", got, want)
		}
		e.AddTo(st, copied)
		var members []uint32
		e.Each(st, func(some []uint32) { members = append(members, some...) })
		if all := set.ToArray(); !slices.Equal(members, all) || !slices.Equal(copied.AppendTo(nil), all) {
			t.Fatal("the members differ")
		}
		for rec := range uint32(records) {
			if e.Contains(rec) != set.Contains(rec) {
				t.Fatalf("contains %d: %v", rec, e.Contains(rec))
			}
		}
	}
}

// TestByteMap reads the bytes of all records and of a few of them.
func TestByteMap(t *testing.T) {
	t.Parallel()
	const records = 5*ContainerMembers + 7
	g := rand.New(rand.NewPCG(8, 7))
	for range 20 {
		set := randomSet(g, records)
		want := bytes.Repeat([]byte{1}, records)
		var values []byte
		for i, rec := range set.ToArray() {
			want[rec] = byte(2 + i%200)
			values = append(values, want[rec])
		}
		stored := EncodedSet(slices.Concat(serialized(t, set), values))
		for _, share := range []int{1, 7, 5000} {
			var asked []uint32
			for rec := range uint32(records) {
				if g.IntN(share) == 0 {
					asked = append(asked, rec)
				}
			}
			m, got := NewByteMap(stored), make([]byte, EachAtOnce)
			for part := range slices.Chunk(asked, EachAtOnce) {
				m.Load(part, got)
				for i, rec := range part {
					if got[i] != want[rec] {
						t.Fatalf("one in %d: %d at %d; want %d", share, got[i], rec, want[rec])
					}
				}
			}
		}
	}
}

// TestEncoded_Picked_run checks that members of runs are located without a list of all.
func TestEncoded_Picked_run(t *testing.T) {
	all := roaring.New()
	all.AddRange(0, 4*ContainerMembers)
	all.RunOptimize()
	e, got := EncodedSet(serialized(t, all)), uint32(0)
	allocations := testing.AllocsPerRun(5,
		func() { e.Pick([]uint32{3*ContainerMembers + 5}, func(_ int, member uint32) { got = member }) })
	if got != 3*ContainerMembers+5 || allocations > 20 {
		t.Errorf("member %d, %v allocations", got, allocations)
	}
}

// TestSet compares the operations of sets in every representation.
func TestSet(t *testing.T) {
	t.Parallel()
	const records = 2*ContainerMembers + 7
	g := rand.New(rand.NewPCG(9, 7))
	pool := &Pool{Records: records}
	for range 200 {
		st := guard.NewSteps(t.Context())
		sets, want := make([]*Set, 2), make([]*roaring.Bitmap, 2)
		for i := range sets {
			sets[i], want[i] = randomUnion(t, g, pool)
			checkSet(t, sets[i], want[i])
		}
		switch g.IntN(3) {
		case 0:
			sets[0].Intersect(st, sets[1])
			want[0].And(want[1])
		case 1:
			sets[0].Subtract(st, sets[1])
			want[0].AndNot(want[1])
		default:
			sets[0].Filter(st, want[1].Contains)
			want[0].And(want[1])
		}
		checkSet(t, sets[0], want[0])
		sets[0].Release()
		sets[1].Release()
	}
}

// randomUnion returns the union of some random sets, added to a builder in different ways.
func randomUnion(t *testing.T, g *rand.Rand, pool *Pool) (*Set, *roaring.Bitmap) {
	t.Helper()
	st, b, all := guard.NewSteps(t.Context()), NewBuilder(pool), roaring.New()
	if g.IntN(4) == 0 {
		set := randomSet(g, pool.Records)
		return StoredSet(pool, serialized(t, set)), set
	}
	for range 1 + g.IntN(3) {
		set := randomSet(g, pool.Records)
		if g.IntN(2) == 0 {
			set = roaring.BitmapOf(uint32(g.IntN(pool.Records)), uint32(g.IntN(pool.Records)))
		}
		all.Or(set)
		members := set.ToArray()
		switch g.IntN(4) {
		case 0:
			b.AddSet(st, serialized(t, set))
		case 1:
			b.AddList(st, members)
		case 2:
			dense := pool.Get(st)
			set.WriteDenseTo(dense)
			b.AddBits(st, dense)
		default:
			g.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
			var encoded file.U32s
			for _, m := range members {
				encoded = binary.LittleEndian.AppendUint32(encoded, m)
			}
			b.AddRecords(st, encoded)
		}
	}
	return b.Set(st), all
}

func checkSet(t *testing.T, s *Set, want *roaring.Bitmap) {
	t.Helper()
	st, all := guard.NewSteps(t.Context()), want.ToArray()
	if s.Len() != len(all) {
		t.Fatalf("%d records; want %d", s.Len(), len(all))
	}
	for _, from := range []int{0, len(all) / 3, len(all)} {
		to := min(from+100, len(all))
		if got := s.Slice(st, from, to); !slices.Equal(got, all[from:to]) {
			t.Fatalf("records %d to %d: %v; want %v", from, to, got, all[from:to])
		}
	}
	for rec := uint32(0); int(rec) < s.pool.Records; rec += 61 {
		if s.Has(rec) != want.Contains(rec) {
			t.Fatalf("has %d: %v", rec, s.Has(rec))
		}
	}
	var got []uint32
	s.Each(st, func(part []uint32) {
		if n := len(part); n == 0 || n > EachAtOnce {
			t.Fatalf("%d records at once: %v", n, part)
		}
		got = append(got, part...)
	})
	if !slices.Equal(got, all) {
		t.Fatal("the records differ")
	}
}

// TestBuilder_corrupt adds records that the segment does not have.
func TestBuilder_corrupt(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(st *guard.Steps, b *Builder){
		"list": func(st *guard.Steps, b *Builder) { b.AddList(st, []uint32{3, 1000}) },
		"bits": func(st *guard.Steps, b *Builder) {
			b.AddBits(st, b.pool.Get(st))
			b.AddList(st, []uint32{3, 1000})
		},
		"too many": func(_ *guard.Steps, b *Builder) {
			set := roaring.New()
			set.AddRange(0, 1001)
			StoredSet(b.pool, serialized(t, set))
		},
	} {
		err := guard.Run(nil, func() error {
			b := NewBuilder(&Pool{Records: 1000})
			add(guard.NewSteps(t.Context()), b)
			b.Set(guard.NewSteps(t.Context()))
			return nil
		})
		if !errors.Is(err, guard.ErrCorrupt) {
			t.Errorf("%s: %v; want %v", name, err, guard.ErrCorrupt)
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

// TestPool checks that queries reserve memory for bitsets, not for lists, and for what they hold at
// once only.
func TestPool(t *testing.T) {
	t.Parallel()
	pool, st := &Pool{Records: 10 * ContainerMembers}, guard.NewSteps(t.Context())
	size := 8 * len(pool.Get(guard.NewSteps(t.Context())))
	want := func(bitsets int) {
		t.Helper()
		if n := st.Needed(); n != bitsets*size {
			t.Errorf("%d bytes are needed, want %d", n, bitsets*size)
		}
	}
	few := NewBuilder(pool)
	few.AddList(st, []uint32{3, 1, 2})
	list := few.Set(st)
	want(0)
	all := All(st, pool)
	want(1)
	others := list.Complement(st) // the list has a bitset as well
	want(3)
	union := NewBuilder(pool)
	union.Union(st, all)
	union.Union(st, others)
	set := union.Set(st)
	want(4)
	for _, s := range []*Set{list, all, others} {
		s.Release()
	}
	want(1)
	set.Release()
	set.Release()
	want(0)
}
