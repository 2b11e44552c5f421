package delimited

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// padding are the characters around values in columns of fixed width.
const padding = " \t"

// fixedWidth collects what the lines of a table with columns of fixed width have in common. Widths
// count characters: a letter with an accent is one character in any encoding, and so is a tab or a
// wide East Asian character.
type fixedWidth struct {
	crossed  bool    // a value of the current line crosses the boundary of two columns
	crossing counter // records with such a value
	longer   counter // lines that are longer than all columns together
	longest  int     // characters of the longest value of the last column
}

// isFixed reports whether the columns have fixed widths.
func (d dialect) isFixed() bool { return len(d.Widths) > 0 }

// separates reports whether the dialect splits a line into values.
func (d dialect) separates() bool { return d.Delimiter != 0 || d.isFixed() }

// withWidths returns the dialect of columns with fixed widths. Quotes and escapes are data.
func (d dialect) withWidths(widths []int) dialect {
	d.Widths, d.Delimiter, d.Quote, d.Escape = widths, 0, 0, 0
	d.blanks, d.wide, d.double = false, false, false
	return d
}

// scanFixed locates the values of the line at the start of buf.
func (s *scanner) scanFixed(buf []byte) (size int, err error) {
	s.spans, s.width = s.spans[:0], 0
	if size, err = s.endRecord(buf, 0); err != nil {
		return 0, err
	}
	line, _, _ := cutLine(buf[:size])
	if len(bytes.Trim(line, padding)) == 0 {
		return size, nil // a blank line
	}
	s.fixed.crossed = s.cut(line)
	switch {
	case (s.columns == 0 || s.record.Line < s.d.firstRecord) && s.cutNames(line):
	case s.fixed.crossed && s.d.firstRecord > 0: // a title or a footnote, or else reading reports it
		s.spans, s.width = append(s.spans[:0], trimSpan(line, 0, len(line))), 1
	}
	return size, nil
}

// cut cuts a line into the values of the columns. It reports whether a value crosses the boundary
// of two columns.
func (s *scanner) cut(line []byte) (crossed bool) {
	start, last := 0, len(s.d.Widths)-1
	for _, width := range s.d.Widths[:last] {
		end := skipCharacters(line, start, width)
		crossed = crossed || end > start && end < len(line) && !isPadding(line[end-1]) && !isPadding(line[end])
		s.add(trimSpan(line, start, end))
		start = end
	}
	s.add(trimSpan(line, start, len(line)))
	n := utf8.RuneCount(bytes.TrimRight(line[start:], padding))
	if s.fixed.longest = max(s.fixed.longest, n); n > s.d.Widths[last] {
		s.fixed.longer.add(s.record.Line)
	}
	return crossed
}

// cutNames cuts a line of names that are wider than their columns or not above them, after cut. It
// reports false if the line is not such a header. If widths are given and it is not known whether
// the line is a header, digits may be values that touch.
func (s *scanner) cutNames(line []byte) bool {
	lacksName := slices.ContainsFunc(s.spans, func(v span) bool { return v.start == v.end })
	isKnown := s.d.firstRecord > 0 || s.d.Header == rows.HeaderPresent || len(s.d.HeaderRows) > 0
	if !s.fixed.crossed && !lacksName || !isKnown && bytes.ContainsAny(line, "0123456789") {
		return false
	}
	names := splitAtBlanks(line, 2)
	if words := splitAtBlanks(line, 1); len(names) != len(s.d.Widths) && s.fixed.crossed {
		if names = words; len(names) > len(s.d.Widths) {
			names = s.joinWords(line, words)
		}
	}
	if len(names) != len(s.d.Widths) {
		return false
	}
	s.spans, s.width, s.fixed.crossed = append(s.spans[:0], names...), len(names), false
	return true
}

// joinWords assigns each word to the column that it overlaps most. It returns nil if that leaves a
// column without a name.
func (s *scanner) joinWords(line []byte, words []span) (names []span) {
	column, start, end := 0, 0, skipCharacters(line, 0, s.d.Widths[0])
	for _, w := range words {
		for column+1 < len(s.d.Widths) && (w.start >= end || w.end-end > end-max(w.start, start)) {
			column, start = column+1, end
			if end = len(line); column+1 < len(s.d.Widths) {
				end = skipCharacters(line, start, s.d.Widths[column])
			}
		}
		switch len(names) {
		case column:
			names = append(names, w)
		case column + 1:
			names[column].end = w.end
		default:
			return nil
		}
	}
	return names
}

// splitAtBlanks locates the parts of a line between runs of at least a number of blanks.
func splitAtBlanks(line []byte, blanks int) (parts []span) {
	for pos := 0; pos < len(line); pos++ {
		if isPadding(line[pos]) {
			continue
		}
		if n := len(parts); n > 0 && pos-parts[n-1].end < blanks {
			parts[n-1].end = pos + 1
		} else {
			parts = append(parts, span{start: pos, end: pos + 1})
		}
	}
	return parts
}

// trimSpan locates the value between two positions, without the padding around it.
func trimSpan(line []byte, start, end int) span {
	for start < end && isPadding(line[start]) {
		start++
	}
	for end > start && isPadding(line[end-1]) {
		end--
	}
	return span{start: start, end: end}
}

func isPadding(c byte) bool { return c == ' ' || c == '\t' }

// skipCharacters returns the position that is n characters after pos, at most the end of the line.
func skipCharacters(line []byte, pos, n int) int {
	for ; n > 0 && pos < len(line); n-- {
		if line[pos] < utf8.RuneSelf {
			pos++
			continue
		}
		_, size := utf8.DecodeRune(line[pos:])
		pos += size
	}
	return pos
}

// crossesColumns returns the error for a record with a value that does not fit the columns that
// were found.
func (r *reader) crossesColumns() error {
	return herb.Invalidf("line %d: a value continues from one column of fixed width to the next; the columns begin at characters %s; "+
		"set widths to the widths of the columns, such as widths=%s, or delimiter if the widths are not fixed", r.record.Line, r.d.starts(), formatWidths(r.d.Widths))
}

// starts lists the characters at which the columns begin, from 1, for a message.
func (d dialect) starts() string {
	at, starts := 1, []int(nil)
	for _, w := range d.Widths {
		starts = append(starts, at)
		at += w
	}
	return rows.JoinSome(starts, strconv.Itoa)
}

// formatWidths returns widths as settings have them.
func formatWidths(widths []int) string {
	var list []string
	for _, w := range widths {
		list = append(list, strconv.Itoa(w))
	}
	return strings.Join(list, ",")
}
