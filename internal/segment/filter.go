package segment

import (
	"bytes"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// matchCondition returns the records that meet a condition on the field. The set must not be modified.
func (c *column) matchCondition(st *steps, cond query.Condition) (*roaring.Bitmap, error) {
	var set *roaring.Bitmap
	for i, o := range cond.Values {
		st.check()
		fits, err := c.matchOperand(st, cond.Op, o)
		switch {
		case err != nil:
			return nil, err
		case i == 0:
			set = fits
		case i == 1:
			set = roaring.Or(set, fits) // the first set may be shared with other requests
		default:
			set.Or(fits)
		}
	}
	if cond.Op == query.OpNe {
		return roaring.Flip(set, 0, uint64(c.sorted.len())), nil
	}
	return set, nil
}

// matchOperand returns the records whose value matches one operand. OpNe is treated as OpEq.
func (c *column) matchOperand(st *steps, op query.Op, o query.Operand) (*roaring.Bitmap, error) {
	if missing := text.MissingRank(&c.field, o.Text); missing >= 0 {
		if len(c.field.Notation.Missing) == 0 {
			return c.runSet(st, c.distinct())
		}
		from, to := c.missingRanks(missing)
		return c.rankRangeSet(st, from, to)
	}
	if c.field.Type == herb.TypeList {
		return c.withElement(st, op, o)
	}
	switch op {
	case query.OpPrefix:
		return c.withPrefix(st, o.Text)
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
		from, to := c.rankRange(op, o)
		return c.rankRangeSet(st, from, to)
	default:
		return c.equal(st, o)
	}
}

// rankRange returns the ranks of the values that satisfy a comparison with an operand.
func (c *column) rankRange(op query.Op, o query.Operand) (from, to int) {
	run, equal := c.firstRun(o.Key)
	after := run
	if equal {
		after++
	}
	switch op {
	case query.OpGt:
		return int(c.runs.at(after)), c.values()
	case query.OpGte:
		return int(c.runs.at(run)), c.values()
	case query.OpLt:
		return 0, int(c.runs.at(run))
	default:
		return 0, int(c.runs.at(after))
	}
}

// bounds returns the ranks that satisfy a condition if it is a comparison with a single value. Two of these on a field,
// a range, then take a single lookup in its sorted rows.
func (c *column) bounds(cond query.Condition) (from, to int, ok bool) {
	switch cond.Op {
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
	default:
		return 0, 0, false
	}
	if len(cond.Values) != 1 || cond.Values[0].Key == "" || c.field.Type == herb.TypeList {
		return 0, 0, false
	}
	from, to = c.rankRange(cond.Op, cond.Values[0])
	return from, to, true
}

// equal returns the records with a value.
func (c *column) equal(st *steps, o query.Operand) (*roaring.Bitmap, error) {
	key := o.Key
	if key == "" {
		key = text.CollationKey(o.Text)
	}
	run, ok := c.firstRun(key)
	if !ok {
		return roaring.New(), nil
	}
	if c.field.Type.IsScalar() {
		return c.runSet(st, run)
	}
	return c.inRun(st, run, func(v string) bool { return v == o.Text })
}

// inRun returns the records of a run whose value as written satisfies a predicate.
func (c *column) inRun(st *steps, run int, meets func(string) bool) (*roaring.Bitmap, error) {
	if !c.isNonUniform(run) {
		if meets(c.runValue(run)) {
			return c.runSet(st, run)
		}
		return roaring.New(), nil
	}
	set := roaring.New()
	from, to := c.run(run)
	for p := from; p < to; p++ {
		st.add(1)
		if rec := c.sorted.at(p); meets(c.value(rec)) {
			set.Add(rec)
		}
	}
	return set, nil
}

// withPrefix returns the records whose value as written begins with a prefix. In collation order, values with the
// prefix need not be adjacent, but they all begin with the same letters.
//
// Its memory does not depend on the number of values: all their records are added to one set.
func (c *column) withPrefix(st *steps, prefix string) (*roaring.Bitmap, error) {
	if c.field.Type.IsScalar() { // dates and datetimes, whose key is their canonical form
		from, _ := c.firstRun(prefix)
		to, _ := c.firstRun(prefix + "\xff")
		return c.rankRangeSet(st, int(c.runs.at(from)), int(c.runs.at(to)))
	}
	set, dense := roaring.New(), newBitset(c.sorted.len())
	first, end := c.runsWithLetters(prefix)
	for run := first; run < end; run++ {
		st.add(1)
		from, to := c.run(run)
		if c.isNonUniform(run) {
			for p := from; p < to; p++ {
				st.add(1)
				if rec := c.sorted.at(p); strings.HasPrefix(c.value(rec), prefix) {
					dense.add(rec)
				}
			}
			continue
		}
		if !strings.HasPrefix(c.runValue(run), prefix) {
			continue
		}
		if k, ok := c.storedSet(run); ok {
			stored, err := c.longRunSets.get(k)
			if err != nil {
				return nil, err
			}
			st.check()
			set.Or(stored)
			continue
		}
		st.add(to - from)
		for p := from; p < to; p++ {
			dense.add(c.sorted.at(p))
		}
	}
	set.Or(dense.set())
	return set, nil
}

// runsWithLetters returns the runs that can contain values with a prefix. It uses only the leading ASCII characters
// without the last one, whose weight could depend on the character after it.
func (c *column) runsWithLetters(prefix string) (from, to int) {
	ascii := 0
	for ascii < len(prefix) && prefix[ascii] < 0x80 {
		ascii++
	}
	if ascii < 2 {
		return 0, c.distinct()
	}
	letters := text.PrimaryKey(prefix[:ascii-1])
	from, _ = c.firstRun(letters)
	to, _ = c.firstRun(letters + "\xff\xff")
	return from, to
}

// withElement returns the records with an element that matches an operand.
func (c *column) withElement(st *steps, op query.Op, o query.Operand) (*roaring.Bitmap, error) {
	switch op {
	case query.OpEq, query.OpNe:
		if i, ok := c.elements.find(o.Text); ok {
			return c.listed.get(int(c.numbers.at(i)))
		}
		return roaring.New(), nil
	case query.OpPrefix:
		from, to := c.elements.withPrefix(o.Text)
		return c.anyElement(st, from, to, func([]byte) bool { return true })
	default:
		operand, _ := text.AppendSortKey(nil, herb.TypeText, []byte(o.Text))
		var key []byte
		return c.anyElement(st, 0, c.elements.len(), func(element []byte) bool {
			key, _ = text.AppendSortKey(key[:0], herb.TypeText, element)
			return compare(op, bytes.Compare(key, operand))
		})
	}
}

// anyElement returns the records with any of the elements in [from, to) that satisfy a predicate.
//
// Its memory does not depend on the number of elements: all their records are added to one set.
func (c *column) anyElement(st *steps, from, to int, meets func(element []byte) bool) (*roaring.Bitmap, error) {
	dense := newBitset(c.sorted.len())
	for i := from; i < to; i++ {
		st.add(1)
		if !meets(c.elements.at(i)) {
			continue
		}
		if err := c.listed.addTo(st, dense, int(c.numbers.at(i))); err != nil {
			return nil, err
		}
	}
	return dense.set(), nil
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
