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
	if len(l.tables) > maxTables {
		return nil, l.tooMany()
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
	r := &reader{parser: p, source: text, options: o, names: o.ItemKeys, columns: columns{index: map[string]int{}}}
	if err := r.start(ctx, f); err != nil {
		return nil, errors.Join(err, text.Close())
	}
	return r, nil
}

// start reads up to the first record.
func (r *reader) start(ctx context.Context, f rows.File) error {
	o := r.options
	c, ok := r.peekToken()
	switch {
	case !ok:
		return r.truncated("the file is empty; write an array of objects, or one object per line")
	case o.Table != "" && c != '{':
		return r.errorf("the file begins with %s and has no table %q; leave out the name of the table", describe(c), o.Table)
	case c == '[' && r.isSequence():
		return nil
	case c == '[':
		r.closing = ']'
		r.pos++
		return nil
	case c != '{':
		return r.errorf("the file begins with %s; write an array of objects ([…]), or one object per line ({…})", describe(c))
	case o.Table == "" && isLines(f):
		return nil
	}
	table := o.Table
	if table == "" {
		l, err := detectLayout(ctx, f, o, r.budget)
		if err != nil {
			return err
		}
		if table, err = l.only(); err != nil {
			return err
		}
		if note := l.note(table); note != "" {
			r.notes = append(r.notes, note)
		}
		switch {
		case l.keyed:
			r.closing = '}'
			r.pos++
			return nil
		case table == "":
			return nil
		}
	}
	r.options.Table = table
	return r.enterTable(table)
}

// enterTable moves to the first record of a table within the document.
func (r *reader) enterTable(table string) error {
	if ok, err := r.enter(table, "", 1); err != nil {
		return err
	} else if !ok {
		return herb.Invalidf("no table %q; members: %s", rows.Clip(table), listNames(r.skipped))
	}
	c, _ := r.peekToken()
	r.closing = c + 2 // ] follows [ and } follows { at this distance in ASCII
	r.pos++
	return nil
}

// enter moves to the value of the member with a dotted path, in the object at the current position.
func (r *reader) enter(table, prefix string, depth int) (ok bool, err error) {
	if err := r.checkDepth(depth); err != nil || r.open('}') {
		return false, err
	}
	for {
		r.begin()
		s, err := r.name(r.text)
		if err != nil {
			return false, err
		}
		name := prefix + string(r.rec[s.start:s.end])
		r.path = append(r.path[:0], name...)
		c, _ := r.peekToken()
		switch {
		case name == table && (c == '[' || c == '{'):
			r.inside++
			return true, nil
		case name == table:
			return false, r.truncated("the table %q is %s; it must be an array, or an object of objects", rows.Clip(table), describe(c))
		case c == '{' && strings.HasPrefix(table, name+"."):
			if ok, err := r.enter(table, name+".", depth+1); ok || err != nil {
				r.inside++
				return ok, err
			}
		default:
			if len(r.skipped) < maxTables {
				r.skipped = append(r.skipped, name)
			}
			if err := r.skip(depth+1, true); err != nil {
				return false, err
			}
		}
		if more, err := r.next('}'); err != nil || !more {
			return false, err
		}
	}
}

// isSequence reports whether the array at the current position is a record that others follow, as in NDJSON of arrays.
func (r *reader) isSequence() bool {
	sample, _ := r.win.Sample(sampleBytes)
	r.rec = sample
	p := newParser(charset.SampleWindow(sample[r.pos:]), r.budget)
	p.pos = 1
	p.rec = p.win.Bytes()
	if c, ok := p.peekToken(); !ok || c == '{' {
		return false
	}
	p.pos = 0
	if p.skip(1, false) != nil {
		return false
	}
	c, ok := p.peekToken()
	return ok && c == '['
}

const sampleBytes = 64 << 10
