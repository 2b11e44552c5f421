package value

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// maxReadings is the number of readings of a column of dates.
const maxReadings = 3

// maxDateSets is the number of different sets of notations that the dates of a column may have.
const maxDateSets = 64

// dateSet is a set of notations of dates, by their positions in dateFormats.
type dateSet uint32

func (s dateSet) has(format int) bool { return s&(1<<format) != 0 }

// datesOf describes the dates of a column that have the same set of notations.
type datesOf struct {
	set         dateSet
	example     string
	isDistinct  bool // the notations give the example different dates
	long, short bool // some years have four digits, some two
}

// notationsOf returns the notations that a date has. isLong reports whether its year has four
// digits.
func notationsOf(date []byte) (set dateSet, isLong bool) {
	date = text.CutWeekday(date)
	for i, f := range dateFormats() {
		isName, separator := f.Long[1] == 'b', f.Long[2]
		switch {
		case isName == isDigit(date[0]) || bytes.IndexByte(date, separator) < 1:
		case text.MatchesDateFormat(f.Long, date):
			set, isLong = set|1<<i, true
		case f.IsShort(date):
			set |= 1 << i
		}
	}
	return set, isLong
}

// addDate adds a date to those with its set of notations.
func (t *dates) addDate(date []byte, set dateSet, isLong bool) {
	i := slices.IndexFunc(t.sets, func(d datesOf) bool { return d.set == set })
	if i < 0 {
		if len(t.sets) == maxDateSets {
			t.isUnclear = true
			return
		}
		i = len(t.sets)
		t.sets = append(t.sets, datesOf{set: set, example: string(date)})
	}
	t.common &= set
	if len(t.sets) == 1 {
		t.common = t.sets[0].set
	}
	known := &t.sets[i]
	known.long, known.short = known.long || isLong, known.short || !isLong
	if !known.isDistinct && bits.OnesCount32(uint32(set)) > 1 && isDistinct(date, set) {
		known.isDistinct, known.example = true, string(date)
	}
}

// isDistinct reports whether notations give a date different meanings.
func isDistinct(date []byte, set dateSet) bool {
	first := ""
	for i, f := range dateFormats() {
		if set.has(i) {
			meaning := meaningOf(string(date), f)
			first = cmp.Or(first, meaning)
			if first != meaning {
				return true
			}
		}
	}
	return false
}

// meaningOf returns a date in ISO 8601 that is written in a notation.
func meaningOf(date string, f dateFormat) string {
	format := f.Long
	if f.Short != "" {
		format += text.DateFormatSeparator + f.Short
	}
	meaning, _ := text.AppendPublished(nil,
		&herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: format}}, []byte(date))
	return string(meaning)
}

// notations returns the ways to read a column of values as dates: in each of several notations that
// all dates have, or in two notations of which each date has one. At most one value in maxShare is
// not a date.
func (t *dates) notations(values int) (all []herb.DateNotation) {
	dates := t.dates + t.withClock
	isMixed := t.withClock > 0 && t.dates > 0
	if t.isUnclear || t.centuryAmbiguous || isMixed || len(t.clocks) > maxClocks || dates == 0 ||
		maxShare*(values-dates) > values || t.mixesZones() {
		return nil
	}
	var notations [][]int
	formats := dateFormats()
	inferred := formats[:]
	if t.common != 0 {
		for i := range inferred {
			if t.common.has(i) {
				notations = append(notations, []int{i})
			}
		}
		if len(notations) == 1 { // other values prevent the type
			return nil
		}
	} else if t.notISO {
		for i := range inferred {
			for j := i + 1; j < len(inferred); j++ {
				if t.isUnambiguous(i, j) {
					notations = append(notations, []int{i, j})
				}
			}
		}
	}
	for _, n := range notations[:min(len(notations), maxReadings)] {
		all = append(all, t.notation(n))
	}
	return all
}

// isUnambiguous reports whether every date has exactly one of two notations, and dates of later
// files will too. Dates with points begin with the day.
func (t *dates) isUnambiguous(i, j int) bool {
	all := dateFormats()
	isMonthFirst := func(n int) bool { return strings.HasPrefix(all[n].Long, "%m.") }
	withoutOrder := strings.NewReplacer("%d", "%m")
	if withoutOrder.Replace(all[i].Long) == withoutOrder.Replace(all[j].Long) {
		return false
	}
	for _, d := range t.sets {
		if d.set.has(i) == d.set.has(j) {
			return false
		}
		for n, f := range all {
			isDayFirst := f.Long == "%d.%m.%Y" && d.set.has(n)
			if isDayFirst && (isMonthFirst(i) && d.set.has(i) || isMonthFirst(j) && d.set.has(j)) {
				return false
			}
		}
	}
	return true
}

// notation returns the reading of the column in one or two notations.
func (t *dates) notation(notations []int) herb.DateNotation {
	r := herb.DateNotation{Type: herb.TypeDate}
	if t.withClock > 0 {
		r.Type = herb.TypeDateTime
	}
	var formats []string
	for _, n := range notations {
		f := dateFormats()[n]
		var of datesOf // all dates in this notation
		for _, d := range t.sets {
			if d.set.has(n) {
				of.long, of.short = of.long || d.long, of.short || d.short
				if of.example == "" || d.isDistinct && !of.isDistinct {
					of.example, of.isDistinct = d.example, d.isDistinct
				}
			}
		}
		r.Examples = append(r.Examples, herb.DateExample{Value: of.example, Date: meaningOf(of.example, f),
			Order: orderOf(f.Long)})
		formats = append(formats, written(f, of.long, of.short)...)
	}
	r.Format = t.withClocks(formats)
	return r
}

// orderOf returns what a notation begins with, in words.
func orderOf(format string) string {
	day, month, year := strings.Index(format, "%d"), strings.IndexAny(format, "mb"), strings.Index(format, "%Y")
	switch min(day, month, year) {
	case day:
		return "day first"
	case year:
		return "year first"
	}
	return "month first"
}
