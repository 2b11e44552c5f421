package plan_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
)

// multiples is the condition that a record is a multiple of a number.
type multiples struct {
	of   int
	cost plan.Cost
	log  *[]string
}

func (m multiples) String() string { return strings.Repeat("x", m.of) }

func (m multiples) Cost() plan.Cost { return m.cost }

func (m multiples) Contains(record uint32) bool { return int(record)%m.of == 0 }

func (m multiples) Fill(st *guard.Steps, b *bitmap.Builder) {
	*m.log = append(*m.log, m.String())
	var list []uint32
	for i := 0; i < records; i += m.of {
		list = append(list, uint32(i))
	}
	b.AddList(st, list)
}

const records = 100_000

func TestEvaluate(t *testing.T) {
	t.Parallel()
	few := plan.Cost{Records: records / 5, Fill: records / 5, Contains: 10}
	many := plan.Cost{Records: records / 2, Fill: records, Contains: 10}
	slow := plan.Cost{Records: records / 3, Fill: 1 << 40, Contains: 10}
	for _, tt := range []struct {
		name    string
		terms   []plan.Term
		filled  []string
		methods []string
		divided func(n int) bool
	}{
		{"fewest records first", []plan.Term{{Condition: multiples{of: 2, cost: many}},
			{Condition: multiples{of: 5, cost: few}}},
			[]string{"xxxxx", "xx"}, []string{"fill", "fill and intersect"}, func(n int) bool { return n%10 == 0 }},
		{"tests instead of filling", []plan.Term{{Condition: multiples{of: 3, cost: slow}},
			{Condition: multiples{of: 5, cost: few}}},
			[]string{"xxxxx"}, []string{"fill", "test each record"}, func(n int) bool { return n%15 == 0 }},
		{"exclusions last", []plan.Term{{Condition: multiples{of: 5, cost: few}, Exclude: true},
			{Condition: multiples{of: 2, cost: many}}},
			[]string{"xx", "xxxxx"}, []string{"fill", "fill and intersect"}, func(n int) bool {
				return n%2 == 0 &&
					n%5 != 0
			}},
		{"cheap exclusion of most records first", []plan.Term{{Condition: multiples{of: 3, cost: slow}}, {
			Condition: multiples{of: 1, cost: plan.Cost{Records: records, Fill: 1, Contains: 10}}, Exclude: true,
		}}, []string{"x"}, []string{"fill and intersect"}, func(int) bool { return false }},
		{"only exclusions", []plan.Term{{Condition: multiples{of: 3, cost: slow}, Exclude: true}},
			nil, []string{"test each record"}, func(n int) bool { return n%3 != 0 }},
		{"any of", []plan.Term{{Condition: plan.AnyOf{multiples{of: 3, cost: few}, multiples{of: 5, cost: few}}}},
			[]string{"xxx", "xxxxx"}, []string{"fill"}, func(n int) bool { return n%3 == 0 || n%5 == 0 }},
		{"any of all of", []plan.Term{{Condition: plan.AnyOf{
			plan.AllOf{Pool: &bitmap.Pool{Records: records}, Terms: []plan.Term{
				{Condition: multiples{of: 2, cost: many}, Exclude: true}, {Condition: multiples{of: 5, cost: few}},
			}},
			plan.AllOf{Pool: &bitmap.Pool{Records: records},
				Terms: []plan.Term{{Condition: multiples{of: 3, cost: many}}}},
		}}}, []string{"xxxxx", "xx", "xxx"}, []string{"fill"}, func(n int) bool {
			return n%2 != 0 && n%5 == 0 ||
				n%3 == 0
		}},
		{"tests all of", []plan.Term{{Condition: multiples{of: 5, cost: few}}, {Condition: plan.AllOf{
			Pool:  &bitmap.Pool{Records: records},
			Terms: []plan.Term{{Condition: multiples{of: 3, cost: slow}, Exclude: true}},
		}}}, []string{"xxxxx"}, []string{"fill", "test each record"}, func(n int) bool { return n%5 == 0 && n%3 != 0 }},
		{"fills all of, of which one is tested", []plan.Term{
			{Condition: multiples{of: 10, cost: plan.Cost{Records: records / 10, Fill: records / 10, Contains: 10}}},
			{Condition: plan.AllOf{Pool: &bitmap.Pool{Records: records}, Terms: []plan.Term{
				{Condition: multiples{of: 7, cost: plan.Cost{Records: records / 7, Fill: records / 7, Contains: 10}}},
				{Condition: multiples{of: 3, cost: slow}},
			}}},
		}, []string{"xxxxxxxxxx", "xxxxxxx"}, []string{"fill", "fill and intersect"},
			func(n int) bool { return n%210 == 0 }},
		{"all of no exclusions", []plan.Term{{Condition: plan.AnyOf{plan.AllOf{
			Pool:  &bitmap.Pool{Records: records},
			Terms: []plan.Term{{Condition: plan.StoredCondition{}, Exclude: true}},
		}}}}, nil, []string{"fill"}, func(int) bool { return true }},
		{"nothing left", []plan.Term{{Condition: plan.StoredCondition{}}, {Condition: multiples{of: 2, cost: many}}},
			nil, []string{"fill"}, func(int) bool { return false }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var filled, methods []string
			for i, term := range tt.terms {
				tt.terms[i].Condition = logged(term.Condition, &filled)
			}
			st := guard.NewSteps(t.Context())
			set := plan.Evaluate(st, &bitmap.Pool{Records: records}, tt.terms,
				func(s plan.Stage) { methods = append(methods, s.Method) })
			defer set.Release()
			var want []uint32
			for n := range records {
				if tt.divided(n) {
					want = append(want, uint32(n))
				}
			}
			if got := set.Slice(st, 0, set.Len()); !slices.Equal(got, want) {
				t.Errorf("%d records; want %d", len(got), len(want))
			}
			if !slices.Equal(filled, tt.filled) || !slices.Equal(methods, tt.methods) {
				t.Errorf("filled %q by %q; want %q by %q", filled, methods, tt.filled, tt.methods)
			}
		})
	}
	if set := plan.Evaluate(guard.NewSteps(t.Context()), &bitmap.Pool{Records: records}, nil, nil); set != nil {
		t.Error("without terms, there is a set")
	}
}

// logged returns the condition with a log of the filled ones.
func logged(c plan.Condition, log *[]string) plan.Condition {
	switch c := c.(type) {
	case multiples:
		c.log = log
		return c
	case plan.AnyOf:
		for i := range c {
			c[i] = logged(c[i], log)
		}
	case plan.AllOf:
		for i, t := range c.Terms {
			c.Terms[i].Condition = logged(t.Condition, log)
		}
	}
	return c
}
