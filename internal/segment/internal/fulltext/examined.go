package fulltext

import (
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// examined is the condition that a record contains a phrase, or that a field contains a clause: its candidates are examined in the
// forward index.
type examined struct {
	pattern    *pattern
	candidates []plan.Term      // conditions that every record with the pattern satisfies
	ambiguous  []bitmap.Encoded // candidates in none of these sets contain the pattern; nil if all have to be examined
	masks      []byte           // by candidate, the mask of the fields that contain the pattern; nil if they are not stored
	bit        byte             // of the field in masks
	filter     bool             // the candidates are conditions of the query, too, so it only has to test the remaining records
	most       int              // maximum frequency to count
	set        *bitmap.Set      // nil if it is not computed yet
	repeats    []byte           // by record of the segment, the frequency less 1; nil if none is above 1
	name       string
}

func (e *examined) String() string { return e.name }

// Times to examine a record in the forward index, and to read the mask of one.
const examineCost, maskCost = 150, 5

func (e *examined) Cost() plan.Cost {
	cost := plan.Cost{Records: e.pattern.index.lengths.Len(), Contains: examineCost}
	if !e.filter {
		for _, c := range e.candidates {
			cost.Records = min(cost.Records, c.Cost().Records)
		}
	}
	examine := cost.Records
	if e.ambiguous != nil {
		examine = min(examine, totalLen(e.ambiguous))
	}
	cost.Fill = examineCost * examine
	if e.masks != nil {
		cost.Fill = maskCost * cost.Records
	}
	if e.most > 1 { // it is scored, so it is evaluated even if it is tested
		cost.Contains *= 2
	}
	return cost
}

func (e *examined) Contains(record uint32) bool { return e.pattern.count(record, 1) > 0 }

func (e *examined) Fill(st *guard.Steps, b *bitmap.Builder) { b.Union(st, e.evaluate(st)) }

func totalLen(sets []bitmap.Encoded) (n int) {
	for _, s := range sets {
		n += s.Len()
	}
	return n
}

// evaluate returns the records. Only the ambiguous candidates are examined.
func (e *examined) evaluate(st *guard.Steps) *bitmap.Set {
	if e.set != nil {
		return e.set
	}
	w := e.pattern.index
	b, set := bitmap.NewBuilder(w.pool), plan.Evaluate(st, w.pool, e.candidates, nil)
	if e.masks != nil {
		masks := e.masks
		set.Keep(st, func(uint32) bool {
			mask := masks[0]
			masks = masks[1:]
			return mask&e.bit != 0
		})
		if w.searchable <= FieldsInMask {
			e.set = set
			return set
		}
	}
	if e.ambiguous != nil {
		union := bitmap.NewBuilder(w.pool)
		for _, s := range e.ambiguous {
			union.AddSet(st, s)
		}
		ambiguous := union.Set(st)
		ambiguous.Intersect(st, set)
		set.Subtract(st, ambiguous)
		b.Union(st, set)
		set.Release()
		set = ambiguous
	}
	set.Keep(st, func(record uint32) bool {
		st.Add(1)
		n := e.pattern.count(record, e.most)
		if n > 1 {
			if e.repeats == nil {
				e.repeats = make([]byte, w.lengths.Len())
			}
			e.repeats[record] = byte(n - 1)
		}
		return n > 0
	})
	b.Union(st, set)
	set.Release()
	e.set = b.Set(st)
	return e.set
}
