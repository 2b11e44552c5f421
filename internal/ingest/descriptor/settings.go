package descriptor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
)

func (p *packageReader) readSettings(s *Source, n node) {
	n.checkPlacement(n.where + ".herbarium")
	own := n.member(Own)
	if early := own.member("map"); early.value != nil { // in descriptors for earlier releases
		s.Notes = append(s.Notes, early.errorf("is now called coordinates; rename it").Error())
		members := own.without("map")
		if own.member("coordinates").value == nil {
			members["coordinates"] = early.value
		}
		own.value = members
	}
	own.bindOwn(settingMembers(s))
	s.Access = cmp.Or(s.Access, p.access)
	s.AccessSet = s.Access != ""
}

func readAccess(n node) herb.Access {
	var s string
	n.assign(&s)
	if _, err := herb.ParseAccess(s); err != nil && s != "" {
		n.fail("is %q; choose open or key", rows.Clip(s))
	}
	return herb.Access(s)
}

// readFrequency reads how often a dataset changes.
func readFrequency(n node) herb.Frequency {
	var s string
	n.assign(&s)
	f, ok := herb.ParseFrequency(s)
	if !ok {
		n.fail("is %q; write hourly, daily, weekly, biweekly, monthly, quarterly, semiannual, annual, biennial, a period "+
			"such as 10d, or never", rows.Clip(s))
	}
	return f
}

// readRefresh reads when a file is fetched: text, or {every, credentials, allow_breaking}.
func readRefresh(f *herb.FetchSource, n node) {
	if _, ok := n.value.(object); ok {
		n.bindOwn(refreshMembers(f))
		if f.Refresh == "" {
			n.fail("has no \"every\"; set it to a period such as 1h, a cron expression, or manual")
		}
		return
	}
	var s string
	n.assign(&s)
	var err error
	f.Refresh, err = herb.ParseRefresh(s)
	if err != nil {
		n.fail("is invalid: %v", err)
	}
}

// readOrder reads "date", "-date" or {field: date, order: desc}.
func readOrder(n node) (o herb.Order) {
	switch v := n.value.(type) {
	case string:
		o.Field, o.Desc = strings.CutPrefix(v, "-")
	case object:
		n.bindOwn(orderMembers(&o))
	default:
		n.fail("must be the name of a field, with a - before it for descending order, or {field, order}")
	}
	if o.Field == "" {
		n.fail("names no field; name a sortable one")
	}
	return o
}

// exactWords is the setting of a dataset of which a search finds no other forms of words.
const exactWords = "exact"

func readWords(n node) bool {
	if n.value != exactWords {
		n.fail("must be exact; leave it out to find other forms of words as well")
	}
	return true
}

// noCoordinates is the setting of a dataset whose records have no position.
const noCoordinates = "none"

// readCoordinates reads "none", {latitude, longitude} or {field, notation}.
func readCoordinates(n node) (c Coordinates) {
	if n.value == noCoordinates {
		return Coordinates{None: true}
	}
	const valid = "must be none, {latitude, longitude} or {field, notation}"
	if _, ok := n.value.(object); !ok {
		n.fail(valid)
		return c
	}
	n.bindOwn(coordinatesMembers(&c))
	isPair := c.Latitude != "" && c.Longitude != "" && c.Field == "" && c.Notation == "" && c.Latitude != c.Longitude
	isField := c.Field != "" && c.Latitude == "" && c.Longitude == "" &&
		slices.Contains(herb.CoordinatesNotations(), c.Notation)
	if !isPair && !isField {
		n.fail(valid + "; notations: lat,lon; lon,lat; wkt; geojson")
	}
	return c
}

// readCharts reads a list of charts, such as {by: date:month, measure: count}. What they name is
// checked when the fields are known.
func readCharts(n node) (charts []herb.PinnedChart) {
	for _, item := range n.shortList(herb.MaxCharts) {
		var c herb.PinnedChart
		item.isObject()
		item.bindOwn(chartMembers(&c))
		if len(c.By) == 0 && c.Measure == "" {
			item.fail("shows nothing; set \"by\", such as date:month, or \"measure\", such as mean:price")
		}
		charts = append(charts, c)
	}
	return charts
}

// readConditions reads conditions on rows: one value or a list of values by column.
func readConditions(n node) (out []Condition) {
	n.isObject()
	for _, name := range n.names() {
		m := n.member(name)
		if !m.isShort(herb.MaxIncluded) {
			return nil
		}
		values := m.texts()
		if len(values) == 0 {
			m.fail("lists no value; list values of rows, \"\" for an empty one")
		}
		out = append(out, Condition{Column: name, Values: values})
	}
	return out
}

func readExpectation(n node) (e herb.Expectation) {
	n.isObject()
	n.bindOwn(expectationMembers(&e))
	if _, hasQuery := n.member("query").value.(string); !hasQuery {
		n.fail("has no query; set it to the query string of a listing, \"\" for all records")
	}
	switch {
	case e.Total == nil && e.Min == nil && e.Max == nil && len(e.First) == 0:
		n.fail("expects nothing; set \"total\", the number of records, \"min\" or \"max\", its limits, or \"first\", " +
			"values of the first record")
	case e.Total != nil && (e.Min != nil || e.Max != nil):
		n.fail("has a total and its limits; set either \"total\" or \"min\" and \"max\"")
	case e.Min != nil && e.Max != nil && *e.Min > *e.Max:
		n.fail("has the min %d, which is greater than the max %d; exchange them", *e.Min, *e.Max)
	}
	return e
}

// readDialect reads the dialect of a resource, which is an object or the path of a file.
func (p *packageReader) readDialect(s *Source, n node) {
	dialect := p.dereference(n.member("dialect"), "dialect")
	dialect.checkPlacement(n.where + ".herbarium")
	s.Notes = append(s.Notes, bindDialect(&s.Dialect, s.Format, n.member("layout"), dialect)...)
}

// dialectFormats are the members of a dialect in which some programs write the settings of a
// format. A later one takes precedence.
func dialectFormats() []string {
	return []string{"parquet", "sql", "xlsx", "excel", "ndjson", "jsonl", "json", "tsv", "csv"}
}

// bindDialect reads a dialect, and the settings of the header that some programs write beside it.
func bindDialect(o *rows.Options, format string, layout, dialect node) (notes []string) {
	bindings := dialectMembers(o, format)
	places := []node{layout}
	for _, name := range dialectFormats() {
		places = append(places, dialect.member(name))
	}
	for _, place := range append(places, dialect) {
		notes = append(notes, place.bind(bindings)...)
	}
	if len(o.Widths) > 0 && o.Delimiter != 0 {
		dialect.fail("has a delimiter and fixedWidth, which exclude each other; remove one")
	}
	if o.Quote == '"' {
		o.Quote = 0 // the default
	}
	if o.Escape == cmp.Or(o.Quote, '"') && !o.NoQuote {
		o.Escape = 0 // a quote before a quote: doubled, which is the default
	}
	if o.Header == rows.HeaderNone {
		o.HeaderRows = nil
	}
	return notes
}

// readSkipped reads the number of lines before the header, or a list of line numbers and prefixes
// of comments.
func readSkipped(o *rows.Options, n node) {
	if number, ok := n.value.(json.Number); ok {
		var err error
		o.Skip, err = strconv.Atoi(number.String())
		if err != nil || o.Skip < 0 {
			n.fail("must be a number of lines, or a list of line numbers and prefixes of comments")
		}
		return
	}
	if !n.isShort(herb.MaxIncluded) {
		return
	}
	for _, item := range n.items() {
		prefix, ok := item.value.(string)
		switch {
		case !ok:
			o.CommentRows = append(o.CommentRows, item.integer(1, maxLine))
		case o.Comment != "" && o.Comment != prefix:
			item.fail("is %q, but comments begin with %q; only one prefix is possible", rows.Clip(prefix), o.Comment)
		default:
			o.Comment = prefix
		}
	}
}

// dereference returns the object of a member, or the object in the file that is named instead.
func (p *packageReader) dereference(n node, member string) node {
	if n.value == nil {
		return n
	}
	if _, ok := n.value.(string); ok {
		if p.input != nil {
			n.fail("names a file, which was not sent; write the content of the file instead")
			return node{err: n.err}
		}
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
	p.inlined[member] = n.value
	return n
}

// readSchema reads the fields of a resource. A schema without fields exposes every column.
func (p *packageReader) readSchema(s *Source, n node) {
	m := n.member("schema")
	if address, ok := m.value.(string); ok && strings.Contains(address, "://") {
		s.Notes = append(s.Notes,
			fmt.Sprintf("the schema at %.500s is not fetched: every column is exposed, with its inferred type; "+
				"to apply it, download it next to the descriptor", address))
		return
	}
	schema := p.dereference(m, "schema")
	if schema.value == nil {
		return
	}
	s.Notes = append(s.Notes, schema.bind([]binding{{"primaryKey", &s.PrimaryKey}}, "fields", "missingValues",
		"fieldsMatch", "uniqueKeys", "foreignKeys")...)
	readKeys(s, schema)
	s.Missing = missingValues(schema.member("missingValues"))
	if len(s.Missing) == 0 {
		s.Missing = nil
	}
	match := schema.member("fieldsMatch")
	if items := match.items(); len(items) == 1 { // a list of one in early editions
		match = items[0]
	}
	s.ByPosition = match.value == nil || match.value == "exact"
	list := schema.member("fields").shortList(herb.MaxFields)
	right := n.where + ".herbarium"
	for _, m := range append([]node{schema}, list...) {
		m.checkPlacement(right)
		m.member(Own).checkPlacement(right)
	}
	readFields(s, list)
}

func readFields(s *Source, list []node) {
	names := make([]string, len(list))
	first := map[string]int{} // position of the first field of each name
	for i, n := range list {
		f := readField(s, n)
		if at, ok := first[f.Name]; !ok {
			first[f.Name] = i
		} else if !f.Optional || !s.Fields[at].Optional {
			n.fail("has the name %q of another field; give each a name of its own and use herbarium.from for the column", rows.Clip(f.Name))
		}
		names[i] = f.Name
		s.Fields = append(s.Fields, f)
	}
	for i, name := range UniqueNames(names) { // as the columns of a file are named
		s.Fields[i].Name = name
	}
}

func readField(s *Source, n node) (f FieldSetting) {
	n.isObject()
	d := &f.Schema
	notes := n.bind(slices.Concat(typeMembers(d), categoryMembers(&f)), "name", "id", "title", "label", "description",
		"missingValues", "constraints", Own)
	s.Notes = append(s.Notes, notes...)
	settings := n.member(Own)
	settings.bindOwn(fieldMembers(&f))
	f.Optional = settings.value == nil
	var ok bool
	f.Name, ok = n.either("name", "id").scalar()
	if !ok {
		n.fail("has no name; set one%s", n.misspelled("name"))
	}
	f.Title = cmp.Or(n.annotation("title"), n.annotation("label"))
	f.Description = n.annotation("description")
	f.Missing = missingValues(n.member("missingValues"))
	d.Type = strings.ToLower(d.Type)
	checkCategories(n, &f)
	s.Notes = append(s.Notes, misspelledCategory(n.member("categories"))...)
	checkType(n, *d)
	readFormat(s, n.member("format"), f.Name, d)
	readConstraints(s, n.member("constraints"), &f)
	return f
}

// missingValues reads a list of values, each alone or with a label. The empty value is always
// missing.
func missingValues(n node) []string {
	if n.value == nil || !n.isShort(herb.MaxValues) {
		return nil
	}
	out := []string{} // of a field: replaces those of the schema
	for _, item := range n.items() {
		if labeled := item.member("value"); labeled.value != nil {
			item.value = labeled.value
		}
		if value := item.text(); value != "" {
			out = append(out, value)
		}
	}
	return out
}

// types returns the types of Table Schema, and further names that early editions and other programs
// use.
func types() []string {
	return []string{
		"string", "number", "integer", "boolean", "date", "datetime", "time", "year", "yearmonth", "duration", "list",
		"array", "object",
		"geopoint", "geojson", "any", "text", "int", "float", "double", "decimal", "numeric", "bool", "timestamp",
	}
}

// checkType fails if the type of a field is unknown, or if a member does not apply to it, which
// would be ignored.
func checkType(n node, d value.Schema) {
	if d.Type != "" && !slices.Contains(types(), d.Type) {
		n.member("type").fail("is unknown: %s", suggestion(d.Type, "types", types()))
	}
	t := value.TypeOf(d.Type)
	for _, m := range []struct {
		name string
		set  bool
		of   herb.Type
	}{
		{"decimalChar", d.DecimalChar != "", herb.TypeNumber}, {"groupChar", d.GroupChar != "", herb.TypeNumber},
		{"bareNumber", d.NotBare, herb.TypeNumber},
		{"delimiter", d.Delimiter != "", herb.TypeList}, {"trueValues", d.TrueValues != nil, herb.TypeBoolean},
		{"falseValues", d.FalseValues != nil, herb.TypeBoolean},
	} {
		if m.set && t != m.of {
			n.member(m.name).fail("applies only to the type %s; set the type, or remove %s", m.of, m.name)
		}
	}
}

// readFormat reads the format of a field, which says how dates, datetimes, times and durations are
// written, and nothing else about how values compare.
func readFormat(s *Source, n node, name string, d *value.Schema) {
	t, format := value.TypeOf(d.Type), d.Format
	switch t {
	case herb.TypeDate, herb.TypeDateTime, herb.TypeTime, herb.TypeDuration:
		return
	}
	d.Format = ""
	switch {
	case format == "" || format == "default" || t == "" && format == "any":
	case t == herb.TypeNumber && format == "currency": // an early edition
		d.NotBare = true
	case t != herb.TypeText:
		n.fail("is %q, which does not apply to the type %s; set the type date, datetime, time or duration, or remove "+
			"the format",
			rows.Clip(format), cmp.Or(d.Type, "any"))
	case !slices.Contains([]string{"email", "uri", "url", "uuid", "binary", "array", "object", "topojson",
		"any"}, format):
		s.Notes = append(s.Notes, fmt.Sprintf("field %q: the format %q has no effect on values that compare as text",
			rows.Clip(name), rows.Clip(format)))
	}
}
