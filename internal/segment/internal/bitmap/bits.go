package bitmap

import (
	"math/bits"
	"sync"

	"herbarium/internal/segment/internal/guard"
)

// Bits is a set with one bit per number.
type Bits []uint64

// NewBits returns an empty set for numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// container returns the words for the members of the container with a key.
func (b Bits) container(key uint32) *[bitmapWords]uint64 { return (*[bitmapWords]uint64)(b[key/64:]) }

// Has reports whether a number is in the set.
func (b Bits) Has(n uint32) bool { return b[n/64]>>(n%64)&1 == 1 }

// Add adds a number.
func (b Bits) Add(n uint32) { b[n/64] |= 1 << (n % 64) }

// AddRange adds the numbers in [from, to). The range must not be empty.
func (b Bits) AddRange(from, to int) {
	i, j := from/64, (to-1)/64
	low, high := ^uint64(0)<<(from%64), ^uint64(0)>>(63-(to-1)%64)
	if i == j {
		b[i] |= low & high
		return
	}
	b[i] |= low
	for k := i + 1; k < j; k++ {
		b[k] = ^uint64(0)
	}
	b[j] |= high
}

// Or adds the members of another set of the same size.
func (b Bits) Or(other Bits) {
	for i, w := range other[:len(b)] {
		b[i] |= w
	}
}

// And removes all numbers that are not in another set of the same size, and returns the number of
// those left.
func (b Bits) And(other Bits) (n int) {
	for i, w := range other[:len(b)] {
		b[i] &= w
		n += bits.OnesCount64(b[i])
	}
	return n
}

// AndNot removes the members of another set of the same size, and returns the number of those left.
func (b Bits) AndNot(other Bits) (n int) {
	for i, w := range other[:len(b)] {
		b[i] &^= w
		n += bits.OnesCount64(b[i])
	}
	return n
}

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

// AppendTo appends the members to a list.
func (b Bits) AppendTo(list []uint32) []uint32 {
	for i, word := range b {
		list = appendWord(list, uint32(64*i), word)
	}
	return list
}

// appendWord appends the members in a word of a bitset, given the number of its first bit.
func appendWord(list []uint32, first uint32, word uint64) []uint32 {
	for ; word != 0; word &= word - 1 {
		list = append(list, first+uint32(bits.TrailingZeros64(word)))
	}
	return list
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
	Records int // number of records; all record numbers are less
	pool    sync.Pool
}

// Get returns an empty bitset with room for complete containers, for which it reserves memory.
func (p *Pool) Get(st *guard.Steps) Bits {
	st.Reserve(p.bytes())
	if b, ok := p.pool.Get().(*Bits); ok {
		clear(*b)
		return *b
	}
	return NewBits((p.Records>>16 + 1) * ContainerMembers)
}

// Put returns a bitset, which must not be used afterwards; nil is ignored.
func (p *Pool) Put(st *guard.Steps, b Bits) {
	if b != nil {
		p.pool.Put(&b)
		st.Return(p.bytes())
	}
}

// bytes returns the size of a bitset.
func (p *Pool) bytes() int { return (p.Records>>16 + 1) * ContainerMembers / 8 }
