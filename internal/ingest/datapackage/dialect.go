package datapackage

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"

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
	// Some programs write the settings of a format to a member of its own, or those of the header beside the dialect.
	places := []node{dialect}
	for _, name := range []string{"csv", "tsv", "json", "jsonl", "ndjson", "excel", "xlsx", "sql", "parquet"} {
		places = append(places, dialect.member(name))
	}
	places = append(places, n.member("layout"))
	return parseDialect(&s.Dialect, func(name string) node {
		for _, p := range places {
			if m := p.member(name); m.value != nil {
				return m
			}
		}
		return dialect.member(name)
	})
}

// parseDialect reads the members of a dialect that find returns.
func parseDialect(o *rows.Options, find func(name string) node) error {
	var doubleQuote, header *bool
	if err := bind(find, binding{"delimiter", &o.Delimiter}, binding{"quoteChar", &o.Quote}, binding{"escapeChar", &o.Escape},
		binding{"doubleQuote", &doubleQuote}, binding{"skipInitialSpace", &o.SkipInitialSpace}, binding{"nullSequence", &o.Null},
		binding{"header", &header}, binding{"headerRows", &o.HeaderRows}, binding{"headerJoin", &o.HeaderJoin},
		binding{"commentChar", &o.Comment}, binding{"commentRows", &o.CommentRows}, binding{"keys", &o.ItemKeys}, binding{"itemKeys", &o.ItemKeys},
		binding{"property", &o.Table}, binding{"sheetName", &o.Table}, binding{"table", &o.Table}); err != nil {
		return err
	}
	if d := find("delimiter"); o.Delimiter != 0 && !source.ValidDelimiter(o.Delimiter) {
		return d.errorf("is %q; it must not be a quote", string(rune(o.Delimiter)))
	}
	o.NoDoubleQuote = doubleQuote != nil && !*doubleQuote
	o.NoQuote = find("quoteChar").value == ""
	if o.Quote == '"' {
		o.Quote = 0 // the default
	}
	if o.Escape == cmp.Or(o.Quote, '"') && !o.NoQuote {
		o.Escape = 0 // a quote before a quote: doubled, which is the default
	}
	if header != nil {
		o.Header = map[bool]rows.Header{true: rows.HeaderPresent, false: rows.HeaderNone}[*header]
	}
	if o.Header == rows.HeaderNone {
		o.HeaderRows = nil
	}
	if err := readSheet(o, find); err != nil {
		return err
	}
	return readSkipped(o, find("skipRows"))
}

// readSheet reads the number of a sheet, or the member "sheet", which is a name or a number.
func readSheet(o *rows.Options, find func(name string) node) (err error) {
	number := find("sheetNumber")
	if m := find("sheet"); m.value != nil {
		name, ok := m.value.(string)
		if !ok {
			number = m
		}
		o.Table = cmp.Or(name, o.Table)
	}
	if number.value != nil {
		o.TableNo, err = number.ordinal("sheet")
	}
	return err
}

// readSkipped reads the number of lines before the header, or a list of line numbers and prefixes of comments.
func readSkipped(o *rows.Options, n node) (err error) {
	if number, ok := n.value.(json.Number); ok {
		if o.Skip, err = strconv.Atoi(number.String()); err != nil || o.Skip < 0 {
			return n.errorf("must be a number of lines, or a list of line numbers and prefixes of comments")
		}
		return nil
	}
	for _, item := range n.items() {
		prefix, ok := item.value.(string)
		switch {
		case !ok:
			err = item.assign(&o.CommentRows)
		case o.Comment != "" && o.Comment != prefix:
			err = item.errorf("is %q, but comments begin with %q; only one prefix is possible", rows.Clip(prefix), o.Comment)
		default:
			o.Comment = prefix
		}
		if err != nil {
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
