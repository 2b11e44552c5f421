package datapackage

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readDialect reads the dialect of a resource, which is an object or the path of a file.
func (p *reader) readDialect(s *source.Source, n node) error {
	dialect, err := p.dereference(n.member("dialect"))
	if err != nil {
		return err
	}
	if err := dialect.checkPlacement(n.where + ".herbarium"); err != nil {
		return err
	}
	d := dialectReader{to: &s.Dialect, places: []node{dialect}}
	// Some programs write the settings of a format to a member of its own, or those of the header beside the dialect.
	for _, name := range []string{"csv", "tsv", "json", "jsonl", "ndjson", "excel", "xlsx", "sql", "parquet"} {
		d.places = append(d.places, dialect.member(name))
	}
	d.places = append(d.places, n.member("layout"))
	for _, read := range []func() error{d.readTexts, d.readQuotes, d.readFlags, d.readLines, d.readTable} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// dereference returns an object, or the object in the file that is named instead.
func (p *reader) dereference(n node) (node, error) {
	if n.value == nil {
		return n, nil
	}
	if _, ok := n.value.(string); !ok {
		return n, n.checkObject()
	}
	path, err := p.findFile(n)
	if err != nil {
		return n, err
	}
	inside, err := parseFile(p.dir, path)
	if err != nil {
		return n, source.Located(path, err)
	}
	inside.where = n.where + " (" + filepath.Base(path) + ")"
	return inside, inside.checkObject()
}

// dialectReader reads the members of a dialect.
type dialectReader struct {
	to     *rows.Options
	places []node // objects that may have the members; the first one takes precedence
}

// find returns the first member of a name.
func (d dialectReader) find(name string) node {
	for _, p := range d.places {
		if m := p.member(name); m.value != nil {
			return m
		}
	}
	return d.places[0].member(name)
}

// readTexts reads the members that are text without restrictions.
func (d dialectReader) readTexts() (err error) {
	for _, t := range []struct {
		name string
		to   *string
	}{
		{"nullSequence", &d.to.Null}, {"commentChar", &d.to.Comment}, {"headerJoin", &d.to.HeaderJoin},
		{"property", &d.to.Table}, {"sheetName", &d.to.Table}, {"table", &d.to.Table},
	} {
		m := d.find(t.name)
		s, ok := m.value.(string)
		switch {
		case ok:
			*t.to = s
		case m.value != nil:
			return m.errorf("must be text; put it in quotes")
		}
	}
	keys := d.find("itemKeys")
	if keys.value == nil {
		keys = d.find("keys")
	}
	d.to.ItemKeys, err = keys.texts()
	return err
}

// readQuotes reads the characters around and between values.
func (d dialectReader) readQuotes() (err error) {
	if m := d.find("delimiter"); m.value != nil && m.value != "" {
		if m.value == `\t` || m.value == "tab" {
			m.value = "\t"
		}
		if d.to.Delimiter, err = char(m); err != nil || !source.ValidDelimiter(d.to.Delimiter) {
			return m.errorf("is %s; it must be one ASCII character that is no quote and no line end", quoted(m))
		}
	}
	if m := d.find("quoteChar"); m.value == "" {
		d.to.NoQuote = true
	} else if d.to.Quote, err = char(m); err != nil {
		return err
	}
	if m := d.find("escapeChar"); m.value != "" {
		if d.to.Escape, err = char(m); err != nil {
			return err
		}
	}
	if d.to.Quote == '"' {
		d.to.Quote = 0 // the default
	}
	if d.to.Escape != 0 && d.to.Escape == cmp.Or(d.to.Quote, '"') && !d.to.NoQuote {
		d.to.Escape = 0 // a quote before a quote: doubled, which is the default
	}
	return nil
}

// char returns a value that is one ASCII character, or 0 if it is absent.
func char(n node) (byte, error) {
	if n.value == nil {
		return 0, nil
	}
	s, _ := n.value.(string)
	if len(s) != 1 || s[0] >= 0x80 || s[0] == '\n' || s[0] == '\r' || s[0] == 0 {
		return 0, n.errorf("is %s; it must be one ASCII character", quoted(n))
	}
	return s[0], nil
}

// readFlags reads the members that are true or false.
func (d dialectReader) readFlags() error {
	for _, f := range []struct {
		name string
		set  func(bool)
	}{
		{"doubleQuote", func(b bool) { d.to.NoDoubleQuote = !b }},
		{"skipInitialSpace", func(b bool) { d.to.SkipInitialSpace = b }},
		{"header", func(b bool) { d.to.Header = map[bool]rows.Header{true: rows.HeaderPresent, false: rows.HeaderNone}[b] }},
	} {
		m := d.find(f.name)
		b, ok := m.value.(bool)
		switch {
		case ok:
			f.set(b)
		case m.value != nil:
			return m.errorf("must be true or false")
		}
	}
	return nil
}

// readLines reads which lines name the columns and which are not records. skipRows is the number of lines before the
// header, or a list of line numbers and prefixes of comments.
func (d dialectReader) readLines() (err error) {
	if d.to.HeaderRows, err = lineNumbers(d.find("headerRows")); err != nil {
		return err
	}
	if d.to.Header == rows.HeaderNone {
		d.to.HeaderRows = nil
	}
	if d.to.CommentRows, err = lineNumbers(d.find("commentRows")); err != nil {
		return err
	}
	skip := d.find("skipRows")
	if n, ok := skip.value.(json.Number); ok {
		if d.to.Skip, err = strconv.Atoi(n.String()); err != nil || d.to.Skip < 0 {
			return skip.errorf("must be a number of lines, or a list of line numbers and prefixes of comments")
		}
		return nil
	}
	for _, item := range skip.items() {
		prefix, ok := item.value.(string)
		switch {
		case ok && (d.to.Comment == "" || d.to.Comment == prefix):
			d.to.Comment = prefix
		case ok:
			return item.errorf("is %q, but comments begin with %q; only one prefix is possible", rows.Clip(prefix), d.to.Comment)
		default:
			lines, err := lineNumbers(item)
			if err != nil {
				return err
			}
			d.to.CommentRows = append(d.to.CommentRows, lines...)
		}
	}
	return nil
}

// lineNumbers returns a value that is a list of line numbers, or one.
func lineNumbers(n node) ([]int, error) {
	var out []int
	for _, item := range n.items() {
		i, err := ordinal(item, "line")
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

// ordinal returns a value that is the number of something, from 1.
func ordinal(n node, what string) (int, error) {
	number, _ := n.value.(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil || i < 1 {
		return 0, n.errorf("must be the number of a %s, from 1", what)
	}
	return i, nil
}

// readTable reads the number of a sheet, or the member "sheet", which is a name or a number.
func (d dialectReader) readTable() (err error) {
	number := d.find("sheetNumber")
	if m := d.find("sheet"); m.value != nil {
		name, ok := m.value.(string)
		if ok {
			d.to.Table = name
		} else {
			number = m
		}
	}
	if number.value != nil {
		d.to.TableNo, err = ordinal(number, "sheet")
	}
	return err
}

// quoted returns a value for a message.
func quoted(n node) string {
	b, err := marshal(n.value)
	if err != nil {
		return strings.TrimSpace(err.Error())
	}
	return rows.Clip(string(b))
}
