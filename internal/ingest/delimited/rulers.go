package delimited

import (
	"bytes"
	"regexp"
)

// maxBarLines is the number of lines in which bars are looked for.
const maxBarLines = 500

// inBars returns a dialect with bars between values as in the tables of Markdown, psql and MySQL:
// blanks around values are padding, quotes are data, and bars may be at both ends of a line. Rulers
// show such a table, or bars at both ends of every line.
func (s sample) inBars(d dialect) dialect {
	if d.Delimiter != '|' || d.double || s.options.Quote != 0 {
		return d
	}
	bars := d
	bars.bars = true
	withBars, framed, others, rulers := 0, 0, 0, 0
	for rest, n := s.text, 0; len(rest) > 0 && n < maxBarLines; n++ {
		line, after, found := cutLine(rest)
		rest = after
		switch line = bytes.Trim(line, padding); {
		case len(line) == 0 || !found && !s.all:
		case bars.isRuler(line):
			rulers++
		case bytes.IndexByte(line, '|') < 0:
			others++
		case len(line) > 1 && line[0] == '|' && line[len(line)-1] == '|':
			framed++
			withBars++
		default:
			withBars++
		}
	}
	bars.framed = framed > 1 && framed == withBars
	bars.ruled = rulers > 0 && withBars > 0
	if !bars.ruled && (!bars.framed || others > 0) {
		return d
	}
	bars.Quote = 0
	return bars
}

// isRuler reports whether a line separates a header from records: it has nothing but hyphens or
// equals signs, blanks and delimiters, and plus signs and colons between bars. A single hyphen
// stands for a missing value, so some run of a ruler is longer than two signs, or all have two. A
// single run in a delimited text is no ruler, because it may be above footnotes.
func (d dialect) isRuler(line []byte) bool {
	line = bytes.Trim(line, padding+"\r\n")
	if len(line) > 0 && (line[0] == '#' || line[0] == '%') {
		line = bytes.TrimLeft(line[1:], " ")
	}
	if len(line) == 0 || !d.separates() {
		return false
	}
	run, runs, singles, longest, hasColon := 0, 0, 0, 0, false
	for _, c := range line {
		switch {
		case c == '-' || c == '=':
			switch run++; run {
			case 1:
				runs++
				singles++
			case 2:
				singles--
			}
			longest = max(longest, run)
			continue
		case c == ':' && d.bars:
			hasColon = true
		case c == d.Delimiter || isPadding(c) || c == '+' && d.bars:
		default:
			return false
		}
		run = 0
	}
	if d.bars {
		return longest > 1 || hasColon && runs > 0
	}
	return longest > 2 && d.isFixed() || runs > 1 && (longest > 2 || singles == 0)
}

// isOutside reports whether a line is beside a table in bars: it has no bar although all rows have
// bars at both ends, or it is the number of rows that psql writes below a table.
func (d dialect) isOutside(line []byte) bool {
	return d.framed && bytes.IndexByte(line, '|') < 0 || d.ruled && rowCount.Match(line)
}

var rowCount = regexp.MustCompile(`^\(\d+ rows?\)\s*$`)
