// Package jsonrows reads tables in JSON: arrays of records, records one after the other (NDJSON), arrays or keyed objects
// within a document, and GeoJSON features.
package jsonrows

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"

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

// isLines reports whether the name of a file promises one record per line.
func isLines(f rows.File) bool {
	extension := strings.ToLower(path.Ext(f.Name()))
	return extension == ".ndjson" || extension == ".jsonl"
}

// openParser opens the text of a file.
func openParser(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (*charset.Reader, *parser, error) {
	text, err := charset.NewReader(ctx, f, o.Encoding)
	if err != nil {
		return nil, nil, err
	}
	return text, newParser(charset.NewWindow(text, b.MaxRecord()), b), nil
}

// tables lists the tables within a document by the paths of their members. It lists none if the document is one table.
func tables(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (found []rows.Table, err error) {
	if isLines(f) {
		return nil, nil
	}
	l, err := detectLayout(ctx, f, o, b)
	if err != nil {
		return nil, err
	}
	for _, name := range l.tables {
		found = append(found, rows.Table{Name: name})
	}
	return found, nil
}

func open(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (rows.Rows, error) {
	text, p, err := openParser(ctx, f, o, b)
	if err != nil {
		return nil, err
	}
	r := &reader{parser: p, source: text, options: o, index: map[string]int{}}
	detect := func() (*layout, error) { return detectLayout(ctx, f, o, b) }
	if isLines(f) {
		detect = func() (*layout, error) { return &layout{}, nil }
	}
	if err := r.start(detect); err != nil {
		return nil, errors.Join(err, text.Close())
	}
	return r, nil
}

// start reads up to the first record.
func (r *reader) start(detect func() (*layout, error)) error {
	table := r.options.Table
	c, ok := r.peekToken()
	switch {
	case !ok:
		r.fail("the file is empty; write an array of objects, or one object per line")
	case table != "" && c != '{':
		r.fail("the file begins with %s and has no table %q; leave out the name of the table", describe(c), table)
	case c == '[' && r.isSequence():
	case c == '[':
		r.enterTable(c)
	case c != '{':
		r.fail("the file begins with %s; write an array of objects ([…]), or one object per line ({…})", describe(c))
	case table == "":
		l, err := detect()
		if err != nil {
			return err
		}
		var note string
		if table, note, err = l.only(); err != nil {
			return err
		}
		if note != "" {
			r.notes = append(r.notes, note)
		}
		if l.keyed {
			r.enterTable(c)
		}
	}
	if r.err == nil && table != "" {
		r.options.Table = table
		r.findTable(table)
	}
	return r.err
}

// enterTable skips the opening bracket of the table.
func (r *reader) enterTable(opening byte) {
	r.closing = opening + 2 // ] follows [ and } follows { at this distance in ASCII
	r.pos++
}

// findTable moves to the first record of a table within the document.
func (r *reader) findTable(table string) {
	var others []string
	r.forget = true
	found := r.find(table, "", 1, &others)
	r.forget = false
	c, _ := r.peekToken()
	switch {
	case r.err != nil:
	case !found:
		r.err = herb.Invalidf("no table %q; members: %s", rows.Clip(table), listNames(others))
	case c != '[' && c != '{':
		r.fail("the table %q is %s; it must be an array, or an object of objects", rows.Clip(table), describe(c))
	default:
		r.enterTable(c)
	}
}

// find moves to the value of the member with a dotted path, in the object at the current position. It collects the paths of
// the members before it.
func (r *reader) find(table, prefix string, depth int, others *[]string) (found bool) {
	r.object(depth, r.text, func(s span) bool {
		name := prefix + string(r.rec[s.start:s.end])
		r.path = append(r.path[:0], name...)
		c, _ := r.peekToken()
		switch {
		case name == table:
			found = true
		case c == '{' && strings.HasPrefix(table, name+"."):
			found = r.find(table, name+".", depth+1, others)
		default:
			if len(*others) < maxTables {
				*others = append(*others, name)
			}
			r.skip(depth + 1)
		}
		if found {
			r.inside++
		}
		return !found
	})
	return found
}

// isSequence reports whether the array at the current position is a record that others follow, as in NDJSON of arrays.
func (r *reader) isSequence() bool {
	sample, _ := r.win.Sample(sampleBytes)
	r.rec = sample
	p := newParser(charset.SampleWindow(sample[r.pos:]), r.budget)
	p.begin()
	p.pos++
	if c, ok := p.peekToken(); !ok || c == '{' {
		return false
	}
	p.pos = 0
	p.skip(1)
	c, _ := p.peekToken()
	return p.err == nil && c == '['
}

const sampleBytes = 64 << 10
