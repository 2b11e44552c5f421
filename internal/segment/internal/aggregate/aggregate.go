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
// that occur.
//
// # Passes
//
// The first pass numbers the group of each matching record. Then the values of each measured field
// are read in ascending order, with the groups of the records that have them:
//
//	price      3.00    7.25    12.50
//	groups     1       0       0
//
// So the first value of a group is its minimum and the last one its maximum, a median or percentile
// is the value at which so many were seen, and distinct values need no set.
//
// The sorted rows of a segment are in this order already. If many records match, both passes read
// them (rows.go); if few do, the codes of the matching records are looked up and sorted
// (grouped_records.go).
package aggregate

import (
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/bitmap"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
)

// Input is the matching records of a segment.
type Input struct {
	Fields  []herb.Field
	Columns []column.Column
	Records int         // of the segment
	Set     *bitmap.Set // matching records; nil means all
	// Value returns a value of a record as written.
	Value func(record uint32, field int) string
}

// matching returns the number of matching records.
func (in *Input) matching() int {
	if in.Set == nil {
		return in.Records
	}
	return in.Set.Len()
}

// Result is the groups that a request returns, in its order. Their labels and values are computed
// when they are read.
type Result struct {
	Total  int // records that match the filters and the search
	Groups int // groups that meet query.AggregateRequest.Having
	*aggregation
	rows []group
}

// Run computes the groups of a request. It fails with herb.CodeInvalid if there are too many.
func Run(st *guard.Steps, q *query.AggregateRequest, in Input) (*Result, error) {
	a := &aggregation{steps: st, request: q, input: in, total: in.matching(),
		dictionaries: map[int]*column.Dictionary{}, fields: map[int]*accumulator{}}
	if err := a.checkZone(); err != nil {
		return nil, err
	}
	for i, b := range q.By {
		g, err := a.newGrouper(b)
		if err != nil {
			return nil, err
		}
		a.groupers[i], a.selections[i] = g, newSelection(st, g, q.Labels[i])
	}
	a.table = newTable(st, a.groupers, len(q.By))
	a.prepareMeasures()
	grouped := a.groupRecords()
	for _, acc := range a.fields {
		a.measure(acc, grouped.byValue(acc.dictionary))
	}
	groups, err := a.groups()
	if err != nil {
		return nil, err
	}
	from := min(q.Offset, len(groups))
	rows := a.page(groups, from, from+min(q.Top, len(groups)-from))
	// The caller may read the rows slowly: what only finds groups is not held meanwhile.
	a.table.dense, a.table.sparse, a.input.Set = nil, nil, nil
	a.positions, a.selections = [query.MaxBy][]uint32{}, [query.MaxBy]*selection{}
	return &Result{a.total, len(groups), a, rows}, nil
}

// Len returns the number of rows.
func (r *Result) Len() int { return len(r.rows) }

// Row computes a row, and the length of its texts.
func (r *Result) Row(i int) (row query.GroupRow, size int) {
	g := r.rows[i]
	row = query.GroupRow{By: make([]string, len(r.request.By)), Values: make([]string, r.request.Returned)}
	for k := range row.By {
		row.By[k] = r.label(g, k)
		size += len(row.By[k])
	}
	for k := range row.Values {
		row.Values[k] = r.value(k, g.id)
		size += len(row.Values[k])
	}
	r.steps.Add(1)
	return row, size
}

// Collect returns all rows. It fails with herb.CodeInvalid if their texts are too long.
func (r *Result) Collect() (query.Aggregate, error) {
	r.steps.Reserve(bytesPerRow * len(r.rows))
	all := query.Aggregate{Total: r.Total, Groups: r.Groups}
	size := 0
	for i := range r.rows {
		row, n := r.Row(i)
		size += n
		if size > query.MaxAggregateBytes {
			return query.Aggregate{},
				herb.Invalidf("the values of the result are larger than %s; return fewer groups with %s, or measures "+
					"of shorter values",
					herb.FormatBytes(query.MaxAggregateBytes), query.ParamTopGroups)
		}
		all.Rows = append(all.Rows, row)
	}
	return all, nil
}

// bytesPerRow is the memory of a group of the result, without its texts.
const bytesPerRow = 160

func tooManyGroups(most int) error {
	return herb.Invalidf("the result has more than %d groups; add a filter, group by fewer values, or by longer "+
		"intervals, such as %s=date:year",
		most, query.ParamBy)
}

// aggregation is the evaluation of a request.
type aggregation struct {
	steps        *guard.Steps
	request      *query.AggregateRequest
	input        Input
	total        int
	dictionaries map[int]*column.Dictionary // by field
	groupers     [query.MaxBy]grouper
	selections   [query.MaxBy]*selection
	positions    [query.MaxBy][]uint32 // see grouper.positions
	table        *table
	fields       map[int]*accumulator // by field
}

// dictionary returns the dictionary of a field.
func (a *aggregation) dictionary(field int) *column.Dictionary {
	if d := a.dictionaries[field]; d != nil {
		return d
	}
	d := column.NewDictionary(a.steps, &a.input.Columns[field])
	a.dictionaries[field] = d
	return d
}

// grouped is the matching records with the numbers of their groups.
type grouped interface {
	// byValue returns the groups by the values of a field.
	byValue(d *column.Dictionary) groupsByValue
}

// groupsByValue is the groups of all matching records, by the values of a field. A record with
// several elements of a list is in the groups of all of them.
type groupsByValue interface {
	// missing calls f with the groups of the records without a value, each as often as it has such
	// records, some records at a time.
	missing(f func(groups []uint32))
	// codes returns the codes of all values that occur, in ascending order. There may be others
	// among them.
	codes() []uint32
	// each calls f for each of the codes in ascending order, with its index and the groups of the
	// records that have it, some records at a time.
	each(f func(i int, code uint32, groups []uint32))
}

// groupRecords numbers the groups of the matching records.
func (a *aggregation) groupRecords() grouped {
	if a.readsRows() {
		return a.groupRows()
	}
	return a.groupMatching()
}

// count returns the number of records of a group.
func (a *aggregation) count(id int) string {
	if id == noGroup {
		return "0"
	}
	return strconv.Itoa(int(a.table.counts[id]))
}
