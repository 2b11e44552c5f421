// Package aggregate computes measures of groups of records: counts, sums, means, medians, extremes.
//
// # Data
//
// Values are replaced by codes (column.Dictionary), which are positions in ascending order. A
// record of the request _by=category&_by=date:month&_measure=sum:price becomes three small
// integers:
//
//	record     category  date        price        codes       group            sum
//	0          tree      2024-03-01  12.50        1 0 2       tree, 2024-03    12.50
//	1          shrub     2024-03-09   3.00   →    0 1 0   →   shrub, 2024-03    3.00
//	2          tree      2024-03-09   7.25        1 1 1       tree, 2024-03    19.75
//
// A grouper maps the code of a record to its group in one of the By fields: the value itself, or
// the interval that contains it. The pair of both is looked up in a table that numbers the groups
// that occur. Records are processed a thousand at a time, column by column.
//
// # Passes
//
// Counts, sums and extremes are accumulated in one pass over the matching records. Distinct values,
// medians and percentiles need all codes of a group at once: a second pass sorts the codes by
// group, and then each group is counted or partially sorted by itself.
package aggregate

import (
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Part is the matching records of one segment.
type Part struct {
	Columns []column.Column
	Records int         // of the segment
	Set     *bitmap.Set // matching records; nil means all
}

func (p Part) matching() int {
	if p.Set == nil {
		return p.Records
	}
	return p.Set.Len()
}

// Input is the matching records of a union of segments and a tail.
type Input struct {
	Fields []herb.Field
	Parts  []Part
	Tail   []herb.Record
	// Value returns a value of a record as written.
	Value func(part int, record uint32, field int) string
	// Meets reports whether a record of some fields meets conditions.
	Meets func(fields []herb.Field, record herb.Record, conditions []query.Condition) bool
}

// Run computes the result of a request. It fails with herb.CodeInvalid if there are too many
// groups.
func Run(st *guard.Steps, q *query.AggregateRequest, in Input) (query.Aggregate, error) {
	a := &aggregation{steps: st, request: q, input: in, dictionaries: map[int]*column.Dictionary{}, fields: map[int]*accumulator{}}
	for _, p := range in.Parts {
		a.total += p.matching()
	}
	a.total += len(in.Tail)
	for i, b := range q.By {
		g, err := a.newGrouper(b)
		if err != nil {
			return query.Aggregate{}, err
		}
		a.groupers[i] = g
	}
	a.table = newTable(a.groupers, len(q.By))
	a.prepareMeasures()
	a.eachRecord(a.accumulate)
	if a.table.isFull {
		return query.Aggregate{}, tooManyGroups()
	}
	a.orderMeasures()
	groups, err := a.groups()
	if err != nil {
		return query.Aggregate{}, err
	}
	result := query.Aggregate{Total: a.total, Groups: len(groups)}
	from := min(q.Offset, len(groups))
	for _, g := range a.page(groups, from, min(from+q.Top, len(groups))) {
		row := query.GroupRow{By: make([]string, len(q.By)), Values: make([]string, q.Returned)}
		for i := range q.By {
			row.By[i] = g.labels[i]()
		}
		for i := range row.Values {
			row.Values[i] = a.value(i, g.id)
		}
		result.Rows = append(result.Rows, row)
	}
	return result, nil
}

func tooManyGroups() error {
	return herb.Invalidf("the result has more than %d groups; add a filter, group by fewer values, or by longer intervals, such as %s=date:year",
		query.MaxGroups, query.ParamBy)
}

// aggregation is the evaluation of a request.
type aggregation struct {
	steps        *guard.Steps
	request      *query.AggregateRequest
	input        Input
	total        int
	dictionaries map[int]*column.Dictionary // by field
	groupers     [query.MaxBy]grouper
	table        *table
	fields       map[int]*accumulator // by field
	order        []int                // fields with an accumulator, in the order of the measures
	chunk        chunk
}

// dictionary returns the dictionary of a field.
func (a *aggregation) dictionary(field int) *column.Dictionary {
	if d := a.dictionaries[field]; d != nil {
		return d
	}
	var columns []*column.Column
	for _, p := range a.input.Parts {
		columns = append(columns, &p.Columns[field])
	}
	memory := make([]string, len(a.input.Tail))
	for i, rec := range a.input.Tail {
		memory[i] = rec[field]
	}
	d := column.NewDictionary(a.steps, &a.input.Fields[field], columns, memory)
	a.dictionaries[field] = d
	return d
}

// chunk is some records of a part. A record in several groups occurs several times.
type chunk struct {
	part    int
	records []uint32
	ids     []uint32 // groups of the records
	codes   []uint32 // buffer for the codes of a field

	groups   [query.MaxBy][]uint32
	expanded [query.MaxBy][]uint32 // buffers for records that are repeated
}

const recordsAtOnce = bitmap.EachAtOnce

// eachRecord calls f for all matching records, some at a time, with their groups.
func (a *aggregation) eachRecord(f func(c *chunk)) {
	a.eachMatching(func(part int, records []uint32) {
		a.chunk.part, a.chunk.records = part, records
		a.group(&a.chunk)
		f(&a.chunk)
	})
}

// eachMatching calls f for all matching records, some of one part at a time. The tail is the last
// part.
func (a *aggregation) eachMatching(f func(part int, records []uint32)) {
	numbers := make([]uint32, 0, recordsAtOnce)
	each := func(part, n int) {
		for from := 0; from < n; from += recordsAtOnce {
			numbers = numbers[:0]
			for rec := from; rec < min(from+recordsAtOnce, n); rec++ {
				numbers = append(numbers, uint32(rec))
			}
			a.steps.Add(len(numbers))
			f(part, numbers)
		}
	}
	for i, p := range a.input.Parts {
		if p.Set == nil {
			each(i, p.Records)
		} else {
			p.Set.Each(a.steps, func(records []uint32) { f(i, records) })
		}
	}
	each(len(a.input.Parts), len(a.input.Tail))
}

// group sets the groups of the records of a chunk, and repeats records that are in several.
func (a *aggregation) group(c *chunk) {
	for i := range a.request.By {
		g := a.groupers[i]
		if list, ok := g.(*listGrouper); ok {
			a.expand(c, i, list)
		} else {
			c.groups[i] = g.appendGroups(c.groups[i][:0], c.part, c.records)
		}
		a.steps.Add(len(c.records))
	}
	c.ids = a.table.appendIDs(c.ids[:0], c)
}

// expand repeats each record for each element of a list field.
func (a *aggregation) expand(c *chunk, by int, list *listGrouper) {
	records, groups := c.expanded[by][:0], c.groups[by][:0]
	var others []uint32 // groups of the repeated records in the field before this one
	for i, rec := range c.records {
		n := len(groups)
		groups = list.appendElements(groups, c.part, rec)
		for range len(groups) - n {
			records = append(records, rec)
			if by > 0 {
				others = append(others, c.groups[0][i])
			}
		}
	}
	c.records, c.expanded[by], c.groups[by] = records, records, groups
	if by > 0 {
		c.groups[0] = others
	}
}

// count returns the number of records of a group.
func (a *aggregation) count(id int) string {
	if id == noGroup {
		return "0"
	}
	return strconv.Itoa(int(a.table.counts[id]))
}
