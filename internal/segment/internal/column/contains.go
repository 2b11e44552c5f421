package column

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/cost"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/segment/internal/plan"
	"herbarium/internal/text"
)

// LongValues returns the number of values of a text field that a search for a substring reads from
// records, because they are too long to be stored by run.
func (c *Column) LongValues() int {
	if c.Field.Type == herb.TypeList || c.StoresValues() {
		return 0
	}
	return c.Distinct()
}

// contains returns the condition that a text, or an element of a list, contains the text of an
// operand.
func (c *Column) contains(st *guard.Steps, o query.Operand, name string) plan.Condition {
	find := text.NewSubstring(o.Text)
	switch {
	case c.Field.Type == herb.TypeList:
		return c.elementsWith(st, find, name)
	case find.Len() == 0: // is in every value
		return RankRange{c: c, to: c.Values(), run: anyRun, name: name}
	}
	return substring{c: c, steps: st, find: find, name: name}
}

// elementsWith returns the condition that a list has an element that contains a substring.
func (c *Column) elementsWith(st *guard.Steps, find *text.Substring, name string) *elementRanges {
	n := c.elements.Len()
	st.Reserve(n / 8)
	from, to, found, several := uint32(n), uint32(0), 0, bitmap.NewBits(n)
	for i := range n {
		st.Add(1)
		if find.In(c.elements.At(i)) {
			several.Add(uint32(i))
			from, to = min(from, uint32(i)), uint32(i+1)
			found++
		}
	}
	return c.newElementRanges(from, to, several, found, name)
}

// substring is the condition that a text contains another.
type substring struct {
	c     *Column
	steps *guard.Steps
	find  *text.Substring // not empty
	name  string
}

func (s substring) String() string { return s.name }

func (s substring) Cost() plan.Cost {
	c := plan.Cost{Records: s.c.Values(), Fill: cost.SearchStored*s.c.Distinct() + s.c.Values(),
		Contains: cost.SearchValue}
	if s.c.LongValues() > 0 {
		c.Fill = cost.SearchValue * s.c.Distinct()
	}
	return c
}

func (s substring) Contains(record uint32) bool {
	value := s.c.value(record)
	s.steps.Add(len(value) / bytesPerStep)
	return s.find.In([]byte(value))
}

// Fill searches the value of each run: values with the same sort key contain the same texts.
func (s substring) Fill(st *guard.Steps, b *bitmap.Builder) {
	c, n := s.c, s.c.Distinct()
	found := c.pool.Get(st)
	defer c.pool.Put(st, found)
	values := c.newRunValues(st, n)
	values.search(0, n, s.find, found)
	for run := found.Next(st, 0, n); run < n; run = found.Next(st, run+1, n) {
		ranks := c.runRanks(run)
		for ; run+1 < n && found.Has(uint32(run+1)); run++ {
			_, ranks.to = c.run(run + 1)
			ranks.run = anyRun
		}
		ranks.Fill(st, b)
	}
}
