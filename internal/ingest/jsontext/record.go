package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// readObject reads the object at the current position into the columns of the record. Objects in it
// are flattened: the names of their columns are paths. prefix is the part of r.path that all its
// members have in common.
func (r *reader) readObject(prefix int) {
	r.object(false, func(name span) {
		r.path = append(r.path[:prefix], r.content(name)...)
		r.readMember()
	})
}

func (r *reader) readMember() {
	m := r.enterMember()
	c, _ := r.peekToken()
	structure := "" // the name of a member that GeoJSON defines
	if r.feature && r.depth == 1 {
		structure = string(r.path)
	}
	var s span
	var k kinds
	if c == '{' && structure != "geometry" {
		size, start := len(r.path), r.pos
		r.path = append(r.path, pathSeparator)
		r.readObject(size + 1)
		r.path = r.path[:size]
		if r.err != nil || len(bytes.TrimSpace(r.rec[start+1:r.pos-1])) > 0 {
			return
		}
	} else {
		s, k = r.readValue()
	}
	if r.err != nil || structure == "type" && string(r.content(s)) == "Feature" || structure == "properties" &&
		s == (span{}) {
		return
	}
	if m.column == 0 {
		r.addColumn(m, r.memberName())
	}
	r.set(m, s, k)
}

// readValue reads a value that is not flattened. null is empty and has no kind.
func (r *reader) readValue() (span, kinds) {
	switch c, _ := r.peekToken(); c {
	case '"':
		s := r.quotedText(false)
		if len(bytes.Trim(r.content(s), "0123456789")) == 0 {
			return s, kindText
		}
		return s, kindText | kindWord
	case '[', '{':
		return r.readNested()
	case 'n':
		r.literal()
		return span{}, 0
	case 't', 'f':
		return r.literal(), kindBoolean
	}
	return r.literal(), kindNumber
}

// readNested reads an array, or an object that is not flattened, and writes over it compact JSON,
// which is never longer. An empty array is empty.
func (r *reader) readNested() (span, kinds) {
	start := r.pos
	r.skip()
	if r.err != nil {
		return span{}, 0
	}
	raw := r.rec[start:r.pos]
	compact, isNested := r.appendCompact(r.buf[:0], raw)
	r.buf = compact
	switch {
	case string(compact) == "[]":
		return span{}, 0
	case isNested:
		return span{start, start + copy(raw, compact)}, kindJSON
	}
	return span{start, start + copy(raw, compact)}, kindArray
}

// appendCompact appends JSON without white space between its tokens. Characters that JSON need not
// escape are written as they are, so that search finds what their escapes mean. isNested reports
// whether raw is anything else than an array of plain values.
func (r *reader) appendCompact(out, raw []byte) (_ []byte, isNested bool) {
	isNested = raw[0] == '{'
	for inText, depth := false, 0; len(raw) > 0; {
		c, size := raw[0], 1
		switch {
		case inText && c == '\\':
			size = escapeSize(raw)
			from := len(out)
			out = r.unescape(out, raw[:size])
			if c := out[from]; c < ' ' || c == '"' || c == '\\' {
				out = append(out[:from], raw[:size]...)
			}
		case !inText && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
		default:
			if !inText && (c == '[' || c == '{') {
				depth++
				isNested = isNested || depth > 1
			}
			inText = inText != (c == '"')
			out = append(out, c)
		}
		raw = raw[size:]
	}
	return out, isNested
}

// escapeSize returns the length of the escape at the start of valid JSON. A surrogate pair is one
// escape.
func escapeSize(b []byte) int {
	switch {
	case b[1] != 'u':
		return 2
	case utf16.IsSurrogate(hexRune(b[2:])):
		return 12
	}
	return 6
}

// elementName returns the name of the column of an element of records that are arrays.
func (r *reader) elementName(number int) string {
	if number <= len(r.columns) {
		return r.columns[number-1].Name
	}
	return "column_" + strconv.Itoa(number)
}

// kinds is a set of kinds of JSON values. null has none.
type kinds uint8

const (
	kindText kinds = 1 << iota
	kindWord       // text that is not just digits
	kindNumber
	kindBoolean
	kindArray // an array of plain values
	kindJSON  // another array or object
)

// member is a member of the records. One whose values are all objects has no column.
type member struct {
	column int   // from 1
	record int   // in which it occurred last
	value  span  // in that record
	kinds  kinds // of all its values
}

// enterMember returns the member at r.path, which must not have occurred in the current record. Two
// members whose paths are displayed in the same way are two columns of the same name.
func (r *reader) enterMember() *member {
	m := r.index[string(r.path)]
	if m == nil {
		m = &member{}
		r.index[string(r.path)] = m
		r.nameBytes += len(r.path)
	}
	switch {
	case m.record == r.record:
		r.fail("the member %q occurs twice; give each member once", r.memberName())
	case len(r.path) > rows.MaxName:
		r.fail("the name of the member %q has %d bytes; at most %d are possible", r.memberName(), len(r.path),
			rows.MaxName)
	case r.nameBytes > rows.MaxNames:
		r.fail("the names of the members of all records are longer than %s, the maximum",
			herb.FormatBytes(rows.MaxNames))
	}
	r.set(m, span{}, 0)
	return m
}

func (r *reader) addColumn(m *member, name string) {
	r.columns = append(r.columns, rows.Column{Name: name})
	r.fields, r.cells = append(r.fields, m), append(r.cells, nil)
	m.column = len(r.columns)
	if err := r.budget.Columns(m.column); err != nil {
		r.fail("%s; the member %q is one too many", err, name)
	}
}

func (r *reader) set(m *member, s span, k kinds) {
	m.record, m.value, m.kinds = r.record, s, m.kinds|k
}

func (r *reader) row() [][]byte {
	for i, m := range r.fields {
		r.cells[i] = nil
		if m.record == r.record {
			r.cells[i] = r.content(m.value)
		}
	}
	return r.cells
}

// declareTypes sets the types of the columns, after the last record. Digits in quotes are declared
// text if the table has numbers or booleans without quotes. Other text declares no type, because
// JSON has no way to write dates or amounts.
func (r *reader) declareTypes() {
	var all kinds
	for _, m := range r.fields {
		all |= m.kinds
	}
	types := map[kinds]herb.Type{kindNumber: herb.TypeNumber, kindBoolean: herb.TypeBoolean, kindArray: herb.TypeList}
	if all&(kindNumber|kindBoolean) != 0 {
		types[kindText] = herb.TypeText
	}
	for i, m := range r.fields {
		c := &r.columns[i]
		c.Type, c.Numbers = types[m.kinds], m.kinds&kindNumber != 0
	}
}
