package columns

import (
	"cmp"
	"math"
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

const (
	// MaxCharts is how many charts the columns of a version suggest.
	MaxCharts = 5
	// maxAxes and maxQuantities limit the columns that are combined, so that a table of hundreds of
	// columns takes no longer than one of twenty.
	maxAxes       = 8
	maxQuantities = 16
)

// How many values a reader can tell apart on the parts of a chart.
const (
	timesApart  = 64
	namesApart  = 20
	binsApart   = 20
	levelsApart = 16 // heights of points or bars
	linesApart  = 4
	rowsApart   = 12 // of a heat map
)

// chartAxes are the columns that charts are made of, the best first.
type chartAxes struct {
	*Dataset
	times      []int
	names      []int // groups
	unique     int   // column whose values name the records; -1: none
	quantities []int
}

// bits is the information of a column of a chart: the logarithm of the number of its values that
// a reader can tell apart there, times the share of records with a value.
func (a *chartAxes) bits(i, apart int) float64 {
	r := a.Meanings[i].Report
	if r == nil { // nothing is known of it
		return 0
	}
	return math.Log2(float64(max(1, min(r.Distinct, apart)))) * float64(r.Filled) / float64(max(1, a.Records))
}

// information scores a chart: the sum of the bits of its columns. Columns that charts before it
// show count half, so that the charts of a version differ.
func (a *chartAxes) information(c Chart, shown map[int]bool) (sum float64) {
	add := func(i, apart int) {
		bits := a.bits(i, apart)
		if shown[i] {
			bits /= 2
		}
		sum += bits
	}
	for at, i := range c.By {
		switch {
		case at > 0 && c.Measure >= 0:
			add(i, linesApart)
		case at > 0:
			add(i, rowsApart)
		case slices.Contains(a.times, i):
			add(i, timesApart)
		case slices.Contains(a.quantities, i):
			add(i, binsApart)
		default:
			add(i, namesApart)
		}
	}
	if c.Measure >= 0 {
		add(c.Measure, levelsApart)
	}
	return sum
}

// suggestCharts returns the charts with the most information, the best first. Row numbers,
// identifiers, columns that repeat another one, and counts that are the same for all groups are
// not among them, nor are charts that look like one before them.
func suggestCharts(d *Dataset) (best []Chart) {
	a := newChartAxes(d)
	candidates, shown := a.candidates(), map[int]bool{}
	for len(best) < MaxCharts && len(candidates) > 0 {
		at, highest := 0, -1.0
		for k, c := range candidates {
			if score := a.information(c, shown); score > highest {
				at, highest = k, score
			}
		}
		c := candidates[at]
		candidates = slices.DeleteFunc(candidates, func(other Chart) bool { return a.looksLike(other, c) })
		best = append(best, c)
		for _, i := range append(c.By, c.Measure) {
			shown[i] = true
			for _, q := range a.quantities {
				shown[q] = shown[q] || a.isAlike(q, i)
			}
		}
	}
	return best
}

// looksLike reports whether two charts are the same but for columns with about the same numbers.
func (a *chartAxes) looksLike(c, other Chart) bool {
	return slices.EqualFunc(c.By, other.By, a.isAlike) && a.isAlike(c.Measure, other.Measure)
}

// isAlike reports whether two columns are the same or seem to measure the same, as opening and
// closing prices do: they have many numbers in nearly the same range.
func (d *Dataset) isAlike(i, k int) bool {
	const many, near = 100, 20 // the ends of the ranges differ by at most one part in near
	if i == k || i < 0 || k < 0 {
		return i == k
	}
	r, o := d.Meanings[i].Report, d.Meanings[k].Report
	if d.Fields[i].Type != herb.TypeNumber || d.Fields[k].Type != herb.TypeNumber || r == nil || o == nil || min(r.Distinct, o.Distinct) < many {
		return false
	}
	low, high, ok := ParseRange(&d.Fields[i], r.Min, r.Max)
	otherLow, otherHigh, otherOK := ParseRange(&d.Fields[k], o.Min, o.Max)
	apart := max(high-low, otherHigh-otherLow) / near
	return ok && otherOK && math.Abs(low-otherLow) <= apart && math.Abs(high-otherHigh) <= apart
}

// candidates returns all charts that can be suggested. Of equal ones the first is preferred.
func (a *chartAxes) candidates() (all []Chart) {
	flat := map[int]bool{} // columns whose values are equally frequent
	for _, t := range a.times {
		if e := a.entityAt(t); e >= 0 {
			flat[t], flat[e] = true, true
			for _, q := range a.quantities {
				all = append(all, Chart{[]int{t, e}, q})
			}
		}
		flat[t] = flat[t] || a.isRegular(t)
	}
	for _, t := range a.times {
		for _, q := range a.quantities {
			all = append(all, Chart{[]int{t}, q})
		}
	}
	named := a.names
	if a.unique >= 0 {
		named = append(slices.Clip(named), a.unique)
	}
	for _, n := range named {
		for _, q := range a.quantities {
			all = append(all, Chart{[]int{n}, q})
		}
	}
	count := func(by ...int) {
		if !slices.ContainsFunc(by, func(i int) bool { return flat[i] || a.isBalanced(i) }) {
			all = append(all, Chart{by, -1})
		}
	}
	for _, t := range a.times {
		count(t)
	}
	for k, n := range a.names {
		count(n)
		for _, t := range a.times {
			count(t, n)
		}
		for _, other := range a.names[k+1:] {
			count(n, other)
		}
	}
	for _, q := range a.quantities {
		all = append(all, Chart{[]int{q}, -1})
	}
	return all
}

func newChartAxes(d *Dataset) *chartAxes {
	a := &chartAxes{Dataset: d, unique: -1}
	for i, f := range d.Fields {
		m := d.Meanings[i]
		r := m.Report
		if !f.Filterable || r != nil && (r.Distinct < 2 || 2*r.Filled < d.Records) {
			continue
		}
		switch {
		case m.Kind == KindDate || m.IsYear:
			a.times = append(a.times, i)
		case m.Kind == KindNumber && isQuantity(d, i):
			a.quantities = append(a.quantities, i)
		case isCodeName(f.Name):
		case m.Kind == KindText && m.Mode == ModeValues && (r == nil || r.Distinct < d.Records && r.Longest <= LongText):
			a.names = append(a.names, i)
		case m.Kind == KindList && (r == nil || r.Distinct <= ManyValues):
			a.names = append(a.names, i)
		case i == d.Naming && f.Type == herb.TypeText && m.Kind == KindText && r != nil && r.Longest <= LongText:
			a.unique = i
		}
	}
	a.names = a.withoutPairs(a.names)
	a.quantities = slices.DeleteFunc(a.quantities, func(i int) bool {
		return slices.ContainsFunc(a.names, func(n int) bool { return a.isPair(n, i) })
	})
	byBits := func(apart int) func(i, k int) int {
		return func(i, k int) int { return cmp.Compare(a.bits(k, apart), a.bits(i, apart)) }
	}
	slices.SortStableFunc(a.times, func(i, k int) int {
		return cmp.Or(boolOrder(d.Fields[i].Type == herb.TypeTime, d.Fields[k].Type == herb.TypeTime), byBits(timesApart)(i, k))
	})
	slices.SortStableFunc(a.names, byBits(namesApart))
	slices.SortStableFunc(a.quantities, func(i, k int) int {
		return cmp.Or(boolOrder(isResult(d.Fields[k].Name), isResult(d.Fields[i].Name)), byBits(levelsApart)(i, k))
	})
	a.times, a.names = a.times[:min(len(a.times), maxAxes)], a.names[:min(len(a.names), maxAxes)]
	a.quantities = a.quantities[:min(len(a.quantities), maxQuantities)]
	return a
}

// boolOrder orders false before true.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
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

// entityAt returns the column that, together with an axis of time, identifies the records: most
// combinations of their values occur once. It is -1 if there is none. Names are preferred to codes.
func (a *chartAxes) entityAt(t int) int {
	const sparse = 4 // combinations per record
	times := a.Meanings[t].Report
	if times == nil || 2*times.Distinct > times.Filled { // few times have several records
		return -1
	}
	best, rank := -1, -1
	for i, f := range a.Fields {
		r := a.Meanings[i].Report
		isName := f.Filterable && a.Meanings[i].Kind == KindText && f.Type == herb.TypeText && r != nil
		if !isName || r.Distinct < 2 || 2*r.Distinct > r.Filled || 10*r.Filled < 9*a.Records || r.Longest > LongText {
			continue
		}
		combinations := float64(r.Distinct) * float64(times.Distinct)
		if combinations < .95*float64(a.Records) || combinations > sparse*float64(a.Records) {
			continue
		}
		n := r.Longest
		if isCodeName(f.Name) {
			n = 0
		}
		if n > rank {
			best, rank = i, n
		}
	}
	return best
}

// isPair reports whether two columns have a value of each other, as names and codes do. Few values
// of equal number are no evidence.
func (a *chartAxes) isPair(i, k int) bool {
	const few = 10
	r, o := a.Meanings[i].Report, a.Meanings[k].Report
	return r != nil && o != nil && r.Distinct == o.Distinct && r.Filled == o.Filled && r.Distinct >= few && r.Distinct < r.Filled
}

// withoutPairs leaves out the columns that repeat another one. The one with longer values stays.
func (a *chartAxes) withoutPairs(fields []int) (kept []int) {
	for _, i := range fields {
		at := slices.IndexFunc(kept, func(k int) bool { return a.isPair(i, k) })
		switch {
		case at < 0:
			kept = append(kept, i)
		case a.Meanings[i].Report.Longest > a.Meanings[kept[at]].Report.Longest:
			kept[at] = i
		}
	}
	return kept
}

// isBalanced reports whether all values of a column seem to be equally frequent: their number
// divides that of the records.
func (a *chartAxes) isBalanced(i int) bool {
	const few = 10
	r := a.Meanings[i].Report
	return r != nil && r.Distinct >= few && r.Filled%r.Distinct == 0 && a.Meanings[i].Kind == KindText
}

// isRegular reports whether the times of a column have equal distances, as measurements do: a chart
// of their number is flat.
func (a *chartAxes) isRegular(i int) bool {
	f, r := &a.Fields[i], a.Meanings[i].Report
	if r == nil || r.Distinct != r.Filled || r.Distinct < 2 {
		return false
	}
	if a.Meanings[i].IsYear {
		return true
	}
	from, okFrom := ParseTime(f, r.Min)
	to, okTo := ParseTime(f, r.Max)
	if !okFrom || !okTo {
		return false
	}
	const day = 24 * time.Hour
	gap := to.Sub(from) / time.Duration(r.Distinct-1)
	if f.Type == herb.TypeDate && gap < 2*day { // days, or the days of work
		return true
	}
	for _, unit := range []time.Duration{
		time.Second, time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, day, 7 * day,
		730 * time.Hour, 2190 * time.Hour, 8766 * time.Hour,
	} {
		if difference := gap - unit; difference.Abs() < unit/50 {
			return true
		}
	}
	return false
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
