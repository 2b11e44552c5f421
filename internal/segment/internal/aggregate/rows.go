package aggregate

import (
	"math"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/guard"
)

// rowShare is the least share of the records that match if the sorted rows of all are read. Looking
// up and sorting the code of a record takes about as long as reading three sorted rows.
const rowShare = 3

// readsRows reports whether the sorted rows are read to group records: many records match, each has
// one group in every By field, and codes are runs.
func (a *aggregation) readsRows() bool {
	if a.total < a.input.Records/rowShare {
		return false
	}
	for i := range a.request.By {
		if _, ok := a.groupers[i].(codeGrouper); !ok {
			return false
		}
	}
	for _, d := range a.dictionaries {
		if d.Field.Type != herb.TypeList && !d.HasRuns() {
			return false
		}
	}
	return true
}

// codeGrouper is a grouper in which the group of a record follows from the code of its value.
type codeGrouper interface {
	codes() *column.Dictionary
	// groupOf returns the group of a code.
	groupOf(code uint32) uint32
}

// rows is the groups of all records of a segment.
type rows struct {
	steps  *guard.Steps
	groups []uint32 // by record; unmatched if it does not match
}

const unmatched = math.MaxUint32

// groupRows numbers the groups of all records, value by value.
func (a *aggregation) groupRows() *rows {
	a.steps.Reserve(4 * a.input.Records)
	r := &rows{a.steps, make([]uint32, a.input.Records)}
	if a.input.Set != nil {
		a.steps.Blocks(0, len(r.groups), func(from, to int) {
			for i := from; i < to; i++ {
				r.groups[i] = unmatched
			}
		})
		a.input.Set.Each(a.steps, func(records []uint32) {
			for _, rec := range records {
				r.groups[rec] = 0
			}
		})
	}
	by := len(a.request.By)
	if by == 0 {
		a.table.counts[0] = uint32(a.total)
	}
	for i := range by {
		g := a.groupers[i].(codeGrouper)
		g.codes().EachRun(func(code uint32, records file.U32s) {
			switch group := g.groupOf(code); {
			case !a.selections[i].has(group):
				r.set(records, unmatched)
			case i < by-1:
				r.set(records, group)
			case by == 1:
				a.numberRun(r, records, group)
			default:
				a.numberPairs(r, records, group)
			}
		})
	}
	return r
}

// set sets the groups of matching records.
func (r *rows) set(records file.U32s, group uint32) {
	for i := range records.Len() {
		if g := &r.groups[records.At(i)]; *g != unmatched {
			*g = group
		}
	}
}

// numberRun numbers the group of matching records, which is the same for all.
func (a *aggregation) numberRun(r *rows, records file.U32s, group uint32) {
	id, n := uint32(unmatched), uint32(0)
	for i := range records.Len() {
		if g := &r.groups[records.At(i)]; *g != unmatched {
			if n == 0 {
				id = a.table.number(group, 0)
			}
			*g = id
			n++
		}
	}
	if n > 0 {
		a.table.counts[id] += n
	}
}

// numberPairs numbers the pairs of the group that was set for each matching record and another one,
// which is the same for all.
func (a *aggregation) numberPairs(r *rows, records file.U32s, second uint32) {
	for i := range records.Len() {
		if g := &r.groups[records.At(i)]; *g != unmatched {
			*g = a.table.number(*g, second)
			a.table.counts[*g]++
		}
	}
}

func (r *rows) byValue(d *column.Dictionary) groupsByValue {
	if d.Field.Type == herb.TypeList {
		return r.groupedRecords().byValue(d)
	}
	return &sortedRows{r, d}
}

// groupedRecords returns the matching records in sequence.
func (r *rows) groupedRecords() *groupedRecords {
	r.steps.Reserve(2 * bytesPerGrouped * len(r.groups)) // also while the arrays grow
	g := &groupedRecords{steps: r.steps}
	r.steps.Blocks(0, len(r.groups), func(from, to int) {
		for rec := from; rec < to; rec++ {
			if group := r.groups[rec]; group != unmatched {
				g.records, g.groups = append(g.records, uint32(rec)), append(g.groups, group)
			}
		}
	})
	return g
}

// sortedRows is the groups of all records by the values of a field, read from its sorted rows.
type sortedRows struct {
	*rows
	dictionary *column.Dictionary
}

func (s *sortedRows) missing(f func(groups []uint32)) {
	var groups []uint32
	s.dictionary.InRun(uint32(s.dictionary.Len), func(records file.U32s) {
		groups = s.appendGroups(groups[:0], records)
		f(groups)
	})
}

func (s *sortedRows) codes() []uint32 {
	s.steps.Add(s.dictionary.Len)
	s.steps.Reserve(4 * s.dictionary.Len)
	codes := make([]uint32, s.dictionary.Len)
	for i := range codes {
		codes[i] = uint32(i)
	}
	return codes
}

func (s *sortedRows) each(f func(i int, code uint32, groups []uint32)) {
	var groups []uint32
	s.dictionary.EachRun(func(code uint32, records file.U32s) {
		if int(code) < s.dictionary.Len {
			groups = s.appendGroups(groups[:0], records)
			if len(groups) > 0 {
				f(int(code), code, groups)
			}
		}
	})
}

// appendGroups appends the groups of the matching ones of some records.
func (s *sortedRows) appendGroups(dst []uint32, records file.U32s) []uint32 {
	for i := range records.Len() {
		if group := s.groups[records.At(i)]; group != unmatched {
			dst = append(dst, group)
		}
	}
	return dst
}
