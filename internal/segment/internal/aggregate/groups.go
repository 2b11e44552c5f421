package aggregate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/guard"
	"herbarium/internal/text"
)

// group is a group of the result.
type group struct {
	id    int    // in the table; noGroup if it has no records
	at    int    // position in the order of the By fields
	label string // if it has no records
	cell  *cell  // if the request adds combinations of two By fields
}

// Memory of a group while all are sorted, and of a group that is added between them.
const (
	bytesPerOrderedGroup = 64
	bytesPerFilledGroup  = 160
)

// groups returns the groups that meet the conditions of the request, in the order of the By fields.
func (a *aggregation) groups() ([]group, error) {
	for by := range a.request.By {
		a.positions[by] = a.groupers[by].positions()
	}
	type orderedGroup struct {
		at uint64 // in the By fields
		id int
	}
	a.steps.Reserve(bytesPerOrderedGroup * len(a.table.pairs))
	ids := make([]orderedGroup, len(a.table.pairs))
	a.steps.Blocks(0, len(ids), func(from, to int) {
		for id := from; id < to; id++ {
			ids[id] = orderedGroup{uint64(a.position(id, 0))<<32 | uint64(a.position(id, 1)), id}
		}
	})
	slices.SortFunc(ids, func(x, y orderedGroup) int {
		a.steps.Add(1)
		return cmp.Compare(x.at, y.at)
	})
	a.steps.Add(len(ids))
	all := make([]group, len(ids))
	for i, p := range ids {
		all[i].id = p.id
	}
	if a.request.Fill {
		fill, err := a.fill, error(nil)
		if len(a.request.By) > 1 {
			fill = a.fillPairs
		}
		all, err = fill(all)
		if err != nil {
			return nil, err
		}
	}
	if len(a.request.Having) > 0 {
		fields := a.request.ValueFields()
		all = slices.DeleteFunc(all, func(g group) bool { return !a.meets(g, fields) })
	}
	a.steps.Add(len(all))
	for i := range all {
		all[i].at = i
	}
	return all, nil
}

// position returns the position of a group among all groups of a By field.
func (a *aggregation) position(id, by int) uint32 {
	group := a.table.group(id, by)
	if positions := a.positions[by]; positions != nil {
		return positions[group]
	}
	return group
}

// label returns the label of a group in a By field.
func (a *aggregation) label(g group, by int) string {
	if g.id == noGroup && g.cell != nil {
		return g.cell.labels[by]
	}
	if g.id == noGroup {
		return g.label
	}
	return a.groupers[by].label(a.table.group(g.id, by))
}

// meets reports whether a group meets the conditions of the request on its measures.
func (a *aggregation) meets(g group, fields []herb.Field) bool {
	return !slices.ContainsFunc(a.request.Having, func(c query.Condition) bool {
		return !column.Meets(&fields[c.Field], a.value(c.Field, g.id), c)
	})
}

// page returns the groups at positions [from, to) in the order of the request.
func (a *aggregation) page(all []group, from, to int) []group {
	if len(a.request.Sort) == 0 {
		return all[from:to]
	}
	fields := a.request.ValueFields()
	keys := make([]measureKeys, len(a.request.Sort))
	for i, s := range a.request.Sort {
		if s.By < 0 {
			keys[i] = a.measureKeys(all, s.Measure, &fields[s.Measure])
		}
	}
	slices.SortFunc(all, func(x, y group) int {
		a.steps.Add(len(keys))
		for i, s := range a.request.Sort {
			c := 0
			if s.By >= 0 {
				c = a.compareLabels(x, y, s)
			} else {
				c = keys[i].compare(x.at, y.at, s.Desc)
			}
			if c != 0 {
				return c
			}
		}
		return cmp.Compare(x.at, y.at)
	})
	return all[from:to]
}

// measureKeys are the keys by which groups are sorted by a measure, by position of the group:
// integers if all values are integers in the same unit, or else texts, which take longer.
type measureKeys struct {
	integers []int64
	texts    []column.SortKey
}

func (k *measureKeys) compare(x, y int, desc bool) int {
	if k.integers == nil {
		return k.texts[x].Compare(k.texts[y], desc)
	}
	if desc {
		x, y = y, x
	}
	return cmp.Compare(k.integers[x], k.integers[y])
}

const bytesPerSortKey = 40 // of a measureKeys

func (a *aggregation) measureKeys(all []group, measure int, f *herb.Field) (k measureKeys) {
	a.steps.Add(len(all))
	m := a.request.Measures[measure]
	if m.Kind == query.MeasureCount || m.Kind == query.MeasureSum && a.fields[m.Field].sums.small != nil {
		a.steps.Reserve(8 * len(all))
		k.integers = make([]int64, len(all))
		for i, g := range all {
			switch {
			case g.id == noGroup: // 0
			case m.Kind == query.MeasureCount:
				k.integers[i] = int64(a.table.counts[g.id])
			default:
				k.integers[i] = a.fields[m.Field].sums.small[g.id]
			}
		}
		return k
	}
	a.steps.Reserve(bytesPerSortKey * len(all))
	k.texts = make([]column.SortKey, len(all))
	for i, g := range all {
		k.texts[i], _ = column.NewSortKey(f, a.value(measure, g.id))
		a.steps.Reserve(len(k.texts[i].Key))
	}
	return k
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
	switch {
	case x.cell != nil:
		c = cmp.Compare(x.cell.at[s.By], y.cell.at[s.By])
	case len(a.request.By) > 1:
		c = cmp.Compare(a.position(x.id, s.By), a.position(y.id, s.By))
	}
	if s.Desc {
		c = -c
	}
	return c
}

func (a *aggregation) isMissing(g group, by int) bool {
	if g.cell != nil {
		return g.cell.missing[by]
	}
	return g.id != noGroup && a.groupers[by].isMissing(a.table.group(g.id, by))
}

// value returns the value of a measure of a group.
func (a *aggregation) value(measure, id int) string {
	m := a.request.Measures[measure]
	value := a.compute(m, id)
	if value != "" && m.Field >= 0 && m.Kind.ResultType(a.input.Fields[m.Field].Type) == herb.TypeDuration {
		value = text.Localize(&a.input.Fields[m.Field], value)
	}
	a.steps.Add(valueSteps + len(value))
	return value
}

// valueSteps is the number of steps to compute a short value.
const valueSteps = 16

// compute computes a measure of a group. Durations are in canonical form.
func (a *aggregation) compute(m query.Measure, id int) string {
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
	case query.MeasureStdDev:
		return acc.sums.deviation(id, acc.filled[id])
	case query.MeasureRatio:
		return acc.sums.ratio(a.fields[m.Divisor].sums, id)
	case query.MeasureMedian:
		return acc.median(id)
	case query.MeasurePercentile:
		return acc.valueOf(acc.nearest[m.Percent][id])
	case query.MeasureMin:
		return acc.valueOf(acc.min[id])
	case query.MeasureMax:
		return acc.valueOf(acc.max[id])
	default:
		guard.Fail(fmt.Errorf("aggregates do not compute the measure %q", m.Kind))
		return ""
	}
}

// valueOf returns the value with a code: a number or a duration in canonical form, and others as
// written.
func (acc *accumulator) valueOf(code uint32) string {
	value := acc.dictionary.Value(code)
	switch acc.dictionary.Field.Type {
	case herb.TypeNumber, herb.TypeDuration:
		value, _ = text.Canonical(acc.dictionary.Field, value) // valid in a segment
	}
	return value
}

// median returns the exact median of a group, without zeros at the end of its fraction.
func (acc *accumulator) median(id int) string {
	if code := acc.middle[0][id]; code == acc.middle[1][id] {
		return trimDecimals(acc.valueOf(code))
	}
	sum := new(big.Rat)
	places := 0
	for _, codes := range acc.middle {
		canonical := acc.valueOf(codes[id])
		if text.DigitCount([]byte(canonical)) > text.MaxDigits {
			guard.Fail(errTooLong(acc.dictionary.Field))
		}
		v, _ := new(big.Rat).SetString(canonical) // valid in a segment
		sum.Add(sum, v)
		_, fraction, _ := strings.Cut(canonical, ".")
		places = max(places, len(fraction))
	}
	return trimDecimals(sum.Quo(sum, big.NewRat(2, 1)).FloatString(places + 1))
}

// trimDecimals removes zeros at the end of the fraction of a number in plain decimal notation.
func trimDecimals(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}
