package jsonrows

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// reader implements rows.Rows. The types of the columns are declared after the last record.
type reader struct {
	*parser
	options rows.Options
	notes   []string
	nextRow func() ([][]byte, bool) // resumes walk
	endWalk func()
	yield   func([][]byte) bool // suspends walk

	sequence bool // the records follow each other, without an array or object around them
	keyed    bool // the records are members of an object
	kind     byte // how records begin: {, [, or 0 for plain values; known from the first
	named    bool // columns of records that are arrays have names from options or the first array; else numbers
	feature  bool // the records are GeoJSON features

	columns   []rows.Column
	members   []member
	index     map[string]int // members by path
	nameBytes int            // of the paths
	key       span           // of the current record
	cells     [][]byte
}

// errClosed ends the walk through a document that is closed before its end.
var errClosed = errors.New("the rows are closed")

// Columns implements rows.Rows.
func (r *reader) Columns() []rows.Column { return r.columns }

// Notes implements rows.Rows.
func (r *reader) Notes() []string { return append(r.source.Notes(), r.notes...) }

// Options returns the given options, completed by what was detected.
func (r *reader) Options() rows.Options {
	o := r.options
	o.Encoding = r.source.Encoding()
	return o
}

// Close implements rows.Rows.
func (r *reader) Close() error {
	r.endWalk()
	return r.source.Close()
}

// Next implements rows.Rows.
func (r *reader) Next() ([][]byte, error) {
	cells, ok := r.nextRow()
	if ok {
		return cells, nil
	}
	r.declareTypes()
	return nil, cmp.Or(r.err, io.EOF)
}

// walk reads the document and yields the cells of each record.
func (r *reader) walk(yield func([][]byte) bool) {
	var others []string
	r.yield, r.forget = yield, true
	c, ok := r.peekToken()
	switch {
	case r.options.Table != "":
		if !r.readTable("", 1, &others) {
			r.stop(herb.Invalidf("no table %q; members: %s", rows.Clip(r.options.Table), listNames(others)))
		}
	case !r.sequence:
		r.readRecords(c)
	default:
		for ; ok; _, ok = r.peekToken() {
			r.begin()
			r.readRecord()
		}
	}
	if _, trailing := r.peekToken(); trailing {
		r.fail("text follows the end of the records; remove it")
	}
}

// readTable reads the table in the object at the current position and skips the other members, whose paths it collects.
func (r *reader) readTable(prefix string, depth int, others *[]string) (found bool) {
	table := r.options.Table
	r.object(depth, r.text, func(s span) {
		name := prefix + string(r.rec[s.start:s.end])
		r.path = append(r.path[:0], name...)
		c, _ := r.peekToken()
		switch {
		case name == table && !found && (c == '[' || c == '{'):
			found = true
			r.readRecords(c)
		case name == table && !found:
			r.fail("the table %q is %s; it must be an array, or an object of objects", rows.Clip(table), describe(c))
		case c == '{' && !found && strings.HasPrefix(table, name+"."):
			found = r.readTable(name+".", depth+1, others)
		default:
			if len(*others) < maxTables {
				*others = append(*others, name)
			}
			r.skip(depth + 1)
		}
	})
	return found
}

// readRecords reads the records in the array or keyed object at the current position.
func (r *reader) readRecords(c byte) {
	if r.keyed = c == '{'; !r.keyed {
		r.array(func() {
			r.begin()
			r.readRecord()
		})
		return
	}
	var others []string // members that are no records
	r.object(1, r.text, func(key span) {
		r.path = append(r.path[:0], r.rec[key.start:key.end]...)
		if c, _ := r.peekToken(); c != '{' {
			if len(others) < maxTables {
				others = append(others, r.dotted())
			}
			r.skip(2)
			return
		}
		r.key, r.forget = key, false
		if len(r.columns) == 0 {
			r.addColumn(r.addMember(), r.keyName())
		}
		r.readRecord()
	})
	switch {
	case len(others) > 0 && r.record == 0:
		r.fail("no member is an object; name an array, or an object of objects")
	case len(others) > 0:
		r.notes = append(r.notes, "members that are not objects are not published: "+listNames(others))
	}
}

// readRecord reads the record at the current position and yields its cells.
func (r *reader) readRecord() {
	header := false
	r.record++
	r.forget = false
	if r.keyed {
		r.set(0, r.key, 0) // keys are always strings
	}
	if !r.readKind() {
		return
	}
	switch r.kind {
	case '{':
		r.readObject(0, 1)
	case '[':
		header = r.readArray()
	default:
		r.path = append(r.path[:0], "value"...)
		r.readMember(1)
	}
	if !header && r.err == nil && !r.yield(r.row()) {
		r.stop(errClosed)
	}
	r.forget = true
	r.begin()
}

// readKind checks that the record at the current position is written like the first.
func (r *reader) readKind() bool {
	c, ok := r.peekToken()
	kind := byte(0)
	if c == '{' || c == '[' {
		kind = c
	}
	switch {
	case !ok:
		r.fail("the text ends where a record should begin; is the file cut off?")
	case c == ',' || c == ']' || c == '}':
		r.fail("%s instead of a record", describe(c))
	case r.record == 1 && r.sequence && kind == 0, r.record > 1 && kind != r.kind:
		what := describe(r.kind)
		if r.kind == 0 {
			what = "a plain value"
		}
		r.fail("%s instead of %s; all records must be written in the same way", describe(c), what)
	case r.record == 1:
		r.kind = kind
		if r.feature = r.isFeature(); r.feature {
			r.hidden = append([]byte("properties"), pathSeparator)
		}
	}
	return r.err == nil
}

// keyName returns a name for the column of the keys that the first record does not have.
func (r *reader) keyName() string {
	name, first := "key", r.peekObject()
	for n := 1; first[name] != nil; n++ {
		name = "key_" + strconv.Itoa(n)
	}
	return name
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
