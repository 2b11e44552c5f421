package bitmap

import (
	"slices"

	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// Set is a set of records: a stored set, a sorted list if it is small, or bits. A stored set or
// list also has bits after Dense. A Set must be released.
type Set struct {
	pool   *Pool
	n      int
	stored EncodedSet // nil if the set is computed
	list   []uint32
	bits   Bits         // nil unless the set has many records or Dense was called
	steps  *guard.Steps // of the query that has reserved the memory of bits
}

// All returns the set of all records.
func All(st *guard.Steps, pool *Pool) *Set {
	s := &Set{pool: pool, n: pool.Records, bits: pool.Get(st), steps: st}
	if s.n > 0 {
		s.bits.AddRange(0, s.n)
	}
	return s
}

// Complement returns the set of all other records.
func (s *Set) Complement(st *guard.Steps) *Set {
	others := All(st, s.pool)
	others.Subtract(st, s)
	return others
}

// ListSet returns a set of ascending records.
func ListSet(pool *Pool, records []uint32) *Set {
	if n := len(records); n > 0 && int(records[n-1]) >= pool.Records {
		guard.Corrupt("a set has a record after the last")
	}
	return &Set{pool: pool, n: len(records), list: records}
}

// StoredSet returns a stored set. It is not decoded until it is combined with another.
func StoredSet(pool *Pool, e EncodedSet) *Set {
	if len(e) == 0 {
		return ListSet(pool, nil)
	}
	s := &Set{pool: pool, n: e.Len(), stored: e}
	if s.n > pool.Records {
		guard.Corrupt("a set has more records than the segment")
	}
	return s
}

// Len returns the number of records.
func (s *Set) Len() int { return s.n }

// Release recycles the memory of the set, which must not be used afterwards. nil is ignored.
func (s *Set) Release() {
	if s != nil {
		s.pool.Put(s.steps, s.bits)
		s.bits = nil
	}
}

// Has reports whether a record is in the set.
func (s *Set) Has(record uint32) bool {
	switch {
	case s.bits != nil:
		return s.bits.Has(record)
	case s.stored != nil:
		return s.stored.Contains(record)
	default:
		_, ok := slices.BinarySearch(s.list, record)
		return ok
	}
}

// Dense returns the set as bits with room for complete containers. They belong to the set.
func (s *Set) Dense(st *guard.Steps) Bits {
	if s.bits != nil {
		return s.bits
	}
	s.bits, s.steps = s.pool.Get(st), st
	if s.stored != nil {
		s.stored.AddTo(st, s.bits)
		return s.bits
	}
	for _, rec := range s.list {
		s.bits.Add(rec)
	}
	return s.bits
}

// IsSmall reports whether the set has no other form than a list.
func (s *Set) IsSmall() bool { return s.bits == nil && s.stored == nil }

// EachAtOnce is the maximum number of records that Each passes to one call of its function.
const EachAtOnce = 1024

// Each calls f for all records in ascending order, several at a time.
func (s *Set) Each(st *guard.Steps, f func(records []uint32)) {
	if s.IsSmall() {
		for chunk := range slices.Chunk(s.list, EachAtOnce) {
			st.Add(len(chunk))
			f(chunk)
		}
		return
	}
	words, buf := s.Dense(st), make([]uint32, 0, EachAtOnce)
	for i, word := range words {
		buf = appendWord(buf, uint32(64*i), word)
		if n := len(buf); n > EachAtOnce-64 || n > 0 && i == len(words)-1 {
			st.Add(n)
			f(buf)
			buf = buf[:0]
		}
	}
}

// Slice returns the records at positions [from, to) in ascending order. They may belong to the set
// and must not be changed.
func (s *Set) Slice(st *guard.Steps, from, to int) []uint32 {
	if s.IsSmall() {
		return s.list[from:to]
	}
	positions := make([]uint32, to-from)
	for i := range positions {
		positions[i] = uint32(from + i)
	}
	return s.At(st, positions)
}

// At returns the records at ascending positions.
func (s *Set) At(st *guard.Steps, positions []uint32) []uint32 {
	st.Add(len(positions))
	out := make([]uint32, len(positions))
	switch {
	case s.IsSmall():
		for i, p := range positions {
			out[i] = s.list[p]
		}
	case s.bits == nil:
		s.stored.Pick(positions, func(i int, record uint32) { out[i] = record })
	default:
		p := picker{positions: positions, f: func(i int, record uint32) { out[i] = record }}
		for i, word := range s.bits {
			p.word(uint32(64*i), word)
			if p.i == len(positions) {
				break
			}
		}
	}
	return out
}

// Filter removes the records that do not satisfy a predicate.
func (s *Set) Filter(st *guard.Steps, satisfies func(record uint32) bool) {
	b, kept := NewBuilder(s.pool), make([]uint32, 0, min(s.n, EachAtOnce))
	s.Each(st, func(records []uint32) {
		kept = kept[:0]
		for _, rec := range records {
			if satisfies(rec) {
				kept = append(kept, rec)
			}
		}
		b.AddList(st, kept)
	})
	s.Release()
	*s = *b.Set(st)
}

// Intersect removes the records that are not in another set.
func (s *Set) Intersect(st *guard.Steps, other *Set) {
	switch {
	case s.IsSmall():
		s.Filter(st, other.Has)
	case other.IsSmall():
		small := *other
		small.Filter(st, s.Has)
		s.Release()
		*s = small
	default:
		s.n = s.Dense(st).And(other.Dense(st))
		s.stored = nil
		s.shrink(st)
	}
}

// Subtract removes the records of another set.
func (s *Set) Subtract(st *guard.Steps, other *Set) {
	if s.IsSmall() {
		s.Filter(st, func(rec uint32) bool { return !other.Has(rec) })
		return
	}
	s.n = s.Dense(st).AndNot(other.Dense(st))
	s.stored = nil
	s.shrink(st)
}

// shrink turns bits with few members into a list.
func (s *Set) shrink(st *guard.Steps) {
	if s.n > s.pool.Records/cost.ListShare {
		return
	}
	st.Add(s.n)
	s.list = s.bits.AppendTo(make([]uint32, 0, s.n))
	s.Release()
}

// Builder collects the union of records and stored sets: in a list while it is short, then in bits.
type Builder struct {
	pool *Pool
	list []uint32
	bits Bits // nil while the list is short
}

// NewBuilder returns an empty builder.
func NewBuilder(pool *Pool) *Builder { return &Builder{pool: pool} }

// AddSet adds a stored set.
func (b *Builder) AddSet(st *guard.Steps, e EncodedSet) {
	if b.bits == nil && b.reserveList(st, e.Len()) {
		e.Each(st, func(members []uint32) { b.list = append(b.list, members...) })
		return
	}
	e.AddTo(st, b.bits)
}

// Union adds a set, which remains unchanged.
func (b *Builder) Union(st *guard.Steps, s *Set) {
	switch {
	case s.bits != nil:
		if b.bits == nil {
			b.AddBits(st, b.pool.Get(st))
		}
		st.Add(len(s.bits) / 16)
		b.bits.Or(s.bits)
	case s.stored != nil:
		b.AddSet(st, s.stored)
	default:
		b.AddList(st, s.list)
	}
}

// AddRecords adds records in any order.
func (b *Builder) AddRecords(st *guard.Steps, records file.U32s) {
	if b.bits == nil && b.reserveList(st, records.Len()) {
		b.list = records.AppendTo(b.list)
		return
	}
	st.Blocks(0, records.Len(), func(from, to int) {
		for i := from; i < to; i++ {
			b.bits.Add(records.At(i))
		}
	})
}

// AddList adds records in any order.
func (b *Builder) AddList(st *guard.Steps, records []uint32) {
	if b.bits == nil && b.reserveList(st, len(records)) {
		b.list = append(b.list, records...)
		return
	}
	st.Add(len(records))
	for _, rec := range records {
		b.bits.Add(rec)
	}
}

// AddBits adds the members of a bitset from the pool. The bitset then belongs to the builder.
func (b *Builder) AddBits(st *guard.Steps, set Bits) {
	if b.bits != nil {
		b.bits.Or(set)
		b.pool.Put(st, set)
		return
	}
	for _, rec := range b.list {
		set.Add(rec)
	}
	b.bits, b.list = set, nil
}

// reserveList reports whether n more records fit the list. If not, it converts the list to bits: a
// list must be sorted at the end, which takes too long for many records.
func (b *Builder) reserveList(st *guard.Steps, n int) bool {
	if len(b.list)+n <= b.pool.Records/cost.CollectShare {
		return true
	}
	b.AddBits(st, b.pool.Get(st))
	return false
}

// Set returns the collected set. The builder must not be used afterwards.
func (b *Builder) Set(st *guard.Steps) *Set {
	if b.bits != nil {
		s := &Set{pool: b.pool, bits: b.bits, steps: st, n: b.bits.Count(0, b.pool.Records)}
		if b.bits.Count(b.pool.Records, 64*len(b.bits)) > 0 {
			guard.Corrupt("a set has a record after the last")
		}
		s.shrink(st)
		return s
	}
	slices.Sort(b.list)
	return ListSet(b.pool, slices.Compact(b.list))
}
