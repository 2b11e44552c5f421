package datapackage

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readSettings reads Herbarium's own settings of a resource.
func (p *descriptor) readSettings(s *source.Source, n node) {
	n.checkPlacement(n.where + ".herbarium")
	n.member(own).bindAll([]binding{
		{"access", func(n node) { s.Access = readAccess(n) }},
		{"order", func(n node) { s.Order = readOrder(n) }},
		{"map", func(n node) { s.Map = readMap(n) }},
		{"include", func(n node) { s.Include = readInclude(n) }},
		{"goldens", func(n node) {
			for _, item := range n.list() {
				s.Expectations = append(s.Expectations, readExpectation(item))
			}
		}},
	})
	s.Access = cmp.Or(s.Access, p.access)
	s.AccessSet = s.Access != ""
}

// readAccess reads who may list the records.
func readAccess(n node) herb.Access {
	var s string
	n.assign(&s)
	if _, err := herb.ParseAccess(s); err != nil && s != "" {
		n.fail("is %q; choose open or key", rows.Clip(s))
	}
	return herb.Access(s)
}

// readOrder reads "date", "-date" or {field: date, order: desc}.
func readOrder(n node) (o herb.Order) {
	direction := ""
	switch v := n.value.(type) {
	case string:
		o.Field, o.Desc = strings.CutPrefix(v, "-")
	case object:
		n.bindAll([]binding{{"field", &o.Field}, {"order", &direction}})
		if o.Desc = direction == "desc"; !o.Desc && direction != "" && direction != "asc" {
			n.member("order").fail("is %q; it must be asc or desc", rows.Clip(direction))
		}
	default:
		n.fail("must be the name of a field, with a - before it for descending order, or {field, order}")
	}
	if o.Field == "" {
		n.fail("names no field; name a sortable one")
	}
	return o
}

// readMap reads the fields with the coordinates of the records.
func readMap(n node) (m source.MapFields) {
	n.isObject()
	n.bindAll([]binding{{"latitude", &m.Latitude}, {"longitude", &m.Longitude}})
	if m.Latitude == "" || m.Longitude == "" {
		n.fail("must name two fields: {latitude, longitude}")
	}
	return m
}

// readInclude reads the conditions for rows: one value or a list of values by column.
func readInclude(n node) (out []source.Include) {
	n.isObject()
	for _, name := range n.names() {
		m := n.member(name)
		values := m.texts()
		if len(values) == 0 {
			m.fail("lists no value; list the values of rows to include, \"\" for an empty one")
		}
		out = append(out, source.Include{Column: name, Values: values})
	}
	return out
}

// readExpectation reads a query with its expected result.
func readExpectation(n node) (e herb.Expectation) {
	hasQuery := false
	n.isObject()
	n.bindAll([]binding{
		{"query", func(n node) {
			e.Query, hasQuery = n.value.(string)
			e.Query = strings.TrimPrefix(e.Query, "?")
		}},
		{"total", func(n node) { e.Total = new(n.integer(0, maxLine)) }},
		{"first", func(n node) {
			n.isObject()
			e.First = map[string]string{}
			for _, name := range n.names() {
				value := ""
				if m := n.member(name); m.value != nil {
					value = m.text()
				}
				e.First[name] = value
			}
		}},
	})
	if !hasQuery {
		n.fail("has no query; set it to the query string of a listing, \"\" for all records")
	}
	if e.Total == nil && len(e.First) == 0 {
		n.fail("expects nothing; set \"total\", the number of records, or \"first\", values of the first record")
	}
	return e
}

// readDialect reads the dialect of a resource, which is an object or the path of a file.
func (p *descriptor) readDialect(s *source.Source, n node) {
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
			if o.Delimiter = n.char(); o.Delimiter != 0 && !source.ValidDelimiter(o.Delimiter) {
				n.fail("is %q; it must not be a quote", string(rune(o.Delimiter)))
			}
		}},
		{"quoteChar", &o.Quote}, {"escapeChar", &o.Escape}, {"doubleQuote", &doubleQuote}, {"skipInitialSpace", &o.SkipInitialSpace},
		{"nullSequence", &o.Null}, {"header", &header}, {"headerJoin", &o.HeaderJoin},
		{"headerRows", func(n node) {
			if n.isShort() {
				n.assign(&o.HeaderRows)
			}
		}},
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
			n.record(source.Located(path, err))
		}
		n = node{n.where + " (" + filepath.Base(path) + ")", value, n.err}
	}
	n.isObject()
	return n
}
