package segment

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
)

// RecordSet is a set of the records of a segment. It needs a bit for each record, which are
// reserved until Release.
type RecordSet struct {
	bits    bitmap.Bits // nil: all records
	n       int
	release func() // nil: nothing is reserved
}

// Release releases the memory of the set, which may be nil.
func (s *RecordSet) Release() {
	if s != nil && s.release != nil {
		s.release()
		s.release = nil
	}
}

// Len returns the number of records in the set.
func (s *RecordSet) Len() int { return s.n }

// Has reports whether a record is in the set.
func (s *RecordSet) Has(record uint32) bool {
	return s.n > 0 && (s.bits == nil || s.bits.Has(record))
}

// Matching returns the records that match the conditions and the search of a request. The caller
// must release the set.
func (r *Reader) Matching(ctx context.Context, q *query.Request) (set *RecordSet, err error) {
	err = r.evaluate(ctx, q, forListing, nil, func(m *matches) error {
		set = &RecordSet{n: m.len()}
		if selected := m.selection(); selected != nil {
			m.steps.Reserve(r.Len() / 8)
			set.bits = bitmap.NewBits(r.Len())
			selected.Each(m.steps, func(records []uint32) {
				for _, n := range records {
					set.bits.Add(n)
				}
			})
			m.steps.Release() // what the search needed
			m.steps.Reserve(r.Len() / 8)
			set.release = m.steps.Detach()
		}
		return nil
	})
	return set, err
}
