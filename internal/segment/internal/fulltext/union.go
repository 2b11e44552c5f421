package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// union is the condition that a record contains any of some terms.
type union struct {
	index   *Index
	pattern *pattern // its last word is any of the terms
	cost    plan.Cost
	set     *bitmap.Set // nil if it is not computed yet
	counts  []byte      // frequencies by record; nil if they are not computed yet
	name    string
}

func (w *Index) union(st *guard.Steps, name string, terms ...termRange) *union {
	u := &union{index: w, pattern: &pattern{index: w, part: allParts, last: terms}, name: name}
	u.cost.Contains = examineCost
	u.each(st, func(id int) {
		docs := w.docs.Set(id)
		u.cost.Records += docs.Len()
		u.cost.Fill += len(docs) / 8
	})
	u.cost.Records = min(u.cost.Records, w.lengths.Len())
	return u
}

// each calls f for the number of each term in ascending order, in which the postings are stored. Terms with a prefix have any numbers, and
// reading the postings of thousands of them in another order takes twice as long.
func (u *union) each(st *guard.Steps, f func(id int)) {
	ids, end := u.pattern.lastIDs(), u.index.terms.Len()+1
	for id := ids.Next(st, 1, end); id < end; id = ids.Next(st, id+1, end) {
		st.Add(16) // reading a set is slower than a step
		f(id - 1)
	}
}

func (u *union) String() string { return u.name }

func (u *union) Cost() plan.Cost { return u.cost }

func (u *union) Contains(record uint32) bool { return u.pattern.count(record, 1) > 0 }

func (u *union) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, u.evaluate(st)) }

func (u *union) evaluate(st *guard.Steps) *bitmap.Set {
	if u.set == nil {
		b := bitmap.NewBuilder(u.index.pool)
		u.each(st, func(id int) { b.AddSet(st, u.index.docs.Set(id)) })
		u.set = b.Set(st)
	}
	return u.set
}

// frequencies returns the sum of the frequencies of the terms by record, up to MaxFrequency.
func (u *union) frequencies(st *guard.Steps) []byte {
	if u.counts != nil {
		return u.counts
	}
	w := u.index
	counts := make([]byte, w.lengths.Len())
	add := func(rec uint32, n byte) { counts[rec] = byte(min(uint(counts[rec])+uint(n), MaxFrequency)) }
	u.each(st, func(id int) {
		w.docs.Set(id).Each(st, func(records []uint32) {
			for _, rec := range records {
				add(rec, 1)
			}
		})
		freqs := w.freqs.Trailer(id)
		w.freqs.Set(id).Each(st, func(records []uint32) {
			for i, rec := range records {
				add(rec, freqs[i]-1)
			}
			freqs = freqs[len(records):]
		})
	})
	u.counts = counts
	return counts
}
