package plan

import (
	"slices"
	"strings"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// StoredCondition is the condition that a record is in a stored set. An empty one is the condition
// that no record satisfies.
type StoredCondition struct {
	bitmap.EncodedSet
	Name string
}

func (c StoredCondition) Cost() Cost {
	return Cost{Records: c.Len(), Fill: int(cost.FillByte * float64(len(c.EncodedSet))), Contains: cost.StoredContains}
}

func (c StoredCondition) Fill(st *guard.Steps, b *bitmap.Builder) { b.AddSet(st, c.EncodedSet) }

// StoredSet returns the set.
func (c StoredCondition) StoredSet() (bitmap.EncodedSet, bool) { return c.EncodedSet, true }

func (c StoredCondition) String() string { return c.Name }

// AnyOf is the condition that a record satisfies any of several others.
type AnyOf []Condition

func (c AnyOf) Cost() (sum Cost) {
	for _, condition := range c {
		one := condition.Cost()
		sum.Records += one.Records
		sum.Fill += one.Fill
		sum.Contains += one.Contains
	}
	return sum
}

func (c AnyOf) Fill(st *guard.Steps, b *bitmap.Builder) {
	for _, one := range c {
		st.Check()
		one.Fill(st, b)
	}
}

func (c AnyOf) Contains(record uint32) bool {
	for _, one := range c {
		if one.Contains(record) {
			return true
		}
	}
	return false
}

func (c AnyOf) String() string {
	names := make([]string, len(c))
	for i, one := range c {
		names[i] = one.String()
	}
	return strings.Join(slices.Compact(names), " or ") // parts of one condition have the same name
}

// AllOf is the condition that a record satisfies all of several terms, as a part of another
// condition.
type AllOf struct {
	Pool  *bitmap.Pool
	Terms []Term
}

func (c AllOf) Cost() Cost {
	all := Cost{Records: c.Pool.Records}
	for _, t := range c.Terms {
		if !t.Exclude {
			all.Records = min(all.Records, t.Cost().Records)
		}
	}
	for _, t := range c.Terms {
		one := t.Cost()
		all.Fill += min(one.Fill, all.Records*one.Contains) // Evaluate chooses the cheaper one
		all.Contains += one.Contains
	}
	return all
}

func (c AllOf) Fill(st *guard.Steps, b *bitmap.Builder) {
	set := Evaluate(st, c.Pool, c.Terms, nil)
	if set == nil {
		set = bitmap.All(st, c.Pool)
	}
	defer set.Release()
	b.Union(st, set)
}

func (c AllOf) Contains(record uint32) bool {
	for _, t := range c.Terms {
		if t.Contains(record) == t.Exclude {
			return false
		}
	}
	return true
}

func (c AllOf) String() string {
	names := make([]string, len(c.Terms))
	for i, t := range c.Terms {
		names[i] = t.name()
	}
	return strings.Join(names, " and ")
}
