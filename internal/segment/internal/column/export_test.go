package column

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// Counters returns the names of the methods of counting runs.
func Counters() []string { return []string{"sets", "marks"} }

// ChosenCounter returns the name of the method that facets use for a set.
func (c *Column) ChosenCounter(st *guard.Steps, set *bitmap.Set) string {
	if c.countsBySets(st, set, 2) {
		return "sets"
	}
	return "marks"
}

// CountRuns counts the records of a set in the runs of at least one or two records.
func (c *Column) CountRuns(st *guard.Steps, counter string, least int, set *bitmap.Set, f func(run, n int)) {
	o := newSortedResult(st, c, set, counter == "marks")
	defer o.release()
	if counter == "sets" {
		o.release()
		o.matches = nil
	}
	r := runCounter{sortedResult: &o}
	for run, n, ok := r.count(c.Distinct(), least); ok; run, n, ok = r.count(c.Distinct(), least) {
		f(run, n)
	}
}

// Run returns the ranks of a run.
func (c *Column) Run(i int) (from, to int) { return c.run(i) }

// RecordAt returns the record at a rank.
func (c *Column) RecordAt(rank int) uint32 { return c.sorted.At(rank) }

// ElementsOf returns the distinct elements of a record, read from its value.
func (c *Column) ElementsOf(record uint32) []string {
	elements := text.Elements(&c.Field, c.value(record))
	slices.Sort(elements)
	return slices.Compact(elements)
}

// TopElements returns the most frequent elements.
func (c *Column) TopElements(st *guard.Steps, set *bitmap.Set, most int) (values []query.ValueCount, distinct int) {
	q := &query.FacetRequest{Top: most}
	v := newValueCollector(q)
	c.countElements(st, set, v)
	return v.top(0), v.distinct
}

// CountBelow returns the number of records of a set, nil for all, whose sort key is less than the
// given one.
func (c *Column) CountBelow(st *guard.Steps, set *bitmap.Set, key string) int {
	o := newSortedResult(st, c, set, false)
	defer o.release()
	return population{&o, c.newRunKeys(st, query.MaxBuckets)}.countBelowKey(key)
}

// ReadRunValues returns functions that read the values of ascending runs, of about n, and search
// them for a substring.
func (c *Column) ReadRunValues(st *guard.Steps, n int, find *text.Substring) (at func(run int) string,
	contains func(run int) bool) {
	v, searched := c.newRunValues(st, n), c.newRunValues(st, n)
	return func(run int) string { return string(v.at(run)) }, func(run int) bool { return searched.contains(run, find) }
}

// SearchRunValues adds the runs from the given one on whose value contains a substring to a set.
func (c *Column) SearchRunValues(st *guard.Steps, from int, find *text.Substring) bitmap.Bits {
	v, found := c.newRunValues(st, c.Distinct()), bitmap.NewBits(c.Distinct())
	v.search(from, c.Distinct(), find, found)
	return found
}

// ValueOf returns what is stored of the value of a run.
func (c *Column) ValueOf(value string) string {
	if c.Field.Type == herb.TypeText {
		return string(appendValueKey(nil, []byte(value)))
	}
	return value
}
