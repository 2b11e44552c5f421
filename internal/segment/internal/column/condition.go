package column

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// Term converts a condition of a query on the field to a term that package plan evaluates.
func (c *Column) Term(st *guard.Steps, cond query.Condition) plan.Term {
	t := plan.Term{Exclude: cond.Op.Excludes()}
	if cond.Op == query.OpPrefix && c.Field.Type == herb.TypeNumber {
		t.Condition = c.numberPrefixes(st, cond.Values)
		return t
	}
	if len(cond.Values) == 1 {
		t.Condition = c.operand(st, cond.Op, cond.Values[0])
		return t
	}
	operands := make(plan.AnyOf, len(cond.Values))
	for i, o := range cond.Values {
		operands[i] = c.operand(st, cond.Op, o)
	}
	t.Condition = operands
	if _, ok := operands[0].(*elementRanges); ok {
		t.Condition = c.anyRange(operands)
	}
	return t
}

// operand returns the condition that a value matches one operand. Operators that exclude are
// treated as those that do not.
func (c *Column) operand(st *guard.Steps, op query.Op, o query.Operand) plan.Condition {
	name := c.Field.Name + " " + string(op) + " " + o.Text
	equality := op.IsEquality()
	missing := text.MissingPosition(&c.Field, o.Text)
	switch {
	case equality && missing >= 0:
		return c.missingRanks(missing).named(name)
	case equality && op.IgnoresCase(): // a range of keys
	case c.Field.Type == herb.TypeList && equality && op != query.OpWhole:
		if position, ok := c.findElement(o.Text); ok {
			return plan.StoredCondition{EncodedSet: c.postingsAt(position), Name: name}
		}
		return plan.StoredCondition{Name: name}
	case equality && o.Day:
		op = query.OpPrefix
	case equality:
		return c.equal(o, name)
	case op == query.OpContains:
		return c.contains(st, o, name)
	}
	from, to := keyRange(op, o)
	if c.Field.Type == herb.TypeList {
		first := c.firstElement(from)
		end := max(first, c.firstElement(to))
		return c.newElementRanges(uint32(first), uint32(end), nil, end-first, name)
	}
	first, end := c.firstRun(from), c.Distinct()
	if to != maxKey {
		end = max(first, c.firstRun(to))
	}
	return RankRange{c: c, from: int(c.runs.At(first)), to: int(c.runs.At(end)), run: anyRun, name: name}
}

// maxKey is greater than all sort keys: a range that ends with it has no upper bound.
const maxKey = "\xff\xff\xff\xff\xff"

// keyRange returns the range [from, to) of the sort keys that match an operand of an operator other
// than exact equality. A bound excludes or includes the key of the operand by an additional zero
// byte: no string is between a key and the key with a zero byte.
func keyRange(op query.Op, o query.Operand) (from, to string) {
	switch op {
	case query.OpGt:
		return o.Key + "\x00", maxKey
	case query.OpGte:
		return o.Key, maxKey
	case query.OpLt:
		return "", o.Key
	case query.OpLte:
		return "", o.Key + "\x00"
	case query.OpIEq, query.OpINe: // two zero bytes follow the primary key
		return o.Key + "\x00", o.Key + "\x01"
	case query.OpPrefix:
		if to, ok := text.KeyAfterPrefix(o.Key); ok {
			return o.Key, to
		}
		return o.Key, maxKey
	}
	panic(fmt.Sprintf("operator %q selects no range of keys", op)) // a new operator needs a case in operand or here
}

// Meets reports whether a value that is in no segment, such as a measure, meets a condition of a
// query on its field. OpMatch needs an index.
func Meets(f *herb.Field, value string, cond query.Condition) bool {
	key, _ := NewSortKey(f, value)
	return !cond.Op.Excludes() == slices.ContainsFunc(cond.Values, func(o query.Operand) bool {
		equality, missing := cond.Op.IsEquality(), text.MissingPosition(f, o.Text)
		switch {
		case key.Missing > 0 || equality && missing >= 0:
			return equality && missing+1 == key.Missing
		case o.Day:
			return strings.HasPrefix(key.Key, o.Key)
		case equality && cond.Op.IgnoresCase(): // a range of keys
		case equality && EqualByKey(f.Type):
			return key.Key == o.Key
		case equality:
			return value == o.Text
		case cond.Op == query.OpContains:
			return text.NewSubstring(o.Text).In([]byte(value))
		case cond.Op == query.OpPrefix && f.Type == herb.TypeNumber:
			_, length := text.NumberLength(key.Key)
			r, ok := text.NumberPrefixRange(o.Text, length)
			return ok && key.Key >= r.From && key.Key < r.To
		}
		from, to := keyRange(cond.Op, o)
		return key.Key >= from && key.Key < to
	})
}

func (c *Column) equal(o query.Operand, name string) plan.Condition {
	key := o.Key
	if key == "" {
		key = sortKey(&c.Field, o.Text)
	}
	ranks := c.keyRanks(key).named(name)
	switch {
	case ranks.from == ranks.to:
		return plan.StoredCondition{Name: name}
	case EqualByKey(c.Field.Type):
		return ranks
	case c.isNonUniform(ranks.run):
		return exactValue{ranks: ranks, text: o.Text}
	case c.RunValue(ranks.run) == o.Text:
		return ranks
	}
	return plan.StoredCondition{Name: name}
}

// RankRange is the condition that the rank of a record is in a range: it has one value, or one in a
// range of values.
type RankRange struct {
	c        *Column
	from, to int
	run      int // value run, if it is exactly one; else anyRun
	name     string
}

const anyRun = -1

func (c *Column) runRanks(run int) RankRange {
	from, to := c.run(run)
	return RankRange{c: c, from: from, to: to, run: run}
}

// keyRanks returns the ranks of the records with a sort key. If there are none, the range is empty
// and starts where they would be.
func (c *Column) keyRanks(key string) RankRange {
	run := c.firstRun(key)
	if run < c.Distinct() && c.runKey(run) == key {
		return c.runRanks(run)
	}
	from := int(c.runs.At(run))
	return RankRange{c: c, from: from, to: from, run: anyRun}
}

// missingRanks returns the ranks of the records whose value is missing, with the given
// text.MissingPosition.
func (c *Column) missingRanks(missing int) RankRange {
	if len(c.Field.Notation.Missing) == 0 {
		return c.runRanks(c.Distinct())
	}
	first := func(missing int) int {
		return c.Values() + sort.Search(c.sorted.Len()-c.Values(), func(i int) bool {
			return text.MissingPosition(&c.Field, c.value(c.sorted.At(c.Values()+i))) >= missing
		})
	}
	r := RankRange{c: c, from: first(missing), to: first(missing + 1), run: anyRun}
	if r.from == c.Values() && r.to == c.sorted.Len() {
		r.run = c.Distinct()
	}
	return r
}

func (r RankRange) named(name string) RankRange {
	r.name = name
	return r
}

// And returns the intersection of two ranges of one field. A range of values then needs a single
// lookup in its sorted rows.
func (r RankRange) And(other RankRange) RankRange {
	from, to := max(r.from, other.from), min(r.to, other.to)
	return RankRange{c: r.c, from: from, to: max(from, to), run: anyRun, name: r.name + ", " + other.name}
}

func (r RankRange) String() string { return r.name }

func (r RankRange) Cost() plan.Cost {
	n, all := r.to-r.from, r.c.sorted.Len()
	return plan.Cost{Records: n, Fill: min(cost.SortedRow*n, int(cost.LeadingRecord*float64(all))),
		Contains: cost.RankContains}
}

func (r RankRange) Contains(record uint32) bool {
	rank := int(r.c.ranks.At(int(record)))
	return rank >= r.from && rank < r.to
}

// StoredSet returns the records if they are a run with a stored set.
func (r RankRange) StoredSet() (e bitmap.EncodedSet, ok bool) {
	if r.run == anyRun {
		return nil, false
	}
	k, ok := r.c.longRunIndex(r.run)
	if ok {
		e = r.c.longRunSets.Set(k)
	}
	return e, ok
}

func (r RankRange) Fill(st *guard.Steps, b *bitmap.Builder) {
	c := r.c
	if e, ok := r.StoredSet(); ok {
		b.AddSet(st, e)
		return
	}
	low := sort.Search(LeadingSets, func(j int) bool { return c.bound(j) >= r.from })
	high := sort.Search(LeadingSets, func(j int) bool { return c.bound(j+1) > r.to })
	if r.to-r.from <= c.sorted.Len()/cost.ScanShare || low >= high {
		b.AddRecords(st, c.sorted.Slice(r.from, r.to))
		return
	}
	upper, lower := c.pool.Get(st), c.pool.Get(st)
	c.addLeadingSet(st, high, upper)
	c.addLeadingSet(st, low, lower)
	upper.AndNot(lower)
	c.pool.Put(st, lower)
	b.AddBits(st, upper)
	b.AddRecords(st, c.sorted.Slice(r.from, c.bound(low)))
	b.AddRecords(st, c.sorted.Slice(c.bound(high), r.to))
}

// exactValue is the condition that a value in a non-uniform run is written like an operand.
type exactValue struct {
	ranks RankRange
	text  string
}

func (e exactValue) String() string { return e.ranks.name }

func (e exactValue) Cost() plan.Cost {
	n := e.ranks.to - e.ranks.from
	return plan.Cost{Records: n, Fill: cost.ReadValue * n, Contains: cost.ReadValue}
}

func (e exactValue) Contains(record uint32) bool {
	return e.ranks.Contains(record) && e.ranks.c.value(record) == e.text
}

func (e exactValue) Fill(st *guard.Steps, b *bitmap.Builder) {
	var list []uint32
	c := e.ranks.c
	for rank := e.ranks.from; rank < e.ranks.to; rank++ {
		if rec := c.sorted.At(rank); c.readValue(st, rec) == e.text {
			list = append(list, rec)
		}
	}
	b.AddList(st, list)
}

// elementRanges is the condition that a list has one of some elements, which are one or more ranges
// of positions in sort order.
type elementRanges struct {
	c        *Column
	from, to uint32      // from the start of the first range to the end of the last
	several  bitmap.Bits // positions of the elements; nil if there is one range
	name     string
	cost     plan.Cost
	merges   bool // Fill merges the postings of the elements, else it searches the elements of each record
}

// newElementRanges returns the condition for some ranges in [from, to), which have n elements.
func (c *Column) newElementRanges(from, to uint32, several bitmap.Bits, n int, name string) *elementRanges {
	merging, searching := c.costOfPostings(n), cost.SearchElements*c.sorted.Len()
	return &elementRanges{
		c: c, from: from, to: to, several: several, name: name, merges: merging <= searching,
		cost: plan.Cost{Records: c.Values(), Fill: min(merging, searching), Contains: cost.SearchElements},
	}
}

// anyRange returns the union of ranges of elements.
func (c *Column) anyRange(all plan.AnyOf) *elementRanges {
	n := c.elements.Len()
	from, to, several := uint32(n), uint32(0), bitmap.NewBits(n)
	for _, one := range all {
		r, ok := one.(*elementRanges)
		if !ok || r.from >= r.to { // has no records
			continue
		}
		from, to = min(from, r.from), max(to, r.to)
		if r.several == nil {
			several.AddRange(int(r.from), int(r.to))
		} else {
			several.Or(r.several)
		}
	}
	return c.newElementRanges(from, to, several, several.Count(0, n), all.String())
}

func (e *elementRanges) String() string { return e.name }

func (e *elementRanges) Cost() plan.Cost { return e.cost }

func (e *elementRanges) Contains(record uint32) bool {
	if e.several != nil {
		return e.c.lists.hasAny(record, e.several)
	}
	return e.c.lists.hasBetween(record, e.from, e.to)
}

func (e *elementRanges) Fill(st *guard.Steps, b *bitmap.Builder) {
	if e.merges {
		for i := int(e.from); i < int(e.to); i++ {
			st.Add(1)
			if e.several == nil || e.several.Has(uint32(i)) {
				b.AddSet(st, e.c.postingsAt(i))
			}
		}
		return
	}
	var list []uint32
	st.Blocks(0, e.c.sorted.Len(), func(from, to int) {
		list = list[:0]
		for rec := uint32(from); rec < uint32(to); rec++ {
			if e.Contains(rec) {
				list = append(list, rec)
			}
		}
		b.AddList(st, list)
	})
}
