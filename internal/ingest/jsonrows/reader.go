package jsonrows

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// reader implements rows.Rows. The types of the columns are declared after the last record.
type reader struct {
	*parser
	source  *charset.Reader
	options rows.Options
	notes   []string
	inside  int  // objects around the table
	closing byte // after the last record: ] of an array, } of a keyed object; 0: the records are a sequence
	kind    byte // how records begin: {, [, or 0 for plain values; known from the first
	named   bool // columns of records that are arrays have names from options or the first array; else numbers
	feature bool // the records are GeoJSON features
	ended   bool
	cells   [][]byte

	columns   []rows.Column
	members   []member
	index     map[string]int // members by path
	nameBytes int            // of the paths
}

// Columns implements rows.Rows.
func (r *reader) Columns() []rows.Column { return r.columns }

// Position implements rows.Rows.
func (r *reader) Position() string { return r.position() }

// Notes implements rows.Rows.
func (r *reader) Notes() []string { return append(r.source.Notes(), r.notes...) }

// Options returns the given options, completed by what was detected.
func (r *reader) Options() rows.Options {
	o := r.options
	o.Encoding = r.source.Encoding()
	return o
}

// Close implements rows.Rows.
func (r *reader) Close() error { return r.source.Close() }

// Next implements rows.Rows.
func (r *reader) Next() ([][]byte, error) {
	if r.ended {
		return nil, io.EOF
	}
	for header := true; header; {
		r.begin()
		if more := r.nextRecord(); r.err != nil {
			return nil, r.err
		} else if !more {
			r.ended = true
			r.declareTypes()
			return nil, io.EOF
		}
		header = false
		switch r.kind {
		case '{':
			r.readObject(-1, 1)
		case '[':
			header = r.readArray()
		default:
			r.readPlain()
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.row(), nil
}

// nextRecord reads what is between two records, and the key of the next. It returns false after the last record.
func (r *reader) nextRecord() (more bool) {
	c, ok := r.peekToken()
	switch {
	case !ok && r.closing == 0:
		return false
	case ok && r.closing != 0 && c == r.closing:
		r.pos++
		r.leave()
		return false
	case ok && r.closing != 0 && r.record > 0 && c == ',':
		r.pos++
		c, ok = r.peekToken()
	case ok && r.closing != 0 && r.record > 0:
		r.fail("%s follows the record; write a comma between records and %c after the last", describe(c), r.closing)
	}
	if !ok {
		r.fail("the table is not closed; end it with %c", r.closing)
	}
	r.begin()
	if r.err != nil {
		return false
	}
	r.record++
	if r.closing == '}' && c != '}' {
		c = r.readKey()
	}
	r.checkKind(c)
	return true
}

// checkKind checks that a record that begins with c is written like the first.
func (r *reader) checkKind(c byte) {
	kind := byte(0)
	if c == '{' || c == '[' {
		kind = c
	}
	switch {
	case c == ',' || c == ']' || c == '}':
		r.fail("%s instead of a record", describe(c))
	case r.closing == '}' && c != '{':
		r.fail("%s instead of an object; all members of %q must be objects", describe(c), r.memberName())
	case r.record == 1 && r.closing == 0 && kind == 0, r.record > 1 && kind != r.kind:
		what := describe(r.kind)
		if r.kind == 0 {
			what = "a plain value"
		}
		r.fail("%s instead of %s; all records must be written in the same way", describe(c), what)
	case r.record == 1:
		r.kind = kind
		r.feature = r.isFeature()
	}
}

// leave reads what follows the table.
func (r *reader) leave() {
	r.forget = true
	for ; r.inside > 0; r.inside-- {
		for r.begin(); r.next('}'); r.begin() {
			r.name(r.rawText)
			r.skip(1)
		}
	}
	if _, trailing := r.peekToken(); trailing {
		r.fail("text follows the end of the records; remove it")
	}
}

// readKey reads the key of a record of a keyed object into the first column, and returns the byte after it.
func (r *reader) readKey() byte {
	s := r.name(r.text)
	r.path = append(r.path[:0], r.rec[s.start:s.end]...)
	c, ok := r.peekToken()
	if !ok {
		r.fail("the member %q has no value", r.memberName())
	}
	if len(r.columns) == 0 {
		name, first := "key", r.peekObject()
		for n := 1; first[name] != nil; n++ {
			name = "key_" + strconv.Itoa(n)
		}
		r.addColumn(r.addMember(), name)
	}
	r.set(0, s, 0) // keys are always strings
	return c
}

// peekObject returns the members of the object at the current position, nil if it is not a valid object.
func (r *reader) peekObject() (members map[string]json.RawMessage) {
	pos, line, err := r.pos, r.line, r.err
	if r.skip(1); r.err == nil {
		_ = json.Unmarshal(r.rec[pos:r.pos], &members) // fails if it is another value
	}
	r.pos, r.line, r.err = pos, line, err
	return members
}

// isFeature reports whether the record at the current position is a GeoJSON feature.
func (r *reader) isFeature() bool {
	m := r.peekObject()
	properties := string(m["properties"])
	return string(m["type"]) == `"Feature"` && m["geometry"] != nil && (properties == "null" || strings.HasPrefix(properties, "{"))
}
