// Package jsontext reads tables in JSON: arrays of records, records one after the other (NDJSON),
// arrays of objects within a document, and GeoJSON features.
package jsontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// Format returns the JSON format.
func Format() rows.Format {
	return rows.Format{Name: "json", Extensions: []string{".json", ".ndjson", ".jsonl", ".geojson"}, Matches: matches,
		Open: open, Tables: tables, Keyed: true, Lists: true}
}

// matches reports whether a text begins like an array of objects or arrays, or like an object.
func matches(head []byte) bool {
	return regexp.MustCompile(`^\s*(\[\s*\[|(\[\s*)?\{\s*"[^"]*"\s*:)`).Match(charset.ASCII(head))
}

// tables lists the tables within a document by the paths of their members. It lists none if the
// document is one table.
func tables(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (found []rows.Table, err error) {
	d, err := scanOutline(ctx, f, o, b)
	for _, name := range d.tables {
		found = append(found, rows.Table{Name: name})
	}
	return found, err
}

func open(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
	if err != nil {
		return nil, err
	}
	known, err := f.Document(func() (io.Closer, error) { return new(passedMembers), nil })
	if err != nil {
		return nil, errors.Join(err, text.Close())
	}
	r := &reader{parser: parser{text: text, budget: b, line: 1}, options: o, index: map[string]*member{},
		known: known.(*passedMembers)}
	if err := r.start(ctx, f); err != nil {
		return nil, errors.Join(err, text.Close())
	}
	r.nextRow, r.endWalk = iter.Pull(r.walk)
	return r, nil
}

// start determines how the records are arranged.
func (r *reader) start(ctx context.Context, f rows.File) error {
	o := &r.options
	c, ok := r.peekToken()
	switch {
	case !ok:
		r.fail("the file is empty; write an array of objects, or one object per line")
	case o.Table != "" && c != '{':
		r.fail("the file begins with %s and has no table %q; leave out the name of the table", describe(c), o.Table)
	case c == '[':
		r.sequence = r.isArrayInLine()
	case c != '{':
		r.fail("the file begins with %s; write an array of objects ([…]), or one object per line ({…})", describe(c))
	case o.Table == "":
		d, err := scanOutline(ctx, f, *o, r.budget)
		switch {
		case err != nil:
			return err
		case len(d.tables) > 1:
			return herb.Invalidf("the document has %d tables: %s; name one of them, such as FILE#%s", len(d.tables),
				rows.JoinNames(d.tables), d.tables[0])
		case len(d.tables) == 1:
			o.Table = d.tables[0]
			return nil
		case d.isDocument && !d.isFeature():
			r.notes = append(r.notes, noRecords)
		}
		r.sequence = true
	}
	return r.err
}

// noRecords is the note about a document that is one record.
const noRecords = "the document has no array of objects in it and is one record; if a member has the records, add # " +
	"and its name to the file"

// isArrayInLine reports whether another array follows the array at the current position, so that it
// is a record, as in NDJSON of arrays.
func (r *reader) isArrayInLine() bool {
	sample, _ := r.text.Peek(64 << 10)
	r.rec = sample
	p := &parser{text: charset.Sample(sample[r.pos:]), budget: r.budget}
	p.begin()
	p.pos++
	if c, ok := p.peekToken(); !ok || c == '{' {
		return false
	}
	p.pos = 0
	p.skip()
	return bytes.HasPrefix(bytes.TrimSpace(p.rec[p.pos:]), []byte("["))
}

// reader implements rows.Rows. The types of the columns are declared after the last record.
type reader struct {
	parser
	options rows.Options
	notes   []string
	nextRow func() ([][]byte, bool) // resumes walk
	endWalk func()
	yield   func([][]byte) bool // suspends walk

	sequence bool         // the records follow each other, without an array or object around them
	keyed    bool         // the records are members of an object
	kind     byte         // how records begin: {, [, or 0 for plain values; known from the first
	named    bool         // columns of records that are arrays have names from options or from a header; else numbers
	header   table.Header // of records that are arrays
	feature  bool         // the records are GeoJSON features

	columns   []rows.Column
	fields    []*member          // of the columns
	index     map[string]*member // by path
	nameBytes int                // of the paths
	key       span               // of the current record
	cells     [][]byte
	known     *passedMembers // of the document
	left      herb.Layout
}

// passedMembers are the members of a document that were passed while it was read to its end for one
// table, so that it is parsed once, however many tables it has.
type passedMembers struct {
	members []passedMember   // at most maxMembers
	offsets map[string]int64 // of arrays and objects by path; at most maxTables
}

type passedMember struct{ prefix, name string } // prefix is the path of the object around it, with a dot

// maxMembers is the number of members that a note may name, and some more.
const maxMembers = 1_000

func (*passedMembers) Close() error { return nil }

// outside returns the paths of the members that are not in a table. Objects around the table are
// represented by their members.
func (p *passedMembers) outside(table string) (paths []string) {
	for _, m := range p.members {
		path := m.prefix + m.name
		if strings.HasPrefix(table, m.prefix) && path != table && !strings.HasPrefix(table, path+".") {
			paths = append(paths, path)
		}
	}
	return paths
}

func (r *reader) Columns() []rows.Column { return r.columns }

func (r *reader) Notes() []string { return append(r.text.Notes(), r.notes...) }

func (r *reader) Layout() herb.Layout { return r.left }

func (r *reader) Options() rows.Options {
	o := r.options
	o.Encoding = r.text.Encoding()
	return o
}

func (r *reader) Close() error {
	r.endWalk()
	return r.text.Close()
}

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
	r.yield, r.forget = yield, true
	c, ok := r.peekToken()
	switch {
	case r.options.Table != "":
		table := r.options.Table
		if at, ok := r.known.offsets[table]; ok {
			r.jump(at)
			if c, ok := r.peekToken(); ok {
				r.readRecords(c)
			}
			r.noteOutside(r.known.outside(table))
			return
		}
		passed := passedMembers{offsets: map[string]int64{}}
		if !r.readTable("", &passed) {
			r.stop(herb.Invalidf("no table %q; members: %s", rows.Clip(table), rows.JoinNames(passed.outside(table))))
		} else if _, trailing := r.peekToken(); !trailing && r.err == nil {
			*r.known = passed
		}
		r.noteOutside(passed.outside(table))
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

// readTable reads the table in the object at the current position and skips the other members.
func (r *reader) readTable(prefix string, passed *passedMembers) (found bool) {
	table := r.options.Table
	r.object(false, func(s span) {
		name := prefix + string(r.content(s))
		r.path = append(r.path[:0], name...)
		if len(passed.members) < maxMembers {
			passed.members = append(passed.members, passedMember{prefix, name[len(prefix):]})
		}
		c, _ := r.peekToken()
		if _, ok := passed.offsets[name]; !ok && (c == '[' || c == '{') && len(passed.offsets) <= maxTables {
			passed.offsets[name] = r.before + int64(r.pos)
		}
		switch {
		case name == table && !found && (c == '[' || c == '{'):
			found = true
			r.readRecords(c)
		case name == table && !found:
			r.fail("the table %q is %s; it must be an array, or an object of objects", table, describe(c))
		case c == '{' && !found && strings.HasPrefix(table, name+"."):
			found = r.readTable(name+".", passed)
		default:
			r.skip()
		}
	})
	return found
}

// noteOutside adds a note about the members of the document that are not in the table.
func (r *reader) noteOutside(paths []string) {
	if len(paths) > 0 && !r.options.Joined {
		r.notes = append(r.notes, fmt.Sprintf("the records are in %q; other members are not part of this dataset: %s",
			r.options.Table, rows.JoinNames(paths)))
	}
}

// readRecords reads the records in the array or keyed object at the current position.
func (r *reader) readRecords(c byte) {
	r.keyed = c == '{'
	if !r.keyed {
		r.array(r.readRecord)
		return
	}
	var others []string // members that are no records
	r.object(false, func(key span) {
		r.path = append(r.path[:0], r.content(key)...)
		if c, _ := r.peekToken(); c != '{' {
			if len(others) < maxMembers {
				others = append(others, r.memberName())
			}
			r.skip()
			return
		}
		r.key, r.forget = key, false
		r.readRecord()
	})
	switch {
	case len(others) > 0 && r.record == 0:
		r.fail("no member is an object; name an array, or an object of objects")
	case len(others) > 0:
		r.notes = append(r.notes, "members that are not objects are not published: "+rows.JoinNames(others))
	}
}

// readRecord reads the record at the current position and yields its cells.
func (r *reader) readRecord() {
	r.record++
	r.forget = false
	r.checkKind()
	if r.err != nil {
		return
	}
	if r.keyed {
		r.set(r.fields[0], r.key, 0) // keys are always strings
	}
	outer, isRecord := r.depth, true
	r.depth = 0
	switch r.kind {
	case '{':
		r.readObject(0)
	case '[':
		isRecord = r.readArray()
	default:
		r.path = append(r.path[:0], "value"...)
		r.readMember()
	}
	if isRecord && r.err == nil && !r.yield(r.row()) {
		r.stop(io.EOF) // the rows are closed
	}
	r.depth, r.forget = outer, true
	r.begin()
}

// checkKind fails unless the record at the current position is written like the first.
func (r *reader) checkKind() {
	c, ok := r.peekToken()
	kind := c
	if c != '{' && c != '[' {
		kind = 0
	}
	switch {
	case !ok:
		r.fail("the text ends where a record should begin; is the file cut off?")
	case c == ',' || c == ']' || c == '}':
		r.fail("%s instead of a record", describe(c))
	case r.record == 1:
		r.kind = kind
		r.inspectFirst()
	case kind != r.kind:
		what := "a plain value"
		if r.kind != 0 {
			what = describe(r.kind)
		}
		r.fail("%s instead of %s; all records must be written in the same way", describe(c), what)
	}
}

// inspectFirst reads ahead in the first record to recognize GeoJSON features, and to find a name
// for the column of the keys that the record does not have.
func (r *reader) inspectFirst() {
	var members map[string]json.RawMessage
	before := r.parser
	r.skip()
	if r.err == nil {
		_ = json.Unmarshal(r.rec[before.pos:r.pos], &members) // fails if it is not an object
	}
	r.pos, r.line, r.depth, r.err = before.pos, before.line, before.depth, before.err
	properties := string(members["properties"])
	r.feature = string(members["type"]) == `"Feature"` && members["geometry"] != nil &&
		(properties == "null" || strings.HasPrefix(properties, "{"))
	if r.feature {
		r.hidden = append([]byte("properties"), pathSeparator)
	}
	if r.keyed {
		name := "key"
		for n := 1; members[name] != nil; n++ {
			name = "key_" + strconv.Itoa(n)
		}
		r.addColumn(&member{}, name)
	}
}
