package aggregate

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/text"
)

// group is a group of the result.
type group struct {
	id     int                        // in the table; noGroup if it has no records
	at     int                        // position in the order of the By fields
	labels [query.MaxBy]func() string // reading a label takes longer than comparing groups
	keys   []column.SortKey           // by sort key of the request
}

// groups returns the groups that meet the conditions of the request, in the order of the By fields.
func (a *aggregation) groups() ([]group, error) {
	ids := make([]int, len(a.table.pairs))
	for i := range ids {
		ids[i] = i
	}
	slices.SortFunc(ids, a.compareByFields)
	all := make([]group, len(ids))
	for i, id := range ids {
		all[i].id = id
		for by := range a.request.By {
			all[i].labels[by] = func() string { return a.groupers[by].label(a.table.group(id, by)) }
		}
	}
	if a.request.Fill {
		var err error
		if all, err = a.fill(all); err != nil {
			return nil, err
		}
	}
	for i := range all {
		all[i].at = i
	}
	if len(a.request.Having) > 0 {
		fields := a.request.ValueFields()
		all = slices.DeleteFunc(all, func(g group) bool { return !a.meets(g, fields) })
	}
	return all, nil
}

func (a *aggregation) compareByFields(x, y int) int {
	for by := range a.request.By {
		if c := a.groupers[by].compare(a.table.group(x, by), a.table.group(y, by)); c != 0 {
			return c
		}
	}
	return 0
}

// fill adds the empty intervals between the first and the last.
func (a *aggregation) fill(all []group) (filled []group, err error) {
	g := a.groupers[0].(intervals)
	var next interval
	known := false // next is set
	for _, old := range all {
		id := a.table.group(old.id, 0)
		if a.groupers[0].isMissing(id) {
			return append(filled, old), nil
		}
		current := g.interval(id)
		for known && next.key < current.key {
			if len(filled) == query.MaxGroups {
				return nil, tooManyGroups()
			}
			label := next.label
			filled = append(filled, group{id: noGroup, labels: [query.MaxBy]func() string{func() string { return label }}})
			next, known = g.following(next)
		}
		filled = append(filled, old)
		next, known = g.following(current)
	}
	return filled, nil
}

// meets reports whether a group meets the conditions of the request on its measures.
func (a *aggregation) meets(g group, fields []herb.Field) bool {
	values := make(herb.Record, len(fields))
	for _, c := range a.request.Having {
		values[c.Field] = a.value(c.Field, g.id)
	}
	return a.input.Meets(fields, values, a.request.Having)
}

// page returns the groups at positions [from, to) in the order of the request.
func (a *aggregation) page(all []group, from, to int) []group {
	if len(a.request.Sort) == 0 {
		return all[from:to]
	}
	fields := a.request.ValueFields()
	for i := range all {
		a.steps.Add(1)
		all[i].keys = a.sortKeys(all[i], fields)
	}
	slices.SortFunc(all, func(x, y group) int {
		for i, s := range a.request.Sort {
			c := 0
			if s.By >= 0 {
				c = a.compareLabels(x, y, s)
			} else {
				c = x.keys[i].Compare(y.keys[i], s.Desc)
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Compare(x.at, y.at)
	})
	return all[from:to]
}

// sortKeys returns the keys of the measures by which groups are sorted.
func (a *aggregation) sortKeys(g group, fields []herb.Field) []column.SortKey {
	keys := make([]column.SortKey, len(a.request.Sort))
	for i, s := range a.request.Sort {
		if s.By < 0 {
			keys[i], _ = column.NewSortKey(&fields[s.Measure], a.value(s.Measure, g.id))
		}
	}
	return keys
}

// compareLabels compares two groups by one of their labels. Missing values are last in both
// directions.
func (a *aggregation) compareLabels(x, y group, s query.GroupSort) int {
	if missing := a.isMissing(x, s.By); missing != a.isMissing(y, s.By) {
		if missing {
			return 1
		}
		return -1
	}
	c := cmp.Compare(x.at, y.at) // the order of the only field
	if len(a.request.By) > 1 {
		c = a.groupers[s.By].compare(a.table.group(x.id, s.By), a.table.group(y.id, s.By))
	}
	if s.Desc {
		c = -c
	}
	return c
}

func (a *aggregation) isMissing(g group, by int) bool {
	return g.id != noGroup && a.groupers[by].isMissing(a.table.group(g.id, by))
}

// value returns the value of a measure of a group.
func (a *aggregation) value(measure, id int) string {
	m := a.request.Measures[measure]
	if m.Kind == query.MeasureCount {
		return a.count(id)
	}
	acc := a.fields[m.Field]
	switch m.Kind {
	case query.MeasureFilled, query.MeasureDistinct:
		counts := acc.filled
		if m.Kind == query.MeasureDistinct {
			counts = acc.distinct
		}
		if id == noGroup {
			return "0"
		}
		return strconv.Itoa(int(counts[id]))
	case query.MeasureSum:
		if id == noGroup {
			return "0"
		}
		return acc.sums.sum(id)
	}
	if id == noGroup || acc.filled[id] == 0 {
		return ""
	}
	switch m.Kind {
	case query.MeasureMean:
		return acc.sums.mean(id, acc.filled[id])
	case query.MeasureMedian:
		return acc.median(id)
	case query.MeasurePercentile:
		return acc.dictionary.Value(acc.nearest[m.Percent][id])
	case query.MeasureMin:
		return acc.dictionary.Value(acc.min[id])
	default:
		return acc.dictionary.Value(acc.max[id])
	}
}

// median returns the exact median of a group, without zeros at the end of its fraction.
func (acc *accumulator) median(id int) string {
	sum := new(big.Rat)
	places := 0
	for _, codes := range acc.middle {
		canonical, _ := text.Canonical(acc.dictionary.Field, acc.dictionary.Value(codes[id]))
		v, _ := new(big.Rat).SetString(canonical) // valid in a segment
		sum.Add(sum, v)
		_, fraction, _ := strings.Cut(canonical, ".")
		places = max(places, len(fraction))
	}
	s := sum.Quo(sum, big.NewRat(2, 1)).FloatString(places + 1)
	s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}
