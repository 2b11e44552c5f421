package delimited

import (
	"bytes"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
)

// value removes the escapes of a value, in place, and returns an empty one for the null value.
func (s *scanner) value(raw []byte, v span) []byte {
	cell := raw[v.start:v.end]
	if s.d.null != "" && string(cell) == s.d.null {
		return cell[:0]
	}
	if v.escaped {
		return s.unescape(cell, s.isQuoted(raw, v))
	}
	return cell
}

func (s *scanner) isQuoted(raw []byte, v span) bool {
	return s.d.quote != 0 && v.start > 0 && raw[v.start-1] == s.d.quote
}

// unescape removes escape characters and, in a quoted value, the first of two quotes.
func (s *scanner) unescape(b []byte, quoted bool) []byte {
	out := b[:0]
	for {
		i := s.indexEscape(b, quoted)
		if i < 0 || i+1 >= len(b) {
			return append(out, b...)
		}
		out = append(out, b[:i]...)
		if c := b[i+1]; b[i] == s.d.escape && s.d.lenient && !s.special[c] && c != s.d.quote {
			out = append(out, b[i])
		}
		out = append(out, b[i+1])
		b = b[i+2:]
	}
}

// indexEscape returns the position of the first escape in b, or quote if the value is quoted, -1 if there is none.
func (s *scanner) indexEscape(b []byte, quoted bool) int {
	i := -1
	if quoted {
		i = bytes.IndexByte(b, s.d.quote)
	}
	if s.d.escape == 0 || s.d.escape == s.d.quote {
		return i
	}
	if i >= 0 {
		b = b[:i]
	}
	if k := bytes.IndexByte(b, s.d.escape); k >= 0 {
		return k
	}
	return i
}

// quotedValue locates the value whose opening quote is at pos and returns the position after its closing quote.
func (s *scanner) quotedValue(pos int) (int, error) {
	open := pos
	rec := s.win.Bytes()
	v := span{start: pos + 1}
	pos++
	for checked := !s.d.literal; ; {
		i := s.indexEscape(rec[pos:], true)
		if !checked && (i < 0 || bytes.ContainsAny(rec[pos:pos+i], "\r\n")) {
			if checked = true; s.isLiteral(open) {
				return s.plainValue(open), nil
			}
			rec = s.win.Bytes()
			continue
		}
		if i < 0 {
			pos = len(rec)
			if !s.win.More() {
				if s.d.literal && s.win.Err() == nil {
					s.unpaired = true
					return s.plainValue(open), nil
				}
				return 0, s.failure(open)
			}
			rec = s.win.Bytes()
			continue
		}
		pos += i + 1
		if pos == len(rec) && s.win.More() {
			rec = s.win.Bytes()
		}
		if rec[pos-1] != s.d.quote { // an escape
			v.escaped = true
			pos = min(pos+1, len(rec))
			continue
		}
		if pos == len(rec) || rec[pos] != s.d.quote || !s.d.doubled {
			break
		}
		v.escaped = true
		pos++
	}
	v.end = pos - 1
	if pos < len(rec) && (!s.special[rec[pos]] || rec[pos] == s.d.escape) {
		if s.d.literal {
			return s.plainValue(open), nil
		}
		q := string(rune(s.d.quote))
		return 0, herb.Invalidf("line %d: text follows the closing quote of a value; write a quote inside a value twice (%s)",
			s.line+charset.CountLines(rec[:pos]), q+q)
	}
	s.add(v)
	return pos, nil
}

// literalLines is the number of lines that isLiteral examines.
const literalLines = 100

// isLiteral reports whether the quote at open, which is not closed in its line, is data. It is if every line up to the one
// with the next quote has as many values as the table has columns.
func (s *scanner) isLiteral(open int) bool {
	if s.columns == 0 || s.unpaired {
		return s.unpaired
	}
	from := 1 + bytes.LastIndexAny(s.win.Bytes()[:open], "\r\n")
	for n := range literalLines {
		end, ok := s.indexLineEnd(from)
		if !ok {
			return false
		}
		line := s.win.Bytes()[from:end]
		if 1+bytes.Count(line, []byte{s.d.delimiter}) != s.columns {
			return n > 0 && end == from && end == len(s.win.Bytes()) // the end of the text
		}
		if n == 0 {
			line = line[open-from+1:]
		}
		if bytes.IndexByte(line, s.d.quote) >= 0 {
			return n > 0
		}
		if end == len(s.win.Bytes()) {
			return true
		}
		from = s.lineEnd(end)
	}
	return true
}

// indexLineEnd returns the position of the first line end from a position, or of the end of the text.
func (s *scanner) indexLineEnd(from int) (end int, ok bool) {
	for {
		rec := s.win.Bytes()
		if i := bytes.IndexAny(rec[from:], "\r\n"); i >= 0 {
			return from + i, true
		}
		if !s.win.More() {
			return len(rec), s.win.Err() == nil
		}
	}
}
