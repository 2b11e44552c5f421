package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// termUnion is the condition that a record, or a field of it, contains any of the terms in a range.
type termUnion struct {
	index   *Index
	pattern *pattern     // one word, any of the terms
	within  *searchField // nil means any field
	cost    plan.Cost
	set     *bitmap.Set // nil if it is not computed yet
	counts  []byte      // frequencies by record; nil if they are not computed yet
	name    string
}

// newTermUnion returns the condition for a field, or for any if within is nil.
func (w *Index) newTermUnion(st *guard.Steps, name string, within *searchField, terms termRange) *termUnion {
	u := &termUnion{
		index: w, pattern: &pattern{index: w, steps: st, fieldCopy: allCopies, last: &terms},
		within: within, name: name,
	}
	if within != nil {
		u.pattern.fieldCopy = within.firstCopy
	}
	u.cost.Contains = w.examineCost()
	u.each(st, func(id uint32, docs bitmap.EncodedSet) {
		u.cost.Records += docs.Len()
		u.cost.Fill += int(cost.FillByte * float64(len(docs)))
	})
	u.cost.Records = min(u.cost.Records, w.lengths.Len())
	return u
}

// each calls f for the number of each term and its records. Numbers are ascending: terms with a
// prefix have any numbers, and reading the postings of thousands of them in another order than they
// are stored takes twice as long.
func (u *termUnion) each(st *guard.Steps, f func(id uint32, docs bitmap.EncodedSet)) {
	ids, end := u.pattern.lastIDs(), u.index.terms.Len()+1
	for id := ids.Next(st, 1, end); id < end; id = ids.Next(st, id+1, end) {
		st.Add(16) // reading a set is slower than a step
		term := uint32(id - 1)
		if u.within != nil {
			f(term, u.index.inField(term, u.within))
		} else {
			f(term, u.index.docs.Set(int(term)))
		}
	}
}

func (u *termUnion) String() string { return u.name }

func (u *termUnion) Cost() plan.Cost { return u.cost }

func (u *termUnion) Contains(record uint32) bool { return u.pattern.count(record, 1) > 0 }

func (u *termUnion) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, u.evaluate(st)) }

func (u *termUnion) evaluate(st *guard.Steps) *bitmap.Set {
	if u.set == nil {
		b := bitmap.NewBuilder(u.index.pool)
		u.each(st, func(_ uint32, docs bitmap.EncodedSet) { b.AddSet(st, docs) })
		u.set = b.Set(st)
	}
	return u.set
}

// sumFrequencies returns the sum of the frequencies of the terms by record, up to MaxFrequency.
func (u *termUnion) sumFrequencies(st *guard.Steps) []byte {
	if u.counts != nil {
		return u.counts
	}
	w := u.index
	st.Reserve(w.lengths.Len())
	counts := make([]byte, w.lengths.Len())
	add := func(rec uint32, n byte) { counts[rec] = byte(min(uint(counts[rec])+uint(n), MaxFrequency)) }
	u.each(st, func(id uint32, docs bitmap.EncodedSet) {
		docs.Each(st, func(records []uint32) {
			for _, rec := range records {
				add(rec, 1)
			}
		})
		freqs := w.freqs.Trailer(int(id))
		w.freqs.Set(int(id)).Each(st, func(records []uint32) {
			for i, rec := range records {
				add(rec, freqs[i]-1)
			}
			freqs = freqs[len(records):]
		})
	})
	u.counts = counts
	return counts
}
