package segmenttest

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// group is a group of records.
type group struct {
	labels  []label
	records []int
}

// label is the label of a group and its position.
type label struct {
	text    string
	missing bool
	place   parsedValue // of values and of intervals
}

// compare orders labels: missing values last, others in field order, equal ones by bytes.
//
// Rule: docs/api.md, "Labels and limits of groups".
func (l label) compare(m label, desc bool) int {
	if l.missing || m.missing {
		return cmp.Compare(boolInt(l.missing), boolInt(m.missing))
	}
	return directed(cmp.Or(l.place.compare(m.place), strings.Compare(l.text, m.text)), desc)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func directed(c int, desc bool) int {
	if desc {
		return -c
	}
	return c
}

// Aggregate implements query.Engine.
//
// Rule: docs/api.md, "Compute measures of groups".
func (o *Oracle) Aggregate(_ context.Context, r *query.AggregateRequest) (query.Aggregate, error) {
	if r.Zone != nil && !r.AnyZone && o.ignoresZone(r.By) {
		return query.Aggregate{}, r.ErrUnusedZone()
	}
	if err := o.check(r.Request); err != nil {
		return query.Aggregate{}, err
	}
	found := o.findAll(r.Request)
	slices.Sort(found)
	groups := []*group{{records: found}}
	for _, b := range r.By {
		var divided []*group
		for _, g := range groups {
			divided = append(divided, o.divide(g, b, r.Zone)...)
		}
		groups = divided
	}
	for i, b := range r.By {
		for _, g := range groups {
			o.trimZones(g.labels[i:i+1], b)
		}
	}
	groups = slices.DeleteFunc(groups, func(g *group) bool { return !isSelected(g, r.Labels) })
	slices.SortFunc(groups, compareLabels)
	if r.Fill {
		groups = o.fill(groups, r)
	}
	a := query.Aggregate{Total: len(found)}
	fields := r.ValueFields()
	var rows []measured
	for _, g := range groups {
		m := measured{group: g}
		for _, measure := range r.Measures {
			m.values = append(m.values, o.measure(g.records, measure))
		}
		if meetsAll(fields, m.values, r.Having) {
			rows = append(rows, m)
		}
	}
	a.Groups = len(rows)
	slices.SortStableFunc(rows, func(a, b measured) int {
		for _, s := range r.Sort {
			c := 0
			if s.By >= 0 {
				c = a.labels[s.By].compare(b.labels[s.By], s.Desc)
			} else {
				f := fields[s.Measure]
				c = compareForSort(parseValue(f, a.values[s.Measure]), parseValue(f, b.values[s.Measure]), s.Desc)
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	for i, m := range rows {
		if i < r.Offset || i >= r.Offset+r.Top {
			continue
		}
		row := query.GroupRow{By: []string{}, Values: m.values[:r.Returned]}
		for _, l := range m.labels {
			row.By = append(row.By, l.text)
		}
		a.Rows = append(a.Rows, row)
	}
	return a, nil
}

// StreamGroups implements query.Engine.
func (o *Oracle) StreamGroups(ctx context.Context, r *query.AggregateRequest) (query.GroupStream, error) {
	a, err := o.Aggregate(ctx, r)
	return a.Stream(), err
}

// fill adds groups without records to those that have some and are selected.
//
// Rule: docs/api.md, "Groups without records".
func (o *Oracle) fill(groups []*group, r *query.AggregateRequest) []*group {
	byIdentity := map[string]*group{}
	var occurring [query.MaxBy][]label // labels of each field, in order
	for _, g := range groups {
		byIdentity[identityOf(g.labels)] = g
		for i, l := range g.labels {
			if !slices.ContainsFunc(occurring[i], func(m label) bool {
				return l.missing == m.missing &&
					l.text == m.text
			}) {
				occurring[i] = append(occurring[i], l)
			}
		}
	}
	for i := range occurring {
		slices.SortFunc(occurring[i], func(l, m label) int { return l.compare(m, false) })
	}
	first := occurring[0]
	for _, l := range o.emptyLabels(first, r) {
		if len(r.Labels[0]) == 0 || slices.Contains(r.Labels[0], l.text) {
			first = append(first, l)
		}
	}
	slices.SortFunc(first, func(l, m label) int { return l.compare(m, false) })
	combined := [][]label{}
	for _, l := range first {
		if len(r.By) == 1 {
			combined = append(combined, []label{l})
		}
		for _, m := range occurring[1] {
			combined = append(combined, []label{l, m})
		}
	}
	var all []*group
	for _, labels := range combined {
		g := byIdentity[identityOf(labels)]
		if g == nil {
			g = &group{labels: labels}
		}
		all = append(all, g)
	}
	return all
}

// emptyLabels returns the labels of the intervals of the first field that do not occur: those
// between the first and the last one that do, or those of the whole cycle.
//
// Rule: docs/api.md, "Groups without records".
func (o *Oracle) emptyLabels(occurring []label, r *query.AggregateRequest) (empty []label) {
	b := r.By[0]
	cycle, isCycle := map[query.Grain][2]int64{
		query.GrainWeekday: {1, 7}, query.GrainMonthOfYear: {1, 12}, query.GrainHourOfDay: {0, 23},
	}[b.Grain]
	switch {
	case isCycle:
		for n := cycle[0]; n <= cycle[1]; n++ {
			l := numberLabel(n)
			if !slices.ContainsFunc(occurring, func(m label) bool { return m.text == l.text }) {
				empty = append(empty, l)
			}
		}
	case b.Grain != "" || b.Width != "":
		for i := 1; i < len(occurring) && !occurring[i].missing; i++ {
			next := nextLabel(occurring[i-1], b, o.fields[b.Field], r.Zone)
			for next.place.compare(occurring[i].place) < 0 {
				empty = append(empty, next)
				next = nextLabel(next, b, o.fields[b.Field], r.Zone)
			}
		}
	}
	o.trimZones(empty, b)
	return empty
}

func identityOf(labels []label) (id string) {
	for _, l := range labels {
		id += fmt.Sprintf("/%v %q", l.missing, l.text)
	}
	return id
}

// isSelected reports whether the labels of a group are among those that a request selects.
//
// Rule: docs/api.md, "Compute measures of groups".
func isSelected(g *group, selected [query.MaxBy][]string) bool {
	for i, l := range g.labels {
		if len(selected[i]) > 0 &&
			!slices.ContainsFunc(selected[i], func(s string) bool { return s == l.text && l.missing == (s == "") }) {
			return false
		}
	}
	return true
}

// measured is a group with its measures.
type measured struct {
	*group
	values herb.Record
}

// Rule: docs/api.md, "Labels and limits of groups".
func compareLabels(a, b *group) int {
	for i := range a.labels {
		if c := a.labels[i].compare(b.labels[i], false); c != 0 {
			return c
		}
	}
	return 0
}

// divide divides a group by a field. A record is in the groups of all elements of a list.
//
// Rule: docs/api.md, "Labels and limits of groups".
func (o *Oracle) divide(g *group, b query.By, zone *time.Location) (divided []*group) {
	f, groups := o.fields[b.Field], map[string]*group{}
	labelOf := memoize(func(value string) label { return o.label(b, value, zone) })
	for _, n := range g.records {
		value := o.records[n][b.Field]
		var labels []label
		if _, missing := missingPosition(f, value); missing {
			labels = []label{{missing: true}}
		} else {
			for _, part := range parts(f, value) {
				labels = append(labels, labelOf(part))
			}
			if len(labels) == 0 {
				labels = []label{{missing: true}}
			}
		}
		seen := map[string]bool{}
		for _, l := range labels {
			id := fmt.Sprint(l.missing, l.text)
			if seen[id] {
				continue
			}
			seen[id] = true
			if groups[id] == nil {
				groups[id] = &group{labels: append(slices.Clone(g.labels), l)}
				divided = append(divided, groups[id])
			}
			groups[id].records = append(groups[id].records, n)
		}
	}
	return divided
}

// label returns the label of a value that is not missing.
//
// Rule: docs/api.md, "Compute measures of groups".
func (o *Oracle) label(b query.By, value string, zone *time.Location) label {
	f := o.fields[b.Field]
	p := parseValue(f, value)
	switch {
	case b.Log:
		return logLabel(f, p.number, b.Width)
	case b.Width != "":
		return bucketLabel(f, p.number, b.Width)
	case b.Grain == query.GrainHourOfDay && f.Type == herb.TypeTime:
		hours := new(big.Rat).Quo(p.number, big.NewRat(10000, 1))
		return numberLabel(new(big.Int).Div(hours.Num(), hours.Denom()).Int64() % 24)
	case b.Grain != "" && f.Type == herb.TypeTime:
		return clockLabel(b.Grain, p.number)
	case b.Grain != "":
		t := p.time
		if zone != nil && f.Type == herb.TypeDateTime && isZoned(value) {
			t = t.In(zone)
		}
		return grainLabel(b.Grain, t)
	case f.Type.IsScalar():
		return label{text: o.written[b.Field]()[p.identity()], place: p}
	default:
		return label{text: value, place: p}
	}
}

// ignoresZone reports whether datetimes are grouped by grains and none of them has a zone.
//
// Rule: docs/api.md, "Compute measures of groups".
func (o *Oracle) ignoresZone(by []query.By) bool {
	ignores := false
	for _, b := range by {
		if b.Grain != "" && o.fields[b.Field].Type == herb.TypeDateTime {
			ignores = true
			if o.hasZone(b) {
				return false
			}
		}
	}
	return ignores
}

// trimZones removes the zone from the labels of hours of a field whose values have none.
//
// Rule: docs/api.md, "Compute measures of groups".
func (o *Oracle) trimZones(labels []label, b query.By) {
	if b.Grain != query.GrainHour || o.hasZone(b) {
		return
	}
	for i := range labels {
		labels[i].text = strings.TrimSuffix(labels[i].text, "Z")
	}
}

// hasZone reports whether one of the values of a field has a zone, as first written.
//
// Rule: docs/api.md, "Labels and limits of groups".
func (o *Oracle) hasZone(b query.By) bool {
	for _, value := range o.written[b.Field]() {
		if o.fields[b.Field].Type == herb.TypeDateTime && isZoned(value) {
			return true
		}
	}
	return false
}

// isZoned reports whether a datetime ends with a zone: after its time of day, there is a letter or
// a sign.
//
// Rule: docs/api.md, "Field types".
func isZoned(value string) bool {
	i := strings.Index(value, ":")
	return i >= 0 && strings.ContainsAny(value[i:], "Zz+-")
}

// bucketLabel returns the label of the bucket of a number: the greatest multiple of the width up to
// it.
//
// Rule: docs/api.md, "Labels and limits of groups".
func bucketLabel(f herb.Field, number *big.Rat, width string) label {
	w, _ := new(big.Rat).SetString(width)
	q := new(big.Rat).Quo(number, w)
	floor := new(big.Int).Div(q.Num(), q.Denom())
	lower := new(big.Rat).Mul(new(big.Rat).SetInt(floor), w)
	l := label{text: text.Localize(&f, plain(lower)), place: parsedValue{number: lower}}
	if f.Type == herb.TypeDuration {
		l.text = writeClock(lower)
	}
	return l
}

// logLabel returns the label of the logarithmic bucket of a number.
//
// Rule: docs/api.md, "Compute measures of groups".
func logLabel(f herb.Field, number *big.Rat, first string) label {
	lower := new(big.Rat)
	for edge := range logEdges(first) {
		if number.Sign() < 0 {
			lower = new(big.Rat).Neg(edge)
			if lower.Cmp(number) <= 0 {
				break
			}
			continue
		}
		if edge.Cmp(number) > 0 {
			break
		}
		lower = edge
	}
	return label{text: text.Localize(&f, plain(lower)), place: parsedValue{number: lower}}
}

// logEdges yields the positive bounds of logarithmic buckets in ascending order, without end.
//
// Rule: docs/api.md, "Compute measures of groups".
func logEdges(first string) iter.Seq[*big.Rat] {
	return func(yield func(*big.Rat) bool) {
		edge, _ := new(big.Rat).SetString(first)
		factors := []*big.Rat{big.NewRat(2, 1), big.NewRat(5, 2), big.NewRat(2, 1)}
		for i := 0; yield(edge); i++ {
			edge = new(big.Rat).Mul(edge, factors[i%3])
		}
	}
}

// plain returns a decimal number in plain notation, without zeros at the end of its fraction.
func plain(q *big.Rat) string {
	places, _ := q.FloatPrec()
	return q.FloatString(places)
}

// grainLabel returns the label of the interval of a time in its zone.
//
// Rule: docs/api.md, "Compute measures of groups".
func grainLabel(g query.Grain, t time.Time) label {
	year, month, day := t.Date()
	switch g {
	case query.GrainYear:
		return label{text: fmt.Sprintf("%04d", year), place: placeOf(year, 1, 1)}
	case query.GrainQuarter:
		q := (int(month) - 1) / 3
		return label{text: fmt.Sprintf("%04d-Q%d", year, q+1), place: placeOf(year, 3*q+1, 1)}
	case query.GrainMonth:
		return label{text: fmt.Sprintf("%04d-%02d", year, month), place: placeOf(year, int(month), 1)}
	case query.GrainWeek:
		monday := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		for monday.Weekday() != time.Monday {
			monday = monday.AddDate(0, 0, -1)
		}
		return label{text: monday.Format(time.DateOnly), place: parsedValue{time: monday}}
	case query.GrainDay:
		return label{text: t.Format(time.DateOnly), place: placeOf(year, int(month), day)}
	case query.GrainWeekday:
		days := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday,
			time.Sunday}
		return numberLabel(int64(slices.Index(days, t.Weekday()) + 1))
	case query.GrainMonthOfYear:
		return numberLabel(int64(month))
	case query.GrainHourOfDay:
		return numberLabel(int64(t.Hour()))
	default:
		for t.Minute() > 0 {
			t = t.Add(-time.Minute)
		}
		t = t.Add(-time.Duration(t.Second())*time.Second - time.Duration(t.Nanosecond()))
		return label{text: t.Format("2006-01-02T15:04Z07:00"), place: parsedValue{time: t.UTC()}}
	}
}

func numberLabel(n int64) label {
	return label{text: strconv.FormatInt(n, 10), place: parsedValue{number: big.NewRat(n, 1)}}
}

func placeOf(year, month, day int) parsedValue {
	return parsedValue{time: time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)}
}

// nextLabel returns the label of the interval after one.
//
// Rule: docs/api.md, "Groups without records".
func nextLabel(l label, b query.By, f herb.Field, zone *time.Location) label {
	t := l.place.time
	switch {
	case b.Log:
		number, before := l.place.number, new(big.Rat)
		for edge := range logEdges(b.Width) {
			if number.Cmp(new(big.Rat).Neg(edge)) == 0 {
				return logLabel(f, new(big.Rat).Neg(before), b.Width)
			}
			if number.Cmp(before) == 0 {
				return logLabel(f, edge, b.Width)
			}
			before = edge
		}
		panic("no bound of a logarithmic bucket")
	case b.Width != "":
		w, _ := new(big.Rat).SetString(b.Width)
		return bucketLabel(f, new(big.Rat).Add(l.place.number, w), b.Width)
	case f.Type == herb.TypeTime:
		return nextClockLabel(b.Grain, l.place.number)
	case b.Grain == query.GrainHour && zone != nil:
		return grainLabel(b.Grain, t.Add(time.Hour).In(zone))
	case b.Grain == query.GrainHour:
		return grainLabel(b.Grain, t.Add(time.Hour))
	}
	next := map[query.Grain][3]int{
		query.GrainYear: {1, 0, 0}, query.GrainQuarter: {0, 3, 0}, query.GrainMonth: {0, 1, 0},
		query.GrainWeek: {0, 0, 7}, query.GrainDay: {0, 0, 1},
	}[b.Grain]
	return grainLabel(b.Grain, t.AddDate(next[0], next[1], next[2]))
}

// measure computes a measure of some records.
//
// Rule: docs/api.md, "Measures".
func (o *Oracle) measure(records []int, m query.Measure) string {
	if m.Kind == query.MeasureCount {
		return strconv.Itoa(len(records))
	}
	if m.Kind == query.MeasureRatio {
		return o.ratio(records, m)
	}
	f, filled := o.fields[m.Field], 0
	distinct := map[string]bool{}
	var all []*big.Rat
	var values []counted // in dataset order
	decimals := 0
	for _, n := range records {
		value := o.records[n][m.Field]
		if _, missing := missingPosition(f, value); missing || len(parts(f, value)) == 0 {
			continue
		}
		filled++
		if f.Type == herb.TypeList {
			for _, part := range parts(f, value) {
				distinct[part] = true
			}
			continue
		}
		p, id := o.parsed[m.Field]()[n], value
		if f.Type.IsScalar() {
			id = p.identity()
			value = o.written[m.Field]()[id]
		}
		distinct[id] = true
		values = append(values, counted{query.ValueCount{Value: value}, p})
		switch f.Type {
		case herb.TypeDuration:
			all = append(all, p.number)
		case herb.TypeNumber:
			all = append(all, p.number)
			canonical, _ := text.Canonical(&f, value)
			_, fraction, _ := strings.Cut(canonical, ".")
			decimals = max(decimals, len(fraction))
		}
	}
	slices.SortStableFunc(values,
		func(a, b counted) int { return cmp.Or(a.place.compare(b.place), strings.Compare(a.Value, b.Value)) })
	at := func(i int) string { // a value that occurs
		switch f.Type {
		case herb.TypeDuration:
			return writeClock(values[i].place.number)
		case herb.TypeNumber:
			plain, _ := text.Canonical(&f, values[i].Value)
			return plain
		}
		return values[i].Value
	}
	switch {
	case m.Kind == query.MeasureFilled:
		return strconv.Itoa(filled)
	case m.Kind == query.MeasureDistinct:
		return strconv.Itoa(len(distinct))
	case m.Kind == query.MeasureSum && f.Type == herb.TypeDuration:
		return writeClock(addAll(all))
	case m.Kind == query.MeasureSum:
		return positiveZero(addAll(all).FloatString(decimals))
	case filled == 0:
		return ""
	case m.Kind == query.MeasureMean && f.Type == herb.TypeDuration:
		mean, _ := new(big.Rat).SetString(meanOf(all))
		return writeClock(mean)
	case m.Kind == query.MeasureMean:
		return meanOf(all)
	case m.Kind == query.MeasureStdDev && filled < 2:
		return ""
	case m.Kind == query.MeasureStdDev && f.Type == herb.TypeDuration:
		deviation, _ := new(big.Rat).SetString(deviationOf(all))
		return writeClock(deviation)
	case m.Kind == query.MeasureStdDev:
		return deviationOf(all)
	case m.Kind == query.MeasureMedian:
		a, b := values[(filled-1)/2].place.number, values[filled/2].place.number
		sum := new(big.Rat).Add(a, b)
		sum.Mul(sum, big.NewRat(1, 2))
		if f.Type == herb.TypeDuration {
			return writeClock(sum)
		}
		return plain(sum)
	case m.Kind == query.MeasurePercentile:
		rank := 1
		for 100*rank < m.Percent*filled {
			rank++
		}
		return at(rank - 1)
	case m.Kind == query.MeasureMin:
		return at(0)
	default:
		return at(filled - 1)
	}
}

func addAll(numbers []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for _, n := range numbers {
		sum.Add(sum, n)
	}
	return sum
}

// Rule: docs/api.md, "Measures".
func positiveZero(s string) string {
	if strings.Trim(s, "-0.") == "" {
		return strings.TrimPrefix(s, "-")
	}
	return s
}

// ratio returns the sum of a field divided by the sum of another one.
//
// Rule: docs/api.md, "Measures".
func (o *Oracle) ratio(records []int, m query.Measure) string {
	var all [2][]*big.Rat
	for i, field := range []int{m.Field, m.Divisor} {
		for _, n := range records {
			if p := o.parsed[field]()[n]; p.missing == 0 {
				all[i] = append(all[i], p.number)
			}
		}
	}
	divisor := addAll(all[1])
	if len(all[0]) == 0 || divisor.Sign() == 0 {
		return ""
	}
	return round(new(big.Rat).Quo(addAll(all[0]), divisor))
}

// deviationOf returns the sample standard deviation of at least two numbers, computed with 120
// digits.
//
// Rule: docs/api.md, "Measures".
func deviationOf(numbers []*big.Rat) string {
	mean := new(big.Rat).Quo(addAll(numbers), big.NewRat(int64(len(numbers)), 1))
	variance := new(big.Rat)
	for _, n := range numbers {
		d := new(big.Rat).Sub(n, mean)
		variance.Add(variance, d.Mul(d, d))
	}
	variance.Quo(variance, big.NewRat(int64(len(numbers)-1), 1))
	root := new(big.Float).SetPrec(400).SetRat(variance)
	deviation, _ := root.Sqrt(root).Rat(nil)
	return round(deviation)
}

// Rule: docs/api.md, "Measures".
func meanOf(numbers []*big.Rat) string {
	return round(new(big.Rat).Quo(addAll(numbers), big.NewRat(int64(len(numbers)), 1)))
}

// round returns a number with at most 15 significant digits, rounded half to even: it tries all
// numbers of decimals, the most first, for the first that has few enough digits.
//
// Rule: docs/api.md, "Measures".
func round(exact *big.Rat) string {
	if exact.Sign() == 0 {
		return "0"
	}
	// The magnitude: the power of ten of the first significant digit.
	magnitude, size := 0, new(big.Rat).Abs(exact)
	one, ten := big.NewRat(1, 1), big.NewRat(10, 1)
	for size.Cmp(ten) >= 0 {
		size.Quo(size, ten)
		magnitude++
	}
	for size.Cmp(one) < 0 {
		size.Mul(size, ten)
		magnitude--
	}
	unit := new(big.Rat).SetFloat64(1)
	for range max(magnitude-14, 0) {
		unit.Mul(unit, ten)
	}
	for range max(14-magnitude, 0) {
		unit.Quo(unit, ten)
	}
	q := new(big.Rat).Quo(exact, unit)
	floor := new(big.Int).Div(q.Num(), q.Denom())
	rest := new(big.Rat).Sub(q, new(big.Rat).SetInt(floor))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	return plain(new(big.Rat).Mul(new(big.Rat).SetInt(floor), unit))
}
