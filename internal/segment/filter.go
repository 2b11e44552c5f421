package segment

import (
	"bytes"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// meeting returns the records that meet a condition on the field. The set must not be changed.
func (c *column) meeting(st *steps, cond query.Condition) (*roaring.Bitmap, error) {
	var set *roaring.Bitmap
	for i, o := range cond.Values {
		st.check()
		fits, err := c.fitting(st, cond.Op, o)
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
		return roaring.Flip(set, 0, uint64(c.order.len())), nil
	}
	return set, nil
}

// fitting returns the records whose value fits one operand. For OpNe it returns those that equal it.
func (c *column) fitting(st *steps, op query.Op, o query.Operand) (*roaring.Bitmap, error) {
	if o.Text == "" {
		return c.runSet(st, c.distinct())
	}
	if c.field.Type == herb.TypeList {
		return c.withElement(st, op, o)
	}
	switch op {
	case query.OpPrefix:
		return c.withPrefix(st, o.Text)
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
		from, to := c.within(op, o)
		return c.between(st, from, to)
	default:
		return c.equal(st, o)
	}
}

// within returns the places of the values that compare with an operand as asked.
func (c *column) within(op query.Op, o query.Operand) (from, to int) {
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

// bounds returns the places that a condition leaves, if it is one that compares with a single value: then two of them on
// a field, a range, are one look at its order.
func (c *column) bounds(cond query.Condition) (from, to int, ok bool) {
	switch cond.Op {
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
	default:
		return 0, 0, false
	}
	if len(cond.Values) != 1 || cond.Values[0].Text == "" || c.field.Type == herb.TypeList {
		return 0, 0, false
	}
	from, to = c.within(cond.Op, cond.Values[0])
	return from, to, true
}

// equal returns the records with a value.
func (c *column) equal(st *steps, o query.Operand) (*roaring.Bitmap, error) {
	key := o.Key
	if key == "" {
		key, _ = text.Key(c.field.Type, o.Text)
	}
	run, ok := c.firstRun(key)
	if !ok {
		return roaring.New(), nil
	}
	if c.field.Type == herb.TypeNumber {
		return c.runSet(st, run)
	}
	return c.inRun(st, run, func(v string) bool { return v == o.Text })
}

// inRun returns the records of a run whose value, as it is written, meets a condition.
func (c *column) inRun(st *steps, run int, meets func(string) bool) (*roaring.Bitmap, error) {
	if !c.isMixed(run) {
		if meets(c.runValue(run)) {
			return c.runSet(st, run)
		}
		return roaring.New(), nil
	}
	set := roaring.New()
	from, to := c.run(run)
	for p := from; p < to; p++ {
		st.add(1)
		if rec := c.order.at(p); meets(c.value(rec)) {
			set.Add(rec)
		}
	}
	return set, nil
}

// withPrefix returns the records whose value, as it is written, begins with a prefix. Values are sorted as people sort
// them, so those with the prefix need not stand together; but they all begin with the same letters.
//
// Its memory does not depend on the number of values: the records of all of them are added to one set.
func (c *column) withPrefix(st *steps, prefix string) (*roaring.Bitmap, error) {
	set, dense := roaring.New(), newBitset(c.order.len())
	first, end := c.sameLetters(prefix)
	for run := first; run < end; run++ {
		st.add(1)
		from, to := c.run(run)
		if c.isMixed(run) {
			for p := from; p < to; p++ {
				st.add(1)
				if rec := c.order.at(p); strings.HasPrefix(c.value(rec), prefix) {
					dense.add(rec)
				}
			}
			continue
		}
		if !strings.HasPrefix(c.runValue(run), prefix) {
			continue
		}
		if k, ok := c.storedSet(run); ok {
			stored, err := c.often.get(k)
			if err != nil {
				return nil, err
			}
			st.check()
			set.Or(stored)
			continue
		}
		st.add(to - from)
		for p := from; p < to; p++ {
			dense.add(c.order.at(p))
		}
	}
	set.Or(dense.set())
	return set, nil
}

// sameLetters returns the runs in which values with a prefix can be. It looks only at ASCII, and not at the last
// character of it: what follows could change how that one sorts.
func (c *column) sameLetters(prefix string) (from, to int) {
	ascii := 0
	for ascii < len(prefix) && prefix[ascii] < 0x80 {
		ascii++
	}
	if ascii < 2 {
		return 0, c.distinct()
	}
	if c.field.Type == herb.TypeDate {
		from, _ = c.firstRun(prefix)
		to, _ = c.firstRun(prefix + "\xff")
		return from, to
	}
	letters := text.PrimaryKey(prefix[:ascii-1])
	from, _ = c.firstRun(letters)
	to, _ = c.firstRun(letters + "\xff\xff")
	return from, to
}

// withElement returns the records of which an element fits an operand.
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

// anyElement returns the records with one of the elements from up to to that meet a condition.
//
// Its memory does not depend on the number of elements: the records of all of them are added to one set.
func (c *column) anyElement(st *steps, from, to int, meets func(element []byte) bool) (*roaring.Bitmap, error) {
	dense := newBitset(c.order.len())
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

// compare reports whether a comparison has the result that an operator asks for.
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
