package source

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"

	"herbarium/internal/ingest/rows"
)

// readDialect reads the dialect of a resource, which is an object or the path of a file.
func (p *descriptor) readDialect(s *Source, n node) {
	dialect := p.dereference(n.member("dialect"))
	dialect.checkPlacement(n.where + ".herbarium")
	s.Notes = append(s.Notes, dialect.typos("dialect")...)
	// Some programs write the settings of a format to a member of its own, or those of the header beside the dialect.
	places := []node{dialect}
	for _, name := range []string{"csv", "tsv", "json", "jsonl", "ndjson", "excel", "xlsx", "sql", "parquet"} {
		places = append(places, dialect.member(name))
	}
	places = append(places, n.member("layout"))
	readOptions(&s.Dialect, func(name string) node {
		for _, p := range places {
			if m := p.member(name); m.value != nil {
				return m
			}
		}
		return dialect.member(name)
	})
}

// readOptions reads the members of a dialect that find returns.
func readOptions(o *rows.Options, find func(name string) node) {
	doubleQuote, header := true, true
	bind(find, []binding{
		{"delimiter", func(n node) {
			if o.Delimiter = n.char(); o.Delimiter != 0 && !ValidDelimiter(o.Delimiter) {
				n.fail("is %q; it must not be a quote", string(rune(o.Delimiter)))
			}
		}},
		{"quoteChar", &o.Quote}, {"escapeChar", &o.Escape}, {"doubleQuote", &doubleQuote}, {"skipInitialSpace", &o.SkipInitialSpace},
		{"nullSequence", &o.Null}, {"header", &header}, {"headerRows", &o.HeaderRows}, {"headerJoin", &o.HeaderJoin},
		{"commentChar", &o.Comment}, {"commentRows", &o.CommentRows}, {"keys", &o.ItemKeys}, {"itemKeys", &o.ItemKeys},
		{"property", &o.Table}, {"sheetName", &o.Table}, {"table", &o.Table},
		{"sheetNumber", func(n node) { o.TableNo = n.integer(1, maxLine) }},
		{"sheet", func(n node) { // a name or a number
			if name, ok := n.value.(string); !ok {
				o.TableNo = n.integer(1, maxLine)
			} else {
				o.Table = cmp.Or(name, o.Table)
			}
		}},
		{"skipRows", func(n node) { readSkipped(o, n) }},
	})
	o.NoDoubleQuote = !doubleQuote
	o.NoQuote = find("quoteChar").value == ""
	if o.Quote == '"' {
		o.Quote = 0 // the default
	}
	if o.Escape == cmp.Or(o.Quote, '"') && !o.NoQuote {
		o.Escape = 0 // a quote before a quote: doubled, which is the default
	}
	switch {
	case !header:
		o.Header, o.HeaderRows = rows.HeaderNone, nil
	case find("header").value != nil:
		o.Header = rows.HeaderPresent
	}
}

// readSkipped reads the number of lines before the header, or a list of line numbers and prefixes of comments.
func readSkipped(o *rows.Options, n node) {
	if number, ok := n.value.(json.Number); ok {
		var err error
		if o.Skip, err = strconv.Atoi(number.String()); err != nil || o.Skip < 0 {
			n.fail("must be a number of lines, or a list of line numbers and prefixes of comments")
		}
		return
	}
	for _, item := range n.items() {
		prefix, ok := item.value.(string)
		switch {
		case !ok:
			item.assign(&o.CommentRows)
		case o.Comment != "" && o.Comment != prefix:
			item.fail("is %q, but comments begin with %q; only one prefix is possible", rows.Clip(prefix), o.Comment)
		default:
			o.Comment = prefix
		}
	}
}

// dereference returns an object, or the object in the file that is named instead.
func (p *descriptor) dereference(n node) node {
	if n.value == nil {
		return n
	}
	if _, ok := n.value.(string); ok {
		path := p.findFile(n)
		if p.err != nil {
			return node{err: n.err}
		}
		value, err := parseFile(p.dir, path)
		if err != nil {
			n.record(Located(path, err))
		}
		n = node{n.where + " (" + filepath.Base(path) + ")", value, n.err}
	}
	n.isObject()
	return n
}
