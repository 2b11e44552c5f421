package column

import (
	"cmp"
	"slices"

	"herbarium/internal/query"
	"herbarium/internal/text"
)

// shortGroup is the sorted records of a group with fewer than LongRun records. Its memory is
// reused.
type shortGroup struct {
	end     int // rank after the group, which tells it from other groups; 0 if there is none
	records []uint32
	members []groupMember // buffer for sorting
}

// groupMember is a record of a short group with the ordinals of its values of the other sort
// fields.
type groupMember struct {
	ordinals [query.MaxSortFields - 1]uint32 // see Column.ordinal
	record   uint32
}

// compare compares two members by the first n ordinals, ties by record number.
func (m *groupMember) compare(other *groupMember, n int) int {
	if c := slices.Compare(m.ordinals[:n], other.ordinals[:n]); c != 0 {
		return c
	}
	return cmp.Compare(m.record, other.record)
}

// sortShort returns the records of a short group, sorted by the other fields.
func (o *Order) sortShort(g group) []uint32 {
	s, sort := &o.short, o.sort[1:]
	if s.end == g.ranks.to {
		return s.records
	}
	s.end = g.ranks.to
	s.records, s.members = o.appendShort(s.records[:0], g), s.members[:0]
	for _, rec := range s.records {
		o.steps.Add(len(sort))
		m := groupMember{record: rec}
		for i, f := range sort {
			m.ordinals[i] = uint32(o.columns[f.Field].ordinal(rec, f.Desc))
		}
		s.members = append(s.members, m)
	}
	slices.SortFunc(s.members, func(a, b groupMember) int { return a.compare(&b, len(sort)) })
	for i := range s.members {
		s.records[i] = s.members[i].record
	}
	return s.records
}

// appendShort appends the records of a short group, sorted by number.
func (o *Order) appendShort(records []uint32, g group) []uint32 {
	// scanning a long run for few matches is slow
	if _, isMarked := o.matches.(markedRanks); o.set != nil && !isMarked && g.ranks.to-g.ranks.from >= LongRun {
		set := o.groupSet(g)
		defer set.Release()
		return append(records, set.Slice(o.steps, 0, g.len())...)
	}
	return o.appendAscending(records, g.from, g.to)
}

// ordinal returns the number of distinct values, or markers of missing values, that sort before the
// value of a record.
func (c *Column) ordinal(record uint32, desc bool) int {
	run := c.runAt(0, int(c.ranks.At(int(record))))
	if run == c.Distinct() && len(c.Field.Notation.Missing) > 0 {
		run += text.MissingPosition(&c.Field, c.value(record))
	}
	return mirror(run, c.Distinct(), desc)
}
