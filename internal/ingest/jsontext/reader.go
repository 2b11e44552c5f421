// Package jsontext reads tables in JSON: arrays of records, records one after the other (NDJSON),
// arrays or keyed objects within a document, columns, and GeoJSON features.
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
	return rows.Format{Name: "json", Extensions: []string{".json", ".ndjson", ".jsonl", ".geojson"}, Matches: matches, Open: open, Tables: tables, Keyed: true, Lists: true}
}

// matches reports whether a text begins like an array of objects or arrays, or like an object.
func matches(head []byte) bool {
	return regexp.MustCompile(`^\s*(\[\s*\[|(\[\s*)?\{\s*"[^"]*"\s*:)`).Match(charset.ASCII(head))
}

// tables lists the tables within a document by the paths of their members. It lists none if the
// document is one table.
func tables(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (found []rows.Table, err error) {
	l, err := scanOutline(ctx, f, o, b)
	for _, name := range tableNames(l.tables) {
		found = append(found, rows.Table{Name: name})
	}
	for _, name := range tableNames(l.values) {
		found = append(found, rows.Table{Name: name, Skipped: "a value of the record"})
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
	r := &reader{parser: parser{text: text, budget: b, line: 1}, options: o, index: map[string]*member{}, known: known.(*passedMembers)}
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
		r.inspectArray()
	case c != '{':
		r.fail("the file begins with %s; write an array of objects ([…]), or one object per line ({…})", describe(c))
	case o.Table == "" || o.Explain != nil:
		l, err := scanOutline(ctx, f, *o, r.budget)
		if err != nil {
			return err
		}
		if o.Explain != nil {
			l.explain(o.Explain, o.Table != "")
		}
		if o.Table != "" {
			break
		}
		if r.values = l.columns; r.values > 0 {
			break
		}
		if o.ItemKeys == nil {
			o.ItemKeys = l.keys
		}
		r.isMap = l.isMap
		if values := tableNames(l.values); len(values) > 0 {
			r.notes = append(r.notes, fmt.Sprintf("the document is one record with these tables as values: %s; add # and a name to the file to publish one as a dataset",
				rows.JoinNames(values)))
		}
		names := tableNames(l.tables)
		if r.sequence = !l.keyed && len(names) == 0; len(names) == 0 {
			break
		}
		if o.Table = names[0]; len(names) > 1 {
			return herb.Invalidf("the document has %d tables: %s; name one of them, such as FILE#%s", len(names), rows.JoinNames(names), o.Table)
		}
	}
	return r.err
}

// inspectArray reads ahead in the array at the current position. It may be a record that others
// follow, as in NDJSON of arrays, or have two elements: an object about the records, and their
// array, as the API of the World Bank responds.
func (r *reader) inspectArray() {
	sample, _ := r.text.Peek(64 << 10)
	r.rec = sample
	p := &parser{text: charset.Sample(sample[r.pos:]), budget: r.budget}
	p.begin()
	p.pos++
	if c, ok := p.peekToken(); ok && c == '{' {
		p.skip()
		r.paged = regexp.MustCompile(`^\s*,\s*\[\s*\{`).Match(p.rec[p.pos:])
	} else if ok {
		p.pos = 0
		p.skip()
		r.sequence = bytes.HasPrefix(bytes.TrimSpace(p.rec[p.pos:]), []byte("["))
	}
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
	paged    bool         // the records are in an array, after an object about them
	keyed    bool         // the records are members of an object
	isMap    bool         // they are plain values
	values   int          // values of each member of the document if these are columns
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
	case r.values > 0:
		r.readColumns()
	case r.paged:
		r.array(func() {
			if c, _ := r.peekToken(); c == '[' && r.record == 0 {
				r.readRecords(c)
			} else {
				r.skip()
			}
		})
		r.notes = append(r.notes, "the records are in the second element; the first, an object, is not published")
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
	if len(paths) > 0 {
		r.notes = append(r.notes, fmt.Sprintf("the records are in %q; other members are not part of this dataset: %s", r.options.Table, rows.JoinNames(paths)))
	}
}

// skipOther skips a member that is not published, and collects its path.
func (r *reader) skipOther(others *[]string) {
	if len(*others) < maxMembers {
		*others = append(*others, r.memberName())
	}
	r.skip()
}

// readRecords reads the records in the array or keyed object at the current position.
func (r *reader) readRecords(c byte) {
	if r.keyed = c == '{'; !r.keyed {
		r.array(r.readRecord)
		return
	}
	var others []string // members that are no records
	r.object(false, func(key span) {
		r.path = append(r.path[:0], r.content(key)...)
		if c, _ := r.peekToken(); c != '{' && !r.isMap {
			r.skipOther(&others)
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

// readColumns reads a document whose members are columns and yields its records. They are not
// complete before the end of the document, so that the limit of a record is that of the document.
func (r *reader) readColumns() {
	var columns [][]span
	var others []string
	r.notes = append(r.notes, "the members of the document are columns")
	r.record, r.forget = 1, false
	r.object(false, func(name span) {
		r.path = append(r.path[:0], r.content(name)...)
		if c, _ := r.peekToken(); c != '[' && c != '{' {
			r.skipOther(&others)
			return
		}
		m := r.enterMember()
		if r.addColumn(m, r.memberName()); r.err != nil {
			return
		}
		var column []span
		readElement := func() {
			s, k := r.readValue()
			m.kinds |= k
			column = append(column, s)
		}
		if c, _ := r.peekToken(); c == '[' {
			r.array(readElement)
		} else {
			r.object(true, func(span) { readElement() })
		}
		if columns = append(columns, column); len(column) != r.values {
			r.fail("the column %q has %d values instead of %d", r.memberName(), len(column), r.values)
		}
	})
	if len(others) > 0 {
		r.notes = append(r.notes, "members that are not columns are not published: "+rows.JoinNames(others))
	}
	for r.record = 1; r.err == nil && r.record <= r.values; r.record++ {
		for i, m := range r.fields {
			r.set(m, columns[i][r.record-1], 0)
		}
		if !r.yield(r.row()) {
			r.stop(io.EOF) // the rows are closed
		}
	}
}

// readRecord reads the record at the current position and yields its cells.
func (r *reader) readRecord() {
	r.record++
	r.forget = false
	if r.checkKind(); r.err != nil {
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
	if r.skip(); r.err == nil {
		_ = json.Unmarshal(r.rec[before.pos:r.pos], &members) // fails if it is not an object
	}
	r.pos, r.line, r.depth, r.err = before.pos, before.line, before.depth, before.err
	properties := string(members["properties"])
	r.feature = string(members["type"]) == `"Feature"` && members["geometry"] != nil && (properties == "null" || strings.HasPrefix(properties, "{"))
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
