package bitmap

import (
	"math/bits"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/segment/internal/guard"
)

// Bits is a set with one bit per number.
type Bits []uint64

// NewBits returns an empty set for numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// NewContainerBits returns an empty set for numbers below n, with room for complete containers, as CountIn needs.
func NewContainerBits(n int) Bits { return NewBits((n>>16 + 1) * ContainerMembers) }

// Has reports whether a number is in the set.
func (b Bits) Has(n uint32) bool { return b[n/64]>>(n%64)&1 == 1 }

// Add adds a number.
func (b Bits) Add(n uint32) { b[n/64] |= 1 << (n % 64) }

// Set returns the set as a bitmap, which shares its memory.
func (b Bits) Set() *roaring.Bitmap { return roaring.FromDense(b, false) }

// Count returns the number of members in [from, to).
func (b Bits) Count(from, to int) (n int) {
	if from >= to {
		return 0
	}
	i, j := from/64, (to-1)/64
	low, high := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	if i == j {
		return bits.OnesCount64(b[i] & low & high)
	}
	n = bits.OnesCount64(b[i]&low) + bits.OnesCount64(b[j]&high)
	for _, w := range b[i+1 : j] {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the first member in [from, to), or to.
func (b Bits) Next(st *guard.Steps, from, to int) int {
	if from >= to {
		return to
	}
	i := from / 64
	word := b[i] &^ (1<<(from%64) - 1)
	for last := (to - 1) / 64; word == 0 && i < last; word = b[i] {
		i++
	}
	st.Add(1 + i - from/64)
	return min(64*i+bits.TrailingZeros64(word), to)
}

// Last returns the last member below end, or -1.
func (b Bits) Last(st *guard.Steps, end int) int {
	for end > 0 {
		st.Add(1)
		if word := b[(end-1)/64] << (63 - (end-1)%64); word != 0 {
			return end - 1 - bits.LeadingZeros64(word)
		}
		end = (end - 1) / 64 * 64
	}
	return -1
}

// Pool recycles bitsets for record numbers between queries.
type Pool struct {
	Records int // all numbers are less
	pool    sync.Pool
}

// Get returns an empty bitset with room for complete containers.
func (p *Pool) Get() Bits {
	if b, ok := p.pool.Get().(*Bits); ok {
		clear(*b)
		return *b
	}
	return NewContainerBits(p.Records)
}

// Put returns a bitset, which must not be used afterwards; nil is ignored.
func (p *Pool) Put(b Bits) {
	if b != nil {
		p.pool.Put(&b)
	}
}

// Each calls f for all members of a set, a few hundred at a time.
func Each(st *guard.Steps, set *roaring.Bitmap, f func(records []uint32)) {
	var buf [512]uint32
	for it := set.ManyIterator(); ; {
		n := it.NextMany(buf[:])
		if n == 0 {
			return
		}
		st.Add(n)
		f(buf[:n])
	}
}

// Intersection returns the records in all sets. There must be at least one set.
func Intersection(st *guard.Steps, all []*roaring.Bitmap) *roaring.Bitmap {
	if len(all) == 1 {
		return all[0]
	}
	smallest := 0
	for i, s := range all {
		if s.GetCardinality() < all[smallest].GetCardinality() {
			smallest = i
		}
	}
	all[0], all[smallest] = all[smallest], all[0]
	st.Check() // an intersection reads one bit per record
	out := roaring.And(all[0], all[1])
	for _, s := range all[2:] {
		st.Check()
		out.And(s)
	}
	return out
}
