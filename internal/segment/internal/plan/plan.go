// Package plan evaluates the conditions of a query: it computes the set of records that satisfy all
// of them, cheapest condition first.
//
// Example: category=tree & search=oak -red, in a million records.
//
//	tree   170,000 records, a range of ranks ┐
//	oak     20,000 records, a stored set     ├─► by the records that they leave: oak, tree, not red
//	red    300,000 records, a stored set     ┘
//
//	oak       fill                 20,000 records
//	tree      test each record      3,400 left    20,000 × 5 ns = 0.10 ms; to fill and intersect takes 0.14 ms
//	not red   fill and intersect    2,400 left    0.03 ms; to test 3,400 × 40 ns takes 0.14 ms
//
// A condition can do both: add all its records to a set (Fill), and test one record (Contains). It
// estimates the time of both and the number of its records (Cost); package cost has the numbers. So
// a new kind of condition needs no change here.
package plan

import (
	"cmp"
	"slices"
	"time"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
)

// Condition selects records.
type Condition interface {
	// Cost estimates the result and the work to compute it.
	Cost() Cost
	// Fill adds the matching records to a builder.
	Fill(st *guard.Steps, b *bitmap.Builder)
	// Contains reports whether a record matches.
	Contains(record uint32) bool
	// String describes the condition in traces.
	String() string
}

// Cost is the estimated cost of a condition. Times are in nanoseconds; they are only compared with
// each other.
type Cost struct {
	Records  int // upper bound of the number of matching records
	Fill     int // time to compute the set
	Contains int // time to test one record
}

// Term is a condition that a record must satisfy, or must not.
type Term struct {
	Condition
	Exclude bool
}

// Stage is a part of an evaluation that a trace measures, such as a condition.
type Stage struct {
	Name    string
	Method  string // how it was computed
	Records int    // records left after it
	Time    time.Duration
}

// Trace receives the stages of an evaluation. nil disables tracing.
type Trace func(Stage)

// Measure calls f, which returns the number of records left, and reports it as a stage.
func (t Trace) Measure(name, method string, f func() int) {
	if t == nil {
		f()
		return
	}
	start := time.Now()
	n := f()
	t(Stage{name, method, n, time.Since(start)})
}

// Evaluate returns the records that satisfy all terms. A nil set means all records; it is the
// result if there are no terms, or only exclusions of nothing. The caller must release the set.
//
// Terms are evaluated in the order of the estimated number of records that they leave, exclusions
// last unless their sets are cheap. The first one is filled. Each other term is tested on each
// remaining record, or filled and intersected, whichever is estimated to be cheaper.
func Evaluate(st *guard.Steps, pool *bitmap.Pool, terms []Term, trace Trace) (set *bitmap.Set) {
	type plannedTerm struct {
		Term
		cost Cost
		left int // estimated number of records that satisfy the term; more than all for an expensive exclusion
	}
	all := make([]plannedTerm, len(terms))
	for i, t := range terms {
		p := plannedTerm{t, t.Cost(), pool.Records + 1}
		switch {
		case !t.Exclude:
			p.left = p.cost.Records
		case p.cost.Fill <= pool.Records/cost.ExclusionShare:
			p.left = pool.Records - p.cost.Records
		}
		all[i] = p
	}
	slices.SortStableFunc(all, func(a, b plannedTerm) int {
		return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.cost.Fill, b.cost.Fill))
	})
	for _, t := range all {
		st.Check()
		if t.Exclude && t.cost.Records == 0 {
			continue
		}
		if set == nil && t.Exclude {
			set = bitmap.All(st, pool)
		}
		switch {
		case set == nil:
			trace.Measure(t.String(), "fill", func() int {
				set = fillSet(st, pool, t.Condition)
				return set.Len()
			})
		case set.Len() == 0:
			return set
		case set.Len()*t.cost.Contains < t.cost.Fill+int(cost.BitsRecord*float64(pool.Records)):
			trace.Measure(t.Term.name(), "test each record", func() int {
				set.Filter(st, func(record uint32) bool { return t.Contains(record) != t.Exclude })
				return set.Len()
			})
		default:
			trace.Measure(t.Term.name(), "fill and intersect", func() int {
				other := fillSet(st, pool, t.Condition)
				defer other.Release()
				if t.Exclude {
					set.Subtract(st, other)
				} else {
					set.Intersect(st, other)
				}
				return set.Len()
			})
		}
	}
	return set
}

func (t Term) name() string {
	if t.Exclude {
		return "not " + t.String()
	}
	return t.String()
}

// fillSet returns the records that satisfy a condition. A stored set is not copied.
func fillSet(st *guard.Steps, pool *bitmap.Pool, c Condition) *bitmap.Set {
	if stored, ok := c.(interface {
		StoredSet() (bitmap.EncodedSet, bool)
	}); ok {
		if e, ok := stored.StoredSet(); ok {
			return bitmap.StoredSet(pool, e)
		}
	}
	b := bitmap.NewBuilder(pool)
	c.Fill(st, b)
	return b.Set(st)
}
