package columns

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// Chart is a chart that the columns of a version suggest.
type Chart struct {
	By      []int             // positions of the fields of the groups and of the split
	Grain   query.Grain       // of the groups; empty: a usual one
	Measure query.MeasureKind // the number of rows, a sum or a mean
	Fields  []int             // positions of the fields that it measures; several are drawn as series
}

// The limits of the charts that columns suggest.
const (
	MaxCharts     = 5
	mostColumns   = 5    // that are series
	mostPeriods   = 2000 // of an axis of time with one row each
	mostIntervals = 200  // of an axis of time with several
	fewestPeriods = 4    // that are an axis of time
	mostNames     = 30   // that are bars
)

// suggestCharts returns the charts that a person would draw of a table, the best first:
//
//  1. the columns of a wide table that are named by periods, as a line;
//  2. the measure over time, if there is one row per period, or per period and entity;
//  3. the sum of an amount per interval, or the number of rows, if rows are events;
//  4. bars of a category by the measure;
//  5. a histogram of the measure, or a scatter plot if nothing tells two numbers apart;
//  6. the number of rows by a category.
//
// The measure is the column that the table is evidently about. It is a sum if amounts add up.
func suggestCharts(d *Dataset) (all []Chart) {
	numbers, names, when := d.numbers(), d.names(), d.timeColumn()
	measure, isEvident := d.measureOf(numbers)
	add := func(fields []int, kind query.MeasureKind, by ...int) {
		all = append(all, Chart{By: by, Measure: kind, Fields: fields})
	}
	if periods := d.columnsByPeriod(); when < 0 && periods != nil {
		add(periods, d.kindOf(periods[0], true))
	}
	if when >= 0 {
		if c, ok := d.chartOverTime(when, numbers, measure, isEvident); ok {
			all = append(all, c)
		}
		if isFirst := len(all) == 1 && all[0].Measure == query.MeasureCount; !isFirst && !d.isEven(when) {
			add(nil, query.MeasureCount, when)
		}
	}
	for _, n := range names {
		r := d.Meanings[n].Report
		isFew, isUnique := r == nil || r.Distinct <= mostNames, r != nil && r.Distinct == r.Filled
		isID := r != nil && 2*r.Distinct > r.Filled && roles.Of(d.Fields[n].Name).IsCode()
		if measure >= 0 && isFew && (isEvident || isUnique) && !isID {
			add([]int{measure}, d.kindOf(measure, false), n)
		}
	}
	isLeft := len(all)+len(names) == 0
	isNumber := func(i int) bool { return d.Fields[i].Type == herb.TypeNumber }
	switch {
	case isLeft && !isEvident && len(numbers) > 1 && isNumber(numbers[0]) && isNumber(numbers[1]):
		add(nil, query.MeasureCount, numbers[:2]...)
	case isEvident:
		add(nil, query.MeasureCount, measure)
	case isLeft && len(d.Pairs) > 0 && !d.Pairs[0].IsOneField():
		add(nil, query.MeasureCount, d.Pairs[0].Longitude, d.Pairs[0].Latitude)
	}
	isPanel := len(all) > 0 && len(all[0].By) > 1
	for _, n := range names {
		if r := d.Meanings[n].Report; !isPanel && !d.isEven(n) && (r == nil || 2*r.Distinct <= r.Filled) {
			add(nil, query.MeasureCount, n)
		}
	}
	return all[:min(len(all), MaxCharts)]
}

// chartOverTime returns the chart of a column of times; ok is false if each has one row, and
// nothing to measure.
func (d *Dataset) chartOverTime(when int, numbers []int, measure int, isEvident bool) (c Chart, ok bool) {
	const many = 20 // rows of each period: all of a population rather than events
	r := d.Meanings[when].Report
	isOnce, isPopulation := d.isOncePer(when), r != nil && r.Filled >= many*r.Distinct
	if isPopulation && measure >= 0 {
		isPopulation = 10*d.Meanings[measure].Report.Filled >= 9*d.Records
	}
	grain, isRegular := d.periods(when, map[bool]int{true: mostPeriods, false: mostIntervals}[isOnce])
	entity, isExact := d.entity(when, isPopulation)
	isExact = isExact && (isRegular || d.Meanings[when].IsYear)
	over := func(columns []int, by ...int) (Chart, bool) {
		return Chart{by, grain, d.kindOf(columns[0], false), columns}, true
	}
	isSum := measure >= 0 && d.kindOf(measure, false) == query.MeasureSum
	group := d.columnsWithUnit(numbers, isOnce)
	switch {
	case isRegular && len(group) > 0 && (isOnce || isExact):
		return over(group, when)
	case measure < 0:
	case isRegular && isOnce:
		if !roles.IsResult(d.Fields[measure].Name) {
			measure = numbers[0]
		}
		return Chart{[]int{when}, grain, query.MeasureMean, []int{measure}}, true
	case isExact, isEvident && entity >= 0 && (isSum && isRegular || isPopulation):
		return over([]int{measure}, when, entity)
	case isEvident && (isSum || isPopulation), isRegular && d.isEven(when) && r.Filled < many*r.Distinct:
		return over([]int{measure}, when)
	}
	return Chart{By: []int{when}, Measure: query.MeasureCount}, !isOnce || !isRegular
}

// isName reports whether a column can be grouped by its values, of which there are two to most.
func (d *Dataset) isName(i, most int) bool {
	f, m := &d.Fields[i], d.Meanings[i]
	r := m.Report
	return f.Filterable && (m.Kind == KindText || m.Kind == KindList) && m.Mode == ModeValues &&
		(r == nil || 2 <= r.Distinct && r.Distinct <= most && 2*r.Filled >= d.Records && r.Longest <= LongText)
}

// names returns the columns with 2 to 30 values, those with more than two first, else those whose
// values have two rows or more on average.
func (d *Dataset) names() (all []int) {
	var pairs, many []int
	for i, m := range d.Meanings {
		switch r := m.Report; {
		case d.isName(i, 2) && r != nil:
			pairs = append(pairs, i)
		case d.isName(i, mostNames):
			all = append(all, i)
		case d.isName(i, ManyValues) && 2*r.Distinct <= r.Filled:
			many = append(many, i)
		}
	}
	if len(all)+len(pairs) == 0 {
		return many
	}
	return append(all, pairs...)
}

// numbers returns the columns that a chart can measure: numbers that vary, and are no codes, parts
// of dates, places in an order, or coordinates.
func (d *Dataset) numbers() (all []int) {
	for i, f := range d.Fields {
		m, role := d.Meanings[i], roles.Of(f.Name)
		r := m.Report
		isAxis := func(p Pair) bool { return p.Latitude == i || p.Longitude == i }
		const few, short = 10, 4 // values of a code; digits of a part of a date
		isOrdinal := (role == roles.Ordinal || role == roles.Date) && (r == nil || len(r.Max) <= short)
		isOther := slices.Contains([]roles.Role{roles.Birth, roles.Latitude, roles.Longitude, roles.Position}, role) ||
			slices.ContainsFunc(d.Pairs, isAxis)
		isCode := role == roles.None && r != nil && r.Decimals == 0 && r.Distinct < few && r.Distinct < r.Filled
		if f.Filterable && m.Kind == KindNumber && !m.IsCode && !isOther && !isOrdinal && !isCode &&
			(r == nil || r.Distinct > 2 && 2*r.Filled >= d.Records) {
			all = append(all, i)
		}
	}
	return all
}

// measureOf returns the number that a table is about, and whether this is evident: a total, an
// amount, a price, another measure, or the only number, unless it may identify the records. Without
// one it is the first number; -1: there is none.
func (d *Dataset) measureOf(numbers []int) (measure int, isEvident bool) {
	isKey := func(r *herb.ColumnReport) bool { return r != nil && r.Decimals == 0 && r.Distinct == r.Filled }
	for _, is := range []func(name string) bool{
		roles.IsResult,
		func(name string) bool { return roles.IsNumber(name) || roles.Of(name) == roles.Amount },
		roles.IsPrice,
		func(name string) bool { return roles.Of(name).IsMeasure() },
		func(string) bool { return len(numbers) == 1 && !isKey(d.Meanings[numbers[0]].Report) },
	} {
		if k := slices.IndexFunc(numbers, func(i int) bool { return is(d.Fields[i].Name) }); k >= 0 {
			return numbers[k], true
		}
	}
	if len(numbers) == 0 {
		return -1, false
	}
	return numbers[0], false
}

// kindOf returns how a chart measures a number: amounts add up, and so do whole numbers whose name
// is a period.
func (d *Dataset) kindOf(i int, isPeriod bool) query.MeasureKind {
	name, r := d.Fields[i].Name, d.Meanings[i].Report
	if roles.Of(name) == roles.Amount || roles.IsNumber(name) || isPeriod && r != nil && r.Decimals == 0 {
		return query.MeasureSum
	}
	return query.MeasureMean
}

// timeColumn returns the first column of dates or years, a date of birth only without another;
// -1: there is none.
func (d *Dataset) timeColumn() int {
	first := -1
	for i, f := range d.Fields {
		m := d.Meanings[i]
		r := m.Report
		isTime := m.Kind == KindDate && f.Type != herb.TypeTime || m.IsYear
		if !f.Filterable || !isTime || r != nil && (r.Distinct < fewestPeriods || 2*r.Filled < d.Records) {
			continue
		}
		if _, isBirth := roles.Stem(f.Name, roles.Birth); !isBirth {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// isEven reports whether the values of a column seem to be equally frequent, so that counts are the
// same: their number divides that of the records. A few values are no evidence.
func (d *Dataset) isEven(i int) bool {
	const few = 8
	r := d.Meanings[i].Report
	return r != nil && (d.isOncePer(i) || r.Distinct >= few && r.Filled%r.Distinct == 0)
}

// isOncePer reports whether nearly all values of a column have one row.
func (d *Dataset) isOncePer(i int) bool {
	r := d.Meanings[i].Report
	return r != nil && 10*r.Filled <= 11*r.Distinct
}

// periods returns the shortest grain of which the times of a column have at most so many intervals
// and not far more values than intervals, and whether they are regular: at least half of the
// periods between the first and the last have a row, or years have one row each.
func (d *Dataset) periods(i, most int) (g query.Grain, isRegular bool) {
	f, r := &d.Fields[i], d.Meanings[i].Report
	switch {
	case r == nil:
		return "", false
	case d.Meanings[i].IsYear:
		low, high, _ := ParseRange(f, r.Min, r.Max)
		return "", high-low < float64(2*r.Distinct) || d.isOncePer(i)
	case text.PrecisionOf(f) != text.PrecisionDay:
		return "", true
	}
	g = query.ShortestGrain(f, r.Min, r.Max, func(count int) bool {
		isRegular = isRegular || 10*r.Distinct <= 11*count+10 && count <= 2*r.Distinct
		return isRegular && count <= most
	})
	return g, isRegular
}

// entity returns the column whose values have rows in at least half of the periods on average, such
// as the countries of each year, and whether they have at most one each; -1: there is none.
func (d *Dataset) entity(when int, isPopulation bool) (entity int, isExact bool) {
	entity = -1
	times := d.Meanings[when].Report
	for i, f := range d.Fields {
		m := d.Meanings[i]
		if m.Kind != KindText || f.Type != herb.TypeText || m.Report == nil || times == nil ||
			!d.isName(i, ManyValues) || roles.Of(f.Name) == roles.Ordinal {
			continue
		}
		switch cells := m.Report.Distinct * times.Distinct; {
		case cells > 2*d.Records:
		case d.Records <= cells && (isPopulation && entity < 0 || 5*d.Records >= 4*cells):
			return i, true
		case entity < 0:
			entity = i
		}
	}
	return entity, false
}

// columnsByPeriod returns the numbers of a wide table: their names are years, other numbers, or
// periods such as Week 1, and differ by their digits only.
func (d *Dataset) columnsByPeriod() []int {
	return d.columnsAlike(func(i int) string {
		name, _, _ := strings.Cut(d.Fields[i].Name, ": ")
		isYear := func(digits string) bool {
			n, err := strconv.Atoi(digits)
			return err == nil && isYearNumber(float64(n))
		}
		isDigit := func(r rune) bool { return '0' <= r && r <= '9' }
		isOther := func(r rune) bool { return !isDigit(r) }
		numbers, words := strings.FieldsFunc(name, isOther), strings.FieldsFunc(name, isDigit)
		key := strings.Join(words, "#")
		isPeriod := key == "" || slices.ContainsFunc(numbers, isYear) || roles.Of(key) == roles.Ordinal
		if len(numbers) == 0 || !isPeriod || d.Fields[i].Type != herb.TypeNumber {
			return ""
		}
		return "#" + key
	})
}

// columnsWithUnit returns up to five numbers that share a unit: their names end with the same one,
// such as %, or nothing else says what a table with one row per period is about.
func (d *Dataset) columnsWithUnit(numbers []int, isOnce bool) []int {
	group := d.columnsAlike(func(i int) string {
		name := d.Fields[i].Name
		_, unit, _ := strings.Cut(name, ": ")
		if at := strings.LastIndex(name, "("); at > 0 && strings.HasSuffix(name, ")") {
			unit = name[at:]
		}
		if !slices.Contains(numbers, i) {
			return ""
		}
		return unit
	})
	isMeasure := func(i int) bool { return roles.Of(d.Fields[i].Name).IsMeasure() }
	if group == nil && isOnce && len(numbers) >= 3 && !slices.ContainsFunc(numbers, isMeasure) {
		group = numbers
	}
	return group[:min(len(group), mostColumns)]
}

// columnsAlike returns the first columns that have a key in common; nil if they are less than
// three.
func (d *Dataset) columnsAlike(keyOf func(i int) string) []int {
	groups := map[string][]int{}
	for i, f := range d.Fields {
		if key := keyOf(i); key != "" && f.Filterable {
			groups[key] = append(groups[key], i)
		}
	}
	for i := range d.Fields {
		if group := groups[keyOf(i)]; len(group) >= 3 {
			return group
		}
	}
	return nil
}

// isYearColumn reports whether the numbers of a column are years, perhaps with a fraction: its name
// says so, or all of them are of the last centuries.
func isYearColumn(f *herb.Field, r *herb.ColumnReport) bool {
	if f.Type != herb.TypeNumber || r == nil {
		return false
	}
	low, high, ok := ParseRange(f, r.Min, r.Max)
	_, isNamed := roles.Stem(f.Name, roles.Year)
	return ok && (isNamed && low >= -9999 && high < 3000 && high > 999 ||
		isYearNumber(low) && isYearNumber(high) && r.Longest == 4)
}

// isYearNumber reports whether a number is a year of the last centuries.
func isYearNumber(n float64) bool { return 1500 <= n && n <= 2200 }
