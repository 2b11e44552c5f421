// Package jsonrows reads tables in JSON: arrays of records, records one after the other (NDJSON), arrays or keyed objects
// within a document, columns, and GeoJSON features.
package jsonrows

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// Format returns the JSON format.
func Format() rows.Format {
	return rows.Format{Name: "json", Extensions: []string{".json", ".ndjson", ".jsonl", ".geojson"}, Matches: matches, Open: open, Tables: tables, Keyed: true}
}

// matches reports whether a text begins like an array of objects or arrays, or like an object with a member.
func matches(head []byte) bool {
	return regexp.MustCompile(`^\s*(\[\s*\[|(\[\s*)?\{\s*"[^"]*"\s*:)`).Match(charset.ASCII(head))
}

// tables lists the tables within a document by the paths of their members. It lists none if the document is one table.
func tables(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (found []rows.Table, err error) {
	l, err := detectLayout(ctx, f, o, b)
	for _, name := range l.tables {
		found = append(found, rows.Table{Name: name})
	}
	return found, err
}

func open(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
	if err != nil {
		return nil, err
	}
	r := &reader{parser: parser{text: text, budget: b, line: 1}, options: o, index: map[string]*member{}}
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
	case o.Table == "":
		l, err := detectLayout(ctx, f, *o, r.budget)
		if err != nil {
			return err
		}
		if r.values = l.columns; r.values > 0 {
			break
		}
		if o.ItemKeys == nil {
			o.ItemKeys = l.keys
		}
		r.isMap = l.isMap
		if r.sequence = !l.keyed && len(l.tables) == 0; len(l.tables) == 0 {
			break
		}
		if o.Table = l.tables[0]; len(l.tables) > 1 {
			return herb.Invalidf("the document has %d tables: %s; name one of them, such as FILE#%s", len(l.tables), rows.JoinNames(l.tables), o.Table)
		}
		if len(l.members) > 0 {
			r.notes = append(r.notes, fmt.Sprintf("the records are in %q; other members are not published: %s", o.Table, rows.JoinNames(l.members)))
		}
	}
	return r.err
}

// inspectArray reads ahead in the array at the current position. It may be a record that others follow, as in NDJSON of
// arrays, or have two elements: an object about the records, and their array, as the API of the World Bank responds.
func (r *reader) inspectArray() {
	sample, _ := r.text.Peek(64 << 10)
	r.rec = sample
	p := &parser{text: charset.Sample(sample[r.pos:]), budget: r.budget}
	p.begin()
	p.pos++
	if c, ok := p.peekToken(); ok && c == '{' {
		p.skip()
		c, _ = p.peekToken()
		p.pos = min(p.pos+1, len(p.rec))
		next, _ := p.peekToken()
		p.pos = min(p.pos+1, len(p.rec))
		first, _ := p.peekToken()
		r.paged = c == ',' && next == '[' && first == '{'
	} else if ok {
		p.pos = 0
		p.skip()
		c, _ = p.peekToken()
		r.sequence = p.err == nil && c == '['
	}
}
