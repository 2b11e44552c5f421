package columns

import (
	"slices"
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// Chart is a chart that the columns of a version suggest.
type Chart struct {
	By      []int // positions of the fields of the groups and of the split
	Measure int   // position of the field whose mean it shows; -1: it counts rows
}

// MaxCharts is how many charts the columns of a version suggest.
const MaxCharts = 5

// suggestCharts returns charts of the first column with times, of the columns with names and of
// the number that the table is about, the best first: means say more than numbers of rows. Counts
// of columns whose values are equally frequent are left out, because they are all the same.
func suggestCharts(d *Dataset) (all []Chart) {
	when, names, number := d.chartColumns()
	var series []int
	if when >= 0 {
		series = d.seriesOf(when)
	}
	mean := func(by ...int) {
		if number >= 0 {
			all = append(all, Chart{by, number})
		}
	}
	count := func(by ...int) {
		if series == nil && !slices.ContainsFunc(by, d.isEven) {
			all = append(all, Chart{by, -1})
		}
	}
	if when >= 0 {
		mean(append([]int{when}, series...)...)
		count(when)
	}
	if len(names) > 0 {
		mean(names[0])
	}
	if when >= 0 && len(names) > 0 {
		count(when, names[0])
	}
	if number >= 0 {
		all = append(all, Chart{[]int{number}, -1})
	}
	for k, n := range names {
		if k > 0 {
			mean(n)
		}
		count(n)
	}
	return all[:min(len(all), MaxCharts)]
}

// chartColumns returns the columns that charts are made of: the first one with dates, else with
// times of day, those with names in their order, and the number that the table is about, else the
// first one. -1 means that there is none.
func (d *Dataset) chartColumns() (when int, names []int, number int) {
	when, number = -1, -1
	for i, f := range d.Fields {
		m := d.Meanings[i]
		r := m.Report
		if !f.Filterable || r != nil && (r.Distinct < 2 || 2*r.Filled < d.Records) {
			continue
		}
		switch {
		case m.Kind == KindDate || m.IsYear:
			if when < 0 || d.Fields[when].Type == herb.TypeTime && f.Type != herb.TypeTime {
				when = i
			}
		case m.Kind == KindNumber && isQuantity(d, i):
			if number < 0 || isResult(f.Name) && !isResult(d.Fields[number].Name) {
				number = i
			}
		case isCodeName(f.Name):
		case m.Kind == KindText && m.Mode == ModeValues &&
			(r == nil || r.Distinct < d.Records && r.Longest <= LongText),
			m.Kind == KindList && (r == nil || r.Distinct <= ManyValues):
			names = append(names, i)
		}
	}
	return when, names, number
}

// isEven reports whether the values of a column seem to be equally frequent: their number divides
// that of the records. A few values are no evidence, nor are different times of day and dates.
func (d *Dataset) isEven(i int) bool {
	const few = 10
	r := d.Meanings[i].Report
	return r != nil && r.Distinct >= few && r.Filled%r.Distinct == 0 && d.Fields[i].Type != herb.TypeDateTime
}

// seriesOf returns the column of the names that each time has a record of, such as the countries of
// each year; nil if there is none.
func (d *Dataset) seriesOf(when int) []int {
	times := d.Meanings[when].Report
	if times == nil || !d.isEven(when) || times.Distinct == times.Filled {
		return nil
	}
	each := times.Filled / times.Distinct
	isSeries := func(f herb.Field) bool {
		i := herb.FieldIndex(d.Fields, f.Name)
		r := d.Meanings[i].Report
		isName := f.Filterable && f.Type == herb.TypeText && r != nil && r.Longest <= LongText
		return isName && each <= r.Distinct && r.Distinct <= 2*each
	}
	if i := slices.IndexFunc(d.Fields, isSeries); i >= 0 {
		return []int{i}
	}
	return nil
}

// isResult reports whether a name says that its column is what the table is about, such as the last
// one of several prices of a day.
func isResult(name string) bool { return HasWord(name, "value", "close", "total", "amount") }

// isQuantity reports whether the mean of a number column says something: it is no coordinate and
// numbers no rows.
func isQuantity(d *Dataset, i int) bool {
	isAxis := func(p Pair) bool { return p.Latitude == i || p.Longitude == i }
	if slices.ContainsFunc(d.Pairs, isAxis) || HasWord(d.Fields[i].Name, "rank", "index", "row", "unnamed") {
		return false
	}
	r := d.Meanings[i].Report
	if r == nil || !d.Meanings[i].IsCode {
		return true
	}
	const short = 3 // digits of ages or percentages
	return len(r.Max) <= short && !isSequence(r)
}

// ParseTime returns the time that a value of a date or datetime field represents.
func ParseTime(f *herb.Field, value string) (time.Time, bool) {
	canonical, status := text.Canonical(f, value)
	timeFormat := time.DateOnly
	if f.Type == herb.TypeDateTime {
		timeFormat = text.CanonicalDateTime
	}
	t, err := time.Parse(timeFormat, canonical)
	return t, status == text.Valid && err == nil
}

// isYearColumn reports whether the numbers of a column are years: its name says so, or all of them
// are of the last centuries.
func isYearColumn(f *herb.Field, r *herb.ColumnReport) bool {
	if f.Type != herb.TypeNumber || r == nil {
		return false
	}
	low, errLow := strconv.Atoi(r.Min)
	high, errHigh := strconv.Atoi(r.Max)
	if errLow != nil || errHigh != nil {
		return false
	}
	isNamed := roles.Of(f.Name) == roles.Year
	return isNamed && low >= -9999 && high < 3000 && high > 999 || low >= 1500 && high <= 2200 && r.Longest == 4
}
