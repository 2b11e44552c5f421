package review

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/kind"
	"herbarium/internal/text"
)

// DateReading is a way to read the values of a text column as dates. A column has several if its
// dates are ambiguous, and one if they are written in several notations.
type DateReading struct {
	Type     herb.Type // date or datetime
	Format   string    // see herb.Notation.DateFormat
	Examples []DateExample
}

// DateExample is a value of a column, one for each notation of a reading.
type DateExample struct {
	Value string
	Date  string // that it means, in ISO 8601
	Order string // of the notation: "day first", "month first" or "year first"
}

// Limits of the readings of a column.
const (
	maxReadings     = 3
	maxDateClocks   = 4
	maxNotationSets = 64  // different sets of notations of values
	readingTrial    = 100 // values after which a column is given up if few of them are dates
)

// dateColumn collects the notations that the dates of a text column have.
type dateColumn struct {
	position  int
	values    int
	dates     int // of these, values that are dates or datetimes
	withClock int // of these, datetimes
	clocks    []string
	sets      map[uint32]*notationSet // by the bits of kind.DateFormats that a value has
	isUnclear bool                    // some value cannot be read in one way, whatever the notation
	buf       []byte
}

// notationSet describes the values that have the same notations.
type notationSet struct {
	example     string
	isDistinct  bool // the notations give the example different dates
	long, short bool // some years have four digits, some two
}

// add adds a value.
func (c *dateColumn) add(v []byte) {
	if v = text.TrimBlanks(v); c.isUnclear || len(v) == 0 || kind.IsMissing(v) {
		return
	}
	if c.values++; c.values == readingTrial && 2*c.dates < c.values {
		c.isUnclear = true
	}
	if len(v) < kind.MinTime || len(v) > kind.MaxTime {
		return
	}
	date, clock := kind.CutClock(v, c.buf)
	set, isLong := notationsOf(date)
	if set == 0 {
		return
	}
	c.dates++
	if clock != nil {
		c.withClock++
		if c.buf = clock; !slices.Contains(c.clocks, string(clock)) {
			c.clocks = append(c.clocks, string(clock))
		}
	}
	known := c.sets[set]
	if known == nil {
		known = &notationSet{example: string(date)}
		c.sets[set] = known
	}
	if known.long, known.short = known.long || isLong, known.short || !isLong; !isLong {
		year := string(date[len(date)-2:])
		c.isUnclear = c.isUnclear || year >= "30" && year < "69"
	}
	if !known.isDistinct && bits.OnesCount32(set) > 1 && isDistinct(date, set) {
		known.isDistinct, known.example = true, string(date)
	}
	c.isUnclear = c.isUnclear || len(c.clocks) > maxDateClocks || len(c.sets) > maxNotationSets
}

// notationsOf returns the notations that a date has as bits of kind.DateFormats. isLong reports
// whether its year has four digits.
func notationsOf(date []byte) (set uint32, isLong bool) {
	for i, f := range kind.DateFormats() {
		switch {
		case text.MatchesDateFormat(f.Long, date):
			set, isLong = set|1<<i, true
		case f.IsShort(date):
			set |= 1 << i
		}
	}
	return set, isLong
}

// isDistinct reports whether notations give a date different meanings.
func isDistinct(date []byte, set uint32) bool {
	first := ""
	for i, f := range kind.DateFormats() {
		if set&(1<<i) != 0 {
			meaning := meaningOf(string(date), f)
			if first = cmp.Or(first, meaning); first != meaning {
				return true
			}
		}
	}
	return false
}

// meaningOf returns a date in ISO 8601 that is written in a notation.
func meaningOf(date string, f kind.DateFormat) string {
	format := f.Long
	if f.Short != "" {
		format += text.DateFormatSeparator + f.Short
	}
	meaning, _ := text.AppendPublished(nil, &herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: format}}, []byte(date))
	return string(meaning)
}

// readings returns the ways to read the column, unless there is none or it has been inferred.
func (c *dateColumn) readings() (all []DateReading) {
	isMixed := c.withClock > 0 && c.withClock < c.dates
	if c.isUnclear || isMixed || c.dates == 0 || nearShare*(c.values-c.dates) > c.values || c.mixesZones() {
		return nil
	}
	common := ^uint32(0)
	for set := range c.sets {
		common &= set
	}
	var notations [][]int
	formats := kind.DateFormats()
	each := formats[:]
	if common != 0 {
		for i := range each {
			if common&(1<<i) != 0 {
				notations = append(notations, []int{i})
			}
		}
		if len(notations) == 1 { // the other values are words
			return nil
		}
	} else {
		for i := range each {
			for j := i + 1; j < len(each); j++ {
				if c.isUnambiguous(i, j) {
					notations = append(notations, []int{i, j})
				}
			}
		}
	}
	for _, n := range notations[:min(len(notations), maxReadings)] {
		all = append(all, c.reading(n))
	}
	return all
}

// nearShare limits the values that are not dates: at most one value in nearShare.
const nearShare = 10

func (c *dateColumn) mixesZones() bool {
	zoned := 0
	for _, clock := range c.clocks {
		if strings.HasSuffix(clock, "%z") {
			zoned++
		}
	}
	return zoned > 0 && zoned < len(c.clocks)
}

// isUnambiguous reports whether every date has exactly one of two notations, and dates of later
// files will too. Dates with points begin with the day.
func (c *dateColumn) isUnambiguous(i, j int) bool {
	all := kind.DateFormats()
	withoutOrder := strings.NewReplacer("%d", "%m")
	if withoutOrder.Replace(all[i].Long) == withoutOrder.Replace(all[j].Long) {
		return false
	}
	for set := range c.sets {
		if bits.OnesCount32(set&(1<<i|1<<j)) != 1 {
			return false
		}
		for _, n := range []int{i, j} { // the notation with the day first is before this one
			if strings.HasPrefix(all[n].Long, "%m.") && set&(1<<n) != 0 && set&(1<<(n-1)) != 0 {
				return false
			}
		}
	}
	return true
}

// reading returns the reading of the column in one or two notations.
func (c *dateColumn) reading(notations []int) DateReading {
	r := DateReading{Type: herb.TypeDate}
	if c.withClock > 0 {
		r.Type = herb.TypeDateTime
	}
	var formats []string
	for _, n := range notations {
		f := kind.DateFormats()[n]
		var of notationSet // all values in this notation
		for _, set := range slices.Sorted(maps.Keys(c.sets)) {
			if s := c.sets[set]; set&(1<<n) != 0 {
				of.long, of.short = of.long || s.long, of.short || s.short
				if of.example == "" || s.isDistinct && !of.isDistinct {
					of.example, of.isDistinct = s.example, s.isDistinct
				}
			}
		}
		r.Examples = append(r.Examples, DateExample{of.example, meaningOf(of.example, f), orderOf(f.Long)})
		for _, w := range []struct {
			format string
			occurs bool
		}{{f.Long, of.long}, {f.Short, of.short}} {
			clocks := c.clocks
			if len(clocks) == 0 {
				clocks = []string{""}
			}
			for _, clock := range clocks {
				if w.occurs {
					formats = append(formats, w.format+clock)
				}
			}
		}
	}
	r.Format = strings.Join(formats, text.DateFormatSeparator)
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
