package ingest

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"herbarium/internal/ingest/rows"
)

// layout reads the dialect of a resource, which stands in it or in a file beside the descriptor.
func (p *packageReader) layout(s *Source, n node) error {
	dialect, err := p.referenced(n.member("dialect"))
	if err != nil {
		return err
	}
	if err := dialect.misplaced(n.where + ".herbarium"); err != nil {
		return err
	}
	d := dialectReader{to: &s.Dialect, places: []node{dialect}}
	// Some programs put the settings of a format into a member of its own, or those of the header beside the dialect.
	for _, name := range []string{"csv", "tsv", "json", "jsonl", "ndjson", "excel", "xlsx", "sql", "parquet"} {
		d.places = append(d.places, dialect.member(name))
	}
	d.places = append(d.places, n.member("layout"))
	for _, read := range []func() error{d.values, d.lines, d.header, d.items, d.sheet} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// referenced returns an object, or the one in the file that stands in its place.
func (p *packageReader) referenced(n node) (node, error) {
	if n.value == nil {
		return n, nil
	}
	if _, ok := n.value.(string); !ok {
		return n, n.isObject()
	}
	path, err := p.file(n)
	if err != nil {
		return n, err
	}
	inside, err := parseDescriptor(p.from, path)
	if err != nil {
		return n, located(path, err)
	}
	inside.where = n.where + " (" + filepath.Base(path) + ")"
	return inside, inside.isObject()
}

// dialectReader reads the members of a dialect from the places where they may stand.
type dialectReader struct {
	to     *rows.Options
	places []node
}

// find returns a member from the first place that has it.
func (d dialectReader) find(name string) node {
	for _, p := range d.places {
		if m := p.member(name); m.value != nil {
			return m
		}
	}
	return d.places[0].member(name)
}

// values reads what stands around and between values.
func (d dialectReader) values() (err error) {
	if m := d.find("delimiter"); m.value != nil {
		written, _ := m.value.(string)
		if written == `\t` || strings.EqualFold(written, "tab") {
			written = "\t"
		}
		if written != "" || m.value != "" {
			if len(written) != 1 || !validDelimiter(written[0]) {
				return m.wrong("is %s; it must be one ASCII character that is no quote and no line end", quoted(m))
			}
			d.to.Delimiter = written[0]
		}
	}
	if m := d.find("quoteChar"); m.value == "" {
		d.to.NoQuote = true
	} else if d.to.Quote, err = d.char(m); err != nil {
		return err
	}
	if d.to.Quote == '"' {
		d.to.Quote = 0 // the usual one
	}
	if m := d.find("escapeChar"); m.value != "" {
		if d.to.Escape, err = d.char(m); err != nil {
			return err
		}
	}
	if d.to.Escape == quoteOf(*d.to) {
		d.to.Escape = 0 // a quote before a quote: doubled, as it is anyway
	}
	noHeader := false
	for _, f := range []struct {
		name string
		when bool
		to   *bool
	}{
		{"doubleQuote", false, &d.to.NoDoubleQuote}, {"skipInitialSpace", true, &d.to.SkipInitialSpace}, {"header", false, &noHeader},
	} {
		m := d.find(f.name)
		b, ok := m.value.(bool)
		if !ok && m.value != nil {
			return m.wrong("must be true or false")
		}
		*f.to = ok && b == f.when
	}
	if noHeader {
		d.to.Header = rows.HeaderNone
	}
	if m := d.find("nullSequence"); m.value != nil {
		var ok bool
		if d.to.Null, ok = m.value.(string); !ok {
			return m.wrong("must be text; list several values under schema.missingValues")
		}
	}
	return nil
}

// quoteOf is the character around values.
func quoteOf(d rows.Options) byte {
	switch {
	case d.NoQuote:
		return 0
	case d.Quote == 0:
		return '"'
	}
	return d.Quote
}

// char reads a member that is one character.
func (d dialectReader) char(m node) (byte, error) {
	if m.value == nil {
		return 0, nil
	}
	written, _ := m.value.(string)
	if len(written) != 1 || written[0] >= 0x80 || written[0] == '\n' || written[0] == '\r' || written[0] == 0 {
		return 0, m.wrong("is %s; it must be one ASCII character", quoted(m))
	}
	return written[0], nil
}

// lines reads which lines are no records.
func (d dialectReader) lines() (err error) {
	if m := d.find("commentChar"); m.value != nil {
		var ok bool
		if d.to.Comment, ok = m.value.(string); !ok {
			return m.wrong("must be text; put it in quotes")
		}
	}
	d.to.CommentRows, err = d.numbers("commentRows")
	return err
}

// header reads where the names of the columns are.
func (d dialectReader) header() (err error) {
	if d.to.HeaderRows, err = d.numbers("headerRows"); err != nil || d.to.Header == rows.HeaderNone {
		d.to.HeaderRows = nil
		return err
	}
	if len(d.to.HeaderRows) == 1 && d.to.HeaderRows[0] == 1 {
		d.to.HeaderRows = nil // the usual one
	}
	if m := d.find("headerJoin"); m.value != nil {
		var ok bool
		if d.to.HeaderJoin, ok = m.value.(string); !ok {
			return m.wrong("must be text; put it in quotes")
		}
	}
	return nil
}

// numbers reads a member that is a list of line numbers, or one.
func (d dialectReader) numbers(name string) ([]int, error) {
	var out []int
	for _, item := range d.find(name).items() {
		written, _ := item.value.(json.Number)
		n, err := strconv.Atoi(written.String())
		if err != nil || n < 1 {
			return nil, item.wrong("must be the number of a line, from 1")
		}
		out = append(out, n)
	}
	return out, nil
}

// items reads where in a JSON document the records are.
func (d dialectReader) items() (err error) {
	if m := d.find("property"); m.value != nil {
		var ok bool
		if d.to.Table, ok = m.value.(string); !ok {
			return m.wrong("must be text, the name of the member that holds the records")
		}
	}
	keys := d.find("itemKeys")
	if keys.value == nil {
		keys = d.find("keys")
	}
	d.to.ItemKeys, err = keys.texts()
	return err
}

// sheet reads which part of a workbook or database is meant.
func (d dialectReader) sheet() error {
	name := d.find("sheetName")
	number := d.find("sheetNumber")
	switch m := d.find("sheet"); m.value.(type) { // by name or by number
	case string:
		name = m
	case json.Number:
		number = m
	}
	if name.value != nil {
		var ok bool
		if d.to.Table, ok = name.value.(string); !ok {
			return name.wrong("must be text; put it in quotes")
		}
	}
	if number.value != nil {
		written, _ := number.value.(json.Number)
		n, err := strconv.Atoi(written.String())
		if err != nil || n < 1 {
			return number.wrong("must be the number of a sheet, from 1")
		}
		d.to.TableNo = n
	}
	if m := d.find("table"); m.value != nil {
		var ok bool
		if d.to.Table, ok = m.value.(string); !ok {
			return m.wrong("must be text, the name of a table")
		}
	}
	return nil
}

// quoted shows a value in a message.
func quoted(n node) string {
	return rows.Clip(string(appendJSON(nil, n.value)))
}
