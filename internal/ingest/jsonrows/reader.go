package jsonrows

import (
	"io"
	"strconv"

	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// reader implements rows.Rows. The types of the columns are declared after the last record.
type reader struct {
	*parser
	source  *charset.Reader
	options rows.Options
	notes   []string
	skipped []string // members before the table
	inside  int      // objects around the table
	closing byte     // after the last record: ] of an array, } of a keyed object; 0: the records are a sequence
	kind    byte     // how records begin: {, [, or 0 for plain values; known from the first
	names   []string // of the columns of records that are arrays
	named   bool     // by options or the first array; else by number
	feature bool     // the records are GeoJSON features
	ended   bool
	columns columns
	cells   [][]byte
}

// Columns implements rows.Rows.
func (r *reader) Columns() []rows.Column { return r.columns.list }

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
	for {
		if r.ended {
			return nil, io.EOF
		}
		r.begin()
		more, err := r.nextRecord()
		switch {
		case err != nil:
			return nil, err
		case !more:
			r.ended = true
			r.columns.declareTypes()
			return nil, io.EOF
		}
		header := false
		switch {
		case r.kind == '{':
			err = r.readObject(-1, 1)
		case r.kind == '[':
			header, err = r.readArray()
		default:
			err = r.readPlain()
		}
		if err != nil {
			return nil, err
		}
		if !header {
			r.cells = r.columns.appendCells(r.cells[:0], r.rec)
			return r.cells, nil
		}
	}
}

// nextRecord reads what is between two records, and the key of the next. It returns false after the last record.
func (r *reader) nextRecord() (more bool, err error) {
	c, ok := r.peekToken()
	switch {
	case !ok && r.closing == 0:
		return false, r.windowError()
	case ok && r.closing != 0 && c == r.closing:
		r.pos++
		return false, r.leave()
	case ok && r.closing != 0 && r.record > 0 && c == ',':
		r.pos++
		c, ok = r.peekToken()
	case ok && r.closing != 0 && r.record > 0:
		return false, r.errorf("%s follows the record; write a comma between records and %c after the last", describe(c), r.closing)
	}
	if !ok {
		return false, r.truncated("the table is not closed; end it with %c", r.closing)
	}
	r.begin()
	r.columns.record++
	if r.closing == '}' {
		if c, err = r.readKey(c); err != nil {
			return false, err
		}
	}
	return true, r.checkKind(c)
}

// checkKind checks that a record that begins with c is written like the first.
func (r *reader) checkKind(c byte) error {
	first := r.record == 0
	r.record++
	kind := byte(0)
	if c == '{' || c == '[' {
		kind = c
	}
	switch {
	case c == ',' || c == ']' || c == '}':
		return r.errorf("%s instead of a record", describe(c))
	case r.closing == '}' && c != '{':
		return r.errorf("%s instead of an object; all members of %q must be objects", describe(c), r.member())
	case first && r.closing == 0 && kind == 0, !first && kind != r.kind:
		what := describe(r.kind)
		if r.kind == 0 {
			what = "a plain value"
		}
		return r.errorf("%s instead of %s; all records must be written in the same way", describe(c), what)
	case first:
		r.kind = kind
		r.feature = kind == '{' && r.isFeature()
	}
	return nil
}

// leave reads what follows the table.
func (r *reader) leave() error {
	for ; r.inside > 0; r.inside-- {
		for {
			r.begin()
			if more, err := r.next('}'); err != nil {
				return err
			} else if !more {
				break
			}
			if _, err := r.name(r.rawText); err != nil {
				return err
			}
			if err := r.skip(1, true); err != nil {
				return err
			}
		}
	}
	if _, trailing := r.peekToken(); trailing {
		return r.errorf("text follows the end of the records; remove it")
	}
	return r.windowError()
}

// readKey reads the key of a record of a keyed object into the first column, and returns the byte after it.
func (r *reader) readKey(c byte) (byte, error) {
	if c == '}' {
		return c, nil // after a comma
	}
	s, err := r.name(r.text)
	if err != nil {
		return 0, err
	}
	r.path = append(r.path[:0], r.rec[s.start:s.end]...)
	c, ok := r.peekToken()
	if !ok {
		return 0, r.truncated("the member %q has no value", r.member())
	}
	if len(r.columns.list) == 0 {
		name := "key"
		taken := map[string]bool{}
		r.visitMembers(func(name string, _ span) { taken[name] = true })
		for n := 1; taken[name]; n++ {
			name = "key_" + strconv.Itoa(n)
		}
		r.columns.add(name)
	}
	r.columns.set(0, s, 0) // keys are always strings
	return c, nil
}

// visitMembers visits the members of the object at the current position, with their names as written, without reading it.
// What is not valid ends the visit and is left to the reader.
func (r *reader) visitMembers(visit func(name string, value span)) {
	pos, line := r.pos, r.line
	defer func() { r.pos, r.line = pos, line }()
	if c, ok := r.peekToken(); !ok || c != '{' || r.open('}') {
		return
	}
	for more := true; more; {
		s, err := r.name(r.rawText)
		if err != nil {
			return
		}
		name := string(r.rec[s.start:s.end])
		r.peekToken()
		value := span{start: r.pos}
		if r.skip(2, false) != nil {
			return
		}
		value.end = r.pos
		visit(name, value)
		if more, err = r.parser.next('}'); err != nil {
			return
		}
	}
}

// isFeature reports whether the object at the current position is a GeoJSON feature.
func (r *reader) isFeature() bool {
	members := 0
	r.visitMembers(func(name string, v span) {
		raw := r.rec[v.start:v.end]
		switch {
		case name == "type" && string(raw) == `"Feature"`, name == "geometry", name == "properties" && (raw[0] == '{' || raw[0] == 'n'):
			members++
		}
	})
	return members == 3
}
