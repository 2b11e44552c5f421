package column

import (
	"bytes"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Match returns the records that meet a condition on the field. The set must not be modified.
func (c *Column) Match(st *guard.Steps, cond query.Condition) *roaring.Bitmap {
	var set *roaring.Bitmap
	for i, o := range cond.Values {
		st.Check()
		switch matches := c.matchOperand(st, cond.Op, o); i {
		case 0:
			set = matches
		case 1:
			set = roaring.Or(set, matches) // the first set may be shared with other requests
		default:
			set.Or(matches)
		}
	}
	if cond.Op == query.OpNe {
		return roaring.Flip(set, 0, uint64(c.sorted.Len()))
	}
	return set
}

// matchOperand returns the records whose value matches one operand. OpNe is treated as OpEq.
func (c *Column) matchOperand(st *guard.Steps, op query.Op, o query.Operand) *roaring.Bitmap {
	if missing := text.MissingRank(&c.Field, o.Text); missing >= 0 {
		if len(c.Field.Notation.Missing) == 0 {
			return c.runSet(st, c.Distinct())
		}
		from, to := c.missingRanks(missing)
		return c.RankSet(st, from, to)
	}
	if c.Field.Type == herb.TypeList {
		return c.withElement(st, op, o)
	}
	switch op {
	case query.OpPrefix:
		return c.withPrefix(st, o.Text)
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
		from, to := c.rankRange(op, o)
		return c.RankSet(st, from, to)
	default:
		return c.equal(st, o)
	}
}

// rankRange returns the ranks of the values that satisfy a comparison with an operand.
func (c *Column) rankRange(op query.Op, o query.Operand) (from, to int) {
	run, equal := c.firstRun(o.Key)
	after := run
	if equal {
		after++
	}
	switch op {
	case query.OpGt:
		return int(c.runs.At(after)), c.Values()
	case query.OpGte:
		return int(c.runs.At(run)), c.Values()
	case query.OpLt:
		return 0, int(c.runs.At(run))
	default:
		return 0, int(c.runs.At(after))
	}
}

// Bounds returns the ranks that satisfy a condition if it is a comparison with a single value. Two of these on a field,
// a range, then need a single lookup in its sorted rows.
func (c *Column) Bounds(cond query.Condition) (from, to int, ok bool) {
	switch cond.Op {
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
	default:
		return 0, 0, false
	}
	if len(cond.Values) != 1 || cond.Values[0].Key == "" || c.Field.Type == herb.TypeList {
		return 0, 0, false
	}
	from, to = c.rankRange(cond.Op, cond.Values[0])
	return from, to, true
}

// equal returns the records with a value.
func (c *Column) equal(st *guard.Steps, o query.Operand) *roaring.Bitmap {
	key := o.Key
	if key == "" {
		key = sortKey(&c.Field, o.Text)
	}
	run, ok := c.firstRun(key)
	if !ok {
		return roaring.New()
	}
	if EqualByKey(c.Field.Type) {
		return c.runSet(st, run)
	}
	return c.inRun(st, run, func(v string) bool { return v == o.Text })
}

// inRun returns the records of a run whose value as written satisfies a predicate.
func (c *Column) inRun(st *guard.Steps, run int, matches func(string) bool) *roaring.Bitmap {
	if !c.isNonUniform(run) {
		if matches(c.RunValue(run)) {
			return c.runSet(st, run)
		}
		return roaring.New()
	}
	set := roaring.New()
	from, to := c.run(run)
	for p := from; p < to; p++ {
		st.Add(1)
		if rec := c.sorted.At(p); matches(c.value(rec)) {
			set.Add(rec)
		}
	}
	return set
}

// withPrefix returns the records whose value as written begins with a prefix. In collation order, values with the
// prefix need not be adjacent, but they all begin with the same letters.
//
// Its memory does not depend on the number of values: all their records are added to one set.
func (c *Column) withPrefix(st *guard.Steps, prefix string) *roaring.Bitmap {
	set, dense := roaring.New(), bitmap.NewBits(c.sorted.Len())
	first, end := 0, c.Distinct()
	if from, to, ok := prefixKeys(c.Field.Type, prefix); ok {
		first, _ = c.firstRun(from)
		end, _ = c.firstRun(to)
	}
	if EqualByKey(c.Field.Type) { // the keys of all values in the range have the prefix
		return c.RankSet(st, int(c.runs.At(first)), int(c.runs.At(end)))
	}
	for run := first; run < end; run++ {
		st.Add(1)
		from, to := c.run(run)
		if c.isNonUniform(run) {
			for p := from; p < to; p++ {
				st.Add(1)
				if rec := c.sorted.At(p); strings.HasPrefix(c.value(rec), prefix) {
					dense.Add(rec)
				}
			}
			continue
		}
		if !strings.HasPrefix(c.RunValue(run), prefix) {
			continue
		}
		if k, ok := c.storedSet(run); ok {
			st.Check()
			set.Or(c.longRunSets.Get(k))
			continue
		}
		st.Add(to - from)
		for p := from; p < to; p++ {
			dense.Add(c.sorted.At(p))
		}
	}
	set.Or(dense.Set())
	return set
}

// withElement returns the records with an element that matches an operand.
func (c *Column) withElement(st *guard.Steps, op query.Op, o query.Operand) *roaring.Bitmap {
	switch op {
	case query.OpEq, query.OpNe:
		if i, ok := c.elements.Find(o.Text); ok {
			return c.listed.Get(int(c.numbers.At(i)))
		}
		return roaring.New()
	case query.OpPrefix:
		from, to := c.elements.WithPrefix(o.Text)
		return c.anyElement(st, from, to, func([]byte) bool { return true })
	default:
		operand, key := appendElementKey(nil, []byte(o.Text)), []byte(nil)
		return c.anyElement(st, 0, c.elements.Len(), func(element []byte) bool {
			key = appendElementKey(key[:0], element)
			return compare(op, bytes.Compare(key, operand))
		})
	}
}

// anyElement returns the records with any of the elements in [from, to) that satisfy a predicate.
//
// Its memory does not depend on the number of elements: all their records are added to one set.
func (c *Column) anyElement(st *guard.Steps, from, to int, matches func(element []byte) bool) *roaring.Bitmap {
	dense := bitmap.NewBits(c.sorted.Len())
	for i := from; i < to; i++ {
		st.Add(1)
		if matches(c.elements.At(i)) {
			c.listed.Each(st, int(c.numbers.At(i)), dense.Add)
		}
	}
	return dense.Set()
}

// compare reports whether the result of a comparison satisfies an operator.
func compare(op query.Op, result int) bool {
	switch op {
	case query.OpGt:
		return result > 0
	case query.OpGte:
		return result >= 0
	case query.OpLt:
		return result < 0
	default:
		return result <= 0
	}
}
