package segmenttest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// notation returns a notation for the values of a type, mostly the standard one.
func (g *generator) notation(t herb.Type) (n herb.Notation) {
	if !t.IsScalar() {
		n.JSON = t == herb.TypeList && g.chance(40)
		return n
	}
	if g.chance(50) {
		switch t {
		case herb.TypeNumber:
			n = pick(g, []herb.Notation{
				{Group: ","}, {Group: ".", Decimal: ","}, {Group: " ", Decimal: ","}, {Group: "'"}, {Decimal: ","},
				{Affix: "£", Group: ","}, {Affix: "%"},
				{Padded: true},
			})
		case herb.TypeDate:
			n.DateFormat = pick(g, []string{"%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%b %d, %Y", "%m/%d/%Y|%m/%d/%y",
				"%Y-%m", "%b-%y|%b-%Y", "%YQ%q", "%G-W%V"})
		case herb.TypeDateTime:
			n.DateFormat = pick(g, []string{"%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M|%m/%d/%y %H:%M"})
		case herb.TypeDuration:
			n.DateFormat = text.MinutesSeconds
		case herb.TypeBoolean:
			n.True, n.False = []string{"1", "ja"}, []string{"0", "nein"}
		}
	}
	if g.chance(50) { // some markers are also values
		n.Missing = pick(g, [][]string{
			{"NA"}, {"--", "N/A", "NA"}, {"?"}, {"-1", "0", "2024-03-01", "F"}, {"100", "1900-01-01", "nein"},
			{"0:00", "12:00 AM"},
			// exceptions
			{"NA", "on request", "sold out, perhaps"}, strings.Fields("a b c d e f g h i j k l m o p q r s u v"),
		})
	}
	return n
}

// writeNumber writes a number in plain decimal notation in another notation.
func (g *generator) writeNumber(n herb.Notation, number string) string {
	minus := ""
	if rest, ok := strings.CutPrefix(number, "-"); ok {
		minus, number = "-", rest
	}
	whole, fraction, point := strings.Cut(number, ".")
	if n.Group != "" && g.chance(80) {
		size := 3
		if n.Group == "," {
			size = pick(g, []int{2, 3}) // in India, groups before the last have two digits
		}
		for at := len(whole) - 3; at > 0; at -= size {
			whole = whole[:at] + n.Group + whole[at:]
		}
	}
	if whole == "0" && fraction != "" && g.chance(20) {
		whole = ""
	}
	number = whole
	if point {
		number += "."
		if n.Decimal != "" {
			number = whole + n.Decimal
		}
		number += fraction
	} else if n.Decimal == "" && g.chance(3) {
		number += "."
	}
	if n.Padded && g.chance(50) && whole != "" {
		number = "00" + number
	}
	switch {
	case n.Affix == "£" && g.chance(80):
		number = n.Affix + number
	case n.Affix != "" && g.chance(80):
		number += pick(g, []string{"", " "}) + n.Affix
	case n.Group == "" && g.chance(10):
		number += pick(g, []string{"e0", "e+2", "E-3"})
	}
	if minus == "" && g.chance(5) {
		minus = "+"
	}
	number = minus + number
	if g.chance(3) {
		return " " + number + " "
	}
	return number
}

// writeDate writes a date with a time of day in one of the alternatives of a format; an empty
// format leaves the date unchanged. A year of two digits is written only if it can be read.
func (g *generator) writeDate(format, date string, clock time.Duration) string {
	if format == "" {
		return date
	}
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	format = pick(g, strings.Split(format, "|"))
	if d.Year() < 1969 || d.Year() > 2068 {
		format = strings.ReplaceAll(format, "%y", "%Y")
	}
	year, week := d.ISOWeek()
	periods := strings.NewReplacer("%q", strconv.Itoa((int(d.Month())+2)/3), "%G", fmt.Sprintf("%04d", year), "%V",
		fmt.Sprintf("%02d", week))
	return periods.Replace(d.Add(clock).Format(goDateFormat.Replace(format)))
}

func (g *generator) datetime(n herb.Notation) string {
	if n.DateFormat != "" {
		return g.writeDate(n.DateFormat, g.date(), time.Duration(g.IntN(1440))*time.Minute)
	}
	day := pick(g, []string{"2024-02-29", "2024-03-01", "2024-02-28"})
	if g.chance(20) {
		day = fmt.Sprintf("%04d-%02d-%02d", 1+g.IntN(9998), 1+g.IntN(12), 1+g.IntN(28))
	}
	if g.chance(5) {
		return day
	}
	s := fmt.Sprintf("%s%s%02d:%02d", day, pick(g, []string{"T", " "}), g.IntN(24), g.IntN(3))
	if g.chance(50) {
		s += fmt.Sprintf(":%02d", g.IntN(2)) + pick(g, []string{"", "", ".5", ".500", ".000000001"})
	}
	if len(g.zones) == len(fewZones()) {
		s = fmt.Sprintf("2024-03-01T%02d:00", g.IntN(3))
	}
	return s + pick(g, g.zones)
}

func (g *generator) boolean(n herb.Notation) string {
	if len(n.True) > 0 {
		return pick(g, append(n.True[:len(n.True):len(n.True)], n.False...))
	}
	return pick(g, []string{"true", "false", "TRUE", "Yes", "no", "t", "F", "y", "N"})
}
