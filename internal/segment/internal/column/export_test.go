package column

// Counted is the result of a facet counter.
type Counted struct {
	Empty, First, Last int
	Runs               map[int]int
}

// Counters returns the names of the facet counters.
func Counters() []string { return []string{"sets", "marks", "chosen"} }

func (c *Column) counter(name string, m *Matches) facetCounter {
	switch name {
	case "sets":
		return setCounter{c, m.dense(), m.steps}
	case "marks":
		return newMarkCounter(c, m)
	case "all":
		return allCounter{c, m.steps}
	default:
		return c.facetCounter(m)
	}
}

// ChosenCounter returns the name of the counter that facets use.
func (c *Column) ChosenCounter(m *Matches) string {
	t := c.facetCounter(m)
	defer t.release()
	switch t.(type) {
	case setCounter:
		return "sets"
	case markCounter:
		return "marks"
	default:
		return "all"
	}
}

// CountRuns counts the matches of every run.
func (c *Column) CountRuns(counter string, m *Matches) Counted {
	t := c.counter(counter, m)
	defer t.release()
	out := Counted{Empty: t.empty(), Runs: map[int]int{}}
	if out.Empty < m.n {
		out.First, out.Last = t.ends()
	}
	last := -1
	t.each(func(run, n int) {
		if run <= last {
			panic("runs out of order")
		}
		last = run
		out.Runs[run] = n
	})
	return out
}

// EachRun counts the matches of every run for a benchmark.
func (c *Column) EachRun(counter string, m *Matches) {
	t := c.counter(counter, m)
	defer t.release()
	t.each(func(_, _ int) {})
}

// Run returns the ranks of a run.
func (c *Column) Run(i int) (from, to int) { return c.run(i) }

// RecordAt returns the record at a rank.
func (c *Column) RecordAt(rank int) uint32 { return c.sorted.At(rank) }

// CountEmpty counts the matches without a value.
func (c *Column) CountEmpty(m *Matches) int { return c.countEmpty(m) }

// TopElements returns the most frequent elements, counted in the lists of the records or by the postings.
func (c *Column) TopElements(m *Matches, most int, byRecord bool) (values []string, counts []int, distinct int) {
	best := topElements{topValues: topValues{most: most}}
	if byRecord {
		distinct = c.elementsOfFew(m, &best)
	} else {
		distinct = c.elementsOfMany(m, &best)
	}
	for _, v := range best.values {
		values, counts = append(values, v.value), append(counts, v.n)
	}
	return values, counts, distinct
}
