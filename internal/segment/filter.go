package segment

import (
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// meeting returns the records that meet a condition on the field. The set must not be changed.
func (c *column) meeting(cond query.Condition) (*roaring.Bitmap, error) {
	fits := make([]*roaring.Bitmap, len(cond.Values))
	for i, o := range cond.Values {
		var err error
		if fits[i], err = c.fitting(cond.Op, o); err != nil {
			return nil, err
		}
	}
	set := union(fits)
	if cond.Op == query.OpNe {
		return roaring.Flip(set, 0, uint64(c.order.len())), nil
	}
	return set, nil
}

func union(all []*roaring.Bitmap) *roaring.Bitmap {
	if len(all) == 1 {
		return all[0]
	}
	return roaring.FastOr(all...)
}

// fitting returns the records whose value fits one operand. For OpNe it returns those that equal it.
func (c *column) fitting(op query.Op, o query.Operand) (*roaring.Bitmap, error) {
	if o.Text == "" {
		return c.runSet(c.distinct())
	}
	if c.field.Type == herb.TypeList {
		return c.withElement(op, o)
	}
	switch op {
	case query.OpPrefix:
		return c.withPrefix(o.Text)
	case query.OpGt, query.OpGte, query.OpLt, query.OpLte:
		return c.between(c.within(op, o))
	default:
		return c.equal(o)
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
func (c *column) equal(o query.Operand) (*roaring.Bitmap, error) {
	key := o.Key
	if key == "" {
		key, _ = text.Key(c.field.Type, o.Text)
	}
	run, ok := c.firstRun(key)
	if !ok {
		return roaring.New(), nil
	}
	if c.field.Type == herb.TypeNumber {
		return c.runSet(run)
	}
	return c.inRun(run, func(v string) bool { return v == o.Text })
}

// inRun returns the records of a run whose value, as it is written, meets a condition.
func (c *column) inRun(run int, meets func(string) bool) (*roaring.Bitmap, error) {
	if !c.isMixed(run) {
		if meets(c.runValue(run)) {
			return c.runSet(run)
		}
		return roaring.New(), nil
	}
	set := roaring.New()
	from, to := c.run(run)
	for p := from; p < to; p++ {
		if rec := c.order.at(p); meets(c.value(rec)) {
			set.Add(rec)
		}
	}
	return set, nil
}

// withPrefix returns the records whose value, as it is written, begins with a prefix. Values are sorted as people sort
// them, so those with the prefix need not stand together; but they all begin with the same letters.
func (c *column) withPrefix(prefix string) (*roaring.Bitmap, error) {
	from, to := c.sameLetters(prefix)
	var found []*roaring.Bitmap
	for run := from; run < to; run++ {
		set, err := c.inRun(run, func(v string) bool { return strings.HasPrefix(v, prefix) })
		if err != nil {
			return nil, err
		}
		if !set.IsEmpty() {
			found = append(found, set)
		}
	}
	return union(append(found, roaring.New())), nil
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
func (c *column) withElement(op query.Op, o query.Operand) (*roaring.Bitmap, error) {
	switch op {
	case query.OpEq, query.OpNe:
		if i, ok := c.elements.find(o.Text); ok {
			return c.listed.get(int(c.numbers.at(i)))
		}
		return roaring.New(), nil
	case query.OpPrefix:
		from, to := c.elements.withPrefix(o.Text)
		return c.anyElement(from, to, func(string) bool { return true })
	default:
		return c.anyElement(0, c.elements.len(), func(e string) bool { return compare(op, text.CollationKey(e), o.Key) })
	}
}

// anyElement returns the records with one of the elements from up to to that meet a condition.
func (c *column) anyElement(from, to int, meets func(string) bool) (*roaring.Bitmap, error) {
	found := []*roaring.Bitmap{roaring.New()}
	for i := from; i < to; i++ {
		if !meets(string(c.elements.at(i))) {
			continue
		}
		set, err := c.listed.get(int(c.numbers.at(i)))
		if err != nil {
			return nil, err
		}
		found = append(found, set)
	}
	return union(found), nil
}

func compare(op query.Op, key, operand string) bool {
	switch op {
	case query.OpGt:
		return key > operand
	case query.OpGte:
		return key >= operand
	case query.OpLt:
		return key < operand
	default:
		return key <= operand
	}
}
