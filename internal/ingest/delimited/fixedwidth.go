package delimited

import (
	"bytes"
	"slices"
	"unicode/utf8"

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
}

// isFixed reports whether the columns have fixed widths.
func (d dialect) isFixed() bool { return len(d.Widths) > 0 }

// separates reports whether the dialect splits a line into values.
func (d dialect) separates() bool { return d.Delimiter != 0 || d.isFixed() }

// withWidths returns the dialect of columns with fixed widths. Quotes and escapes are data.
func (d dialect) withWidths(widths []int) dialect {
	d.Widths, d.Delimiter, d.Quote, d.Escape = widths, 0, 0, 0
	d.blanks = false
	return d
}

// scanFixed locates the values of the line at the start of buf.
func (s *scanner) scanFixed(buf []byte) (size int, err error) {
	s.spans, s.width = s.spans[:0], 0
	size, err = s.endRecord(buf, 0)
	if err != nil {
		return 0, err
	}
	line, _, _ := cutLine(buf[:size])
	if len(bytes.Trim(line, padding)) == 0 {
		return size, nil // a blank line
	}
	s.fixed.crossed = s.cut(line)
	if s.columns == 0 {
		s.cutNames(line)
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
	if utf8.RuneCount(bytes.TrimRight(line[start:], padding)) > s.d.Widths[last] {
		s.fixed.longer.add(s.record.Line)
	}
	return crossed
}

// cutNames cuts a line of names that are wider than their columns or not above them, after cut. If
// it is not known whether the line is a header, digits may be values that touch.
func (s *scanner) cutNames(line []byte) {
	lacksName := slices.ContainsFunc(s.spans, func(v span) bool { return v.start == v.end })
	isKnown := s.d.Header == rows.HeaderPresent || len(s.d.HeaderRows) > 0
	if !s.fixed.crossed && !lacksName || !isKnown && bytes.ContainsAny(line, "0123456789") {
		return
	}
	for _, blanks := range []int{2, 1} {
		if names := splitAtBlanks(line, blanks); len(names) == len(s.d.Widths) {
			s.spans, s.width, s.fixed.crossed = append(s.spans[:0], names...), len(names), false
			return
		}
	}
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
