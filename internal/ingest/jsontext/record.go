package jsontext

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
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
		s, k = r.readValue(r.writesJSON(r.memberName))
	}
	if r.err != nil || structure == "type" && string(r.content(s)) == "Feature" || structure == "properties" && s == (span{}) {
		return
	}
	if m.column == 0 {
		r.addColumn(m, r.memberName())
	}
	r.set(m, s, k)
}

// writesJSON reports whether the lists of a column are written as JSON.
func (r *reader) writesJSON(name func() string) bool {
	return len(r.options.JSONLists) > 0 && r.options.JSONLists[name()]
}

// readValue reads a value that is not flattened. null is empty and has no kind. asJSON means that a
// list is written as JSON.
func (r *reader) readValue(asJSON bool) (span, kinds) {
	switch c, _ := r.peekToken(); c {
	case '"':
		s := r.quotedText(false)
		if len(bytes.Trim(r.content(s), "0123456789")) == 0 {
			return s, kindText
		}
		return s, kindText | kindWord
	case '[', '{':
		return r.readNested(asJSON)
	case 'n':
		r.literal()
		return span{}, 0
	case 't', 'f':
		return r.literal(), kindBoolean
	}
	return r.literal(), kindNumber
}

// readNested reads an array, or an object that is not flattened, and writes over it the text that
// it becomes, which is never longer: a list of plain values if none of them would change its
// meaning, else JSON without white space and needless escapes.
func (r *reader) readNested(asJSON bool) (span, kinds) {
	start := r.pos
	if r.skip(); r.err != nil {
		return span{}, 0
	}
	raw := r.rec[start:r.pos]
	list, k := r.appendList(r.buf[:0], raw)
	if k == kindJSON || k == kindList && asJSON {
		list = r.appendCompact(r.buf[:0], raw)
		if _, ok := text.ParseArray(list); ok {
			k = kindArray
		}
	}
	r.buf = list
	return span{start, start + copy(raw, list)}, k
}

// appendCompact appends JSON without white space between its tokens. Characters that JSON need not
// escape are written as they are, so that search finds what their escapes mean.
func (r *reader) appendCompact(out, raw []byte) []byte {
	for inText := false; len(raw) > 0; {
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
			inText = inText != (c == '"')
			out = append(out, c)
		}
		raw = raw[size:]
	}
	return out
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

// appendList appends the elements of an array with commas between them. The kind is kindJSON if raw
// is an object, or if that would change what the elements are: one with a comma would be two, one
// that begins with a bracket would look like JSON, and one that is empty or null would be
// ambiguous.
func (r *reader) appendList(list, raw []byte) ([]byte, kinds) {
	elements := bytes.TrimSpace(raw[1 : len(raw)-1])
	switch {
	case raw[0] == '{':
		return nil, kindJSON
	case len(elements) == 0:
		return nil, 0
	}
	for element := range bytes.SplitSeq(elements, []byte(",")) {
		element = bytes.TrimSpace(element)
		if !json.Valid(element) || bytes.IndexByte([]byte("[{n"), element[0]) >= 0 { // a part of a text, nested, or null
			return nil, kindJSON
		}
		from := len(list)
		if element[0] == '"' {
			list = r.unescape(list, element[1:len(element)-1])
		} else {
			list = append(list, element...)
		}
		if len(list) == from || list[from] == '[' || bytes.IndexByte(list[from:], ',') >= 0 {
			return nil, kindJSON
		}
		list = append(list, ',')
	}
	return list[:len(list)-1], kindList
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
	kindList  // an array that was written as a list
	kindArray // an array of plain values that was written as JSON
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
		r.fail("the name of the member %q has %d bytes; at most %d are possible", r.memberName(), len(r.path), rows.MaxName)
	case r.nameBytes > rows.MaxNames:
		r.fail("the names of the members of all records are longer than %s, the maximum", herb.FormatBytes(rows.MaxNames))
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
		if r.cells[i] = nil; m.record == r.record {
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
	types := map[kinds]herb.Type{
		kindNumber: herb.TypeNumber, kindBoolean: herb.TypeBoolean,
		kindList: herb.TypeList, kindArray: herb.TypeList, kindList | kindArray: herb.TypeList,
	}
	if all&(kindNumber|kindBoolean) != 0 {
		types[kindText] = herb.TypeText
	}
	for i, m := range r.fields {
		c := &r.columns[i]
		c.Type, c.Numbers = types[m.kinds], m.kinds&kindNumber != 0
		c.Lists, c.Arrays = m.kinds&kindList != 0, m.kinds&(kindArray|kindJSON) != 0
	}
}
