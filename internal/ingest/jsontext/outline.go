package jsontext

import (
	"context"
	"path"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

const (
	tableDepth = 2   // objects around an array of objects that is a table
	maxTables  = 100 // of one document
)

// documentOutline is the result of scanning a document for tables. Which members are tables depends
// on their names and kinds, and not on their lengths, so that the next edition of a document has
// the same tables.
type documentOutline struct {
	parser
	isDocument  bool     // the text is one object
	tables      []string // paths of arrays of objects
	empty       []string // paths of arrays without elements
	leaves      int      // other members, and the empty arrays
	typeName    string   // value of the member "type", which GeoJSON defines
	hasGeometry bool     // there is a member "geometry"
}

// scanOutline scans the document, unless its name promises one record per line or it does not
// begin with an object. A document followed by others is a sequence of records, without tables.
func scanOutline(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (d documentOutline, err error) {
	if slices.Contains([]string{".ndjson", ".jsonl"}, strings.ToLower(path.Ext(f.Name()))) {
		return d, nil
	}
	text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
	if err != nil {
		return d, err
	}
	defer text.Close()
	d.parser = parser{text: text, budget: b, line: 1, forget: true}
	if c, _ := d.peekToken(); c != '{' {
		return d, d.err
	}
	d.scanObject()
	if _, more := d.peekToken(); more || d.err != nil {
		return documentOutline{}, d.err
	}
	d.isDocument = true
	d.selectTables()
	for i, name := range d.tables {
		d.tables[i] = displayPath([]byte(name))
		if slices.Contains(d.tables[:i], d.tables[i]) {
			return documentOutline{}, herb.Invalidf("the member %q occurs twice; give each member once",
				rows.Clip(d.tables[i]))
		}
	}
	if len(d.tables) > maxTables {
		return documentOutline{},
			herb.Invalidf("the document has more than %d tables: %s; at most %d are published together, so name one "+
				"of them, such as FILE#%s",
				maxTables, rows.JoinNames(d.tables), maxTables, d.tables[0])
	}
	return d, nil
}

// selectTables adds the empty array of a document without records, and removes arrays that are not
// records although their elements are objects.
func (d *documentOutline) selectTables() {
	isFeatures := func(path string) bool { return path == "features" }
	isOfFields := func(path string) bool { return describesFields(lastName(path)) }
	isOfRecords := func(path string) bool { return isUsual(lastName(path)) || d.leaves == 1 }
	switch i := slices.IndexFunc(d.empty, isOfRecords); {
	case d.isFeature():
		d.tables = nil
	case d.typeName == "FeatureCollection" && slices.ContainsFunc(slices.Concat(d.tables, d.empty), isFeatures):
		d.tables = []string{"features"}
	case i >= 0 && !slices.ContainsFunc(d.tables, func(path string) bool { return !isOfFields(path) }):
		d.tables = d.empty[i : i+1]
	case len(d.tables) == 2:
		// Fields beside the records, as in CKAN and ArcGIS, describe their columns.
		i := slices.IndexFunc(d.tables, isOfFields)
		if i >= 0 && isUsual(lastName(d.tables[1-i])) {
			d.tables = d.tables[1-i : 2-i]
		}
	}
}

// isFeature reports whether the document is one feature of GeoJSON.
func (d *documentOutline) isFeature() bool { return d.typeName == "Feature" && d.hasGeometry }

// scanObject scans the object at the current position, whose path is d.path.
func (d *documentOutline) scanObject() {
	size := len(d.path)
	if d.depth > 0 {
		d.path = append(d.path, pathSeparator)
	}
	prefix := len(d.path)
	d.object(false, func(name span) {
		d.path = append(d.path[:prefix], d.content(name)...)
		d.scanMember()
	})
	d.path = d.path[:size]
}

func (d *documentOutline) scanMember() {
	c, _ := d.peekToken()
	d.hasGeometry = d.hasGeometry || string(d.path) == "geometry"
	switch {
	case c == '{' && d.depth < tableDepth:
		d.scanObject()
	case c == '[':
		d.scanArray()
	case c == '"' && string(d.path) == "type":
		d.typeName = string(d.content(d.quotedText(false)))
		d.leaves++
	default:
		d.skip()
		d.leaves++
	}
}

func (d *documentOutline) scanArray() {
	count, isTable := 0, false
	d.array(func() {
		c, _ := d.peekToken()
		isTable = isTable || c == '{' && count == 0
		count++
		d.skip()
	})
	switch {
	case len(d.path) == 0: // a member without a name cannot be selected
		d.leaves++
	case isTable:
		d.addPath(&d.tables)
	case count == 0:
		d.addPath(&d.empty)
		d.leaves++
	default:
		d.leaves++
	}
}

// addPath adds the current path to a list.
func (d *documentOutline) addPath(list *[]string) {
	if len(*list) <= maxTables {
		*list = append(*list, string(d.path))
	}
}

// lastName returns the last name of a path.
func lastName(path string) string {
	return path[1+strings.LastIndexByte(path, pathSeparator):]
}

// isUsual reports whether a name is usual for an array of records, so that an empty array is a
// table.
func isUsual(name string) bool {
	return slices.Contains([]string{"records", "data", "items", "results", "rows", "features", "values", "value",
		"entries", "list"}, strings.ToLower(name))
}

// describesFields reports whether an array of this name describes fields rather than records.
func describesFields(name string) bool {
	return slices.Contains([]string{"columns", "fields", "headers", "header"}, strings.ToLower(name))
}
