package value

import (
	"bytes"
	"unicode/utf8"

	"herbarium/internal/text"
)

// lists recognizes columns of lists: JSON arrays, or elements with commas between them.
type lists struct {
	json       bool // some value is JSON text
	arrays     int  // values that are JSON arrays of plain values
	hasText    bool // some of these arrays has a text
	isNotComma bool // some value has commas and is not a list

	isWritten, isJSON bool // see Profiler.SetList
	shortest, longest int  // characters of the arrays, written with commas
	buf               []byte
}

// observe adds a value without surrounding white space.
func (l *lists) observe(v []byte) {
	if v[0] != '[' && v[0] != '{' {
		l.isNotComma = l.isNotComma || bytes.IndexByte(v, ',') >= 0 && !isCommaList(v)
		return
	}
	l.json = true
	hasText, ok := text.IsTextArray(v)
	if !ok {
		return
	}
	l.arrays++
	l.hasText = l.hasText || hasText
	l.buf, ok = text.AppendList(l.buf[:0], v)
	if ok {
		length := utf8.RuneCount(l.buf)
		if l.longest == 0 {
			l.shortest = length
		}
		l.shortest, l.longest = min(l.shortest, length), max(l.longest, length)
	}
}

// isCommaList reports whether the commas of a value may separate elements: 1,200 is a number,
// "Acme, Inc." is a name, and "a"=>"1", "b"=>"2" is a set of pairs, as PostgreSQL writes it.
func isCommaList(v []byte) bool {
	for i := 1; i+1 < len(v); i++ {
		if v[i] == ',' && (v[i-1] == '.' || isDigit(v[i-1]) && isDigit(v[i+1])) {
			return false
		}
	}
	return v[len(v)-1] != '.' && !bytes.Contains(v, []byte(`"=>`))
}
