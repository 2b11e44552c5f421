package jsontext

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

const (
	wrapperDepth = 3   // objects within which tables are detected
	maxTables    = 100 // of one document
	minList      = 10  // plain values of a list that is a table
	minMap       = 30  // plain values of an object that maps keys to them; a record with as many members has some of another kind
)

// documentOutline is the result of scanning a document for tables.
type documentOutline struct {
	parser
	tables   []outlineMember // arrays of objects, and keyed objects
	values   []outlineMember // tables that are values, because the document is one record
	keyed    bool            // the document is a keyed object
	isMap    bool            // its members are plain values
	members  []outlineMember // some other members; objects without tables are one member
	leaves   int             // other members that are not objects
	empty    []outlineMember // arrays without elements
	header   []string        // the last names of columns
	grids    []outlineMember // arrays of arrays whose elements have the names in keys
	keys     []string
	columns  int             // values of each member of the document, if all members are columns; negative: they are not
	numbered int             // members of the document that are columns with the numbers of records
	arrays   []outlineMember // members of the document that are arrays
	isList   bool            // the last of them has several arrays, or minList plain values
}

// outlineMember is a member of a document.
type outlineMember struct {
	path    string // with pathSeparator between names
	records int    // elements of an array, members of an object
}

// parent returns the path of the object around the member.
func (m outlineMember) parent() string {
	return m.path[:max(0, strings.LastIndexByte(m.path, pathSeparator))]
}

// name returns the last name of the path.
func (m outlineMember) name() string {
	return m.path[1+strings.LastIndexByte(m.path, pathSeparator):]
}

// isIn reports whether an object with this path is around the member.
func (m outlineMember) isIn(object string) bool {
	return object == "" || strings.HasPrefix(m.path, object+string([]byte{pathSeparator}))
}

// tableName returns the path as users write it.
func (m outlineMember) tableName() string { return displayPath([]byte(m.path)) }

func tableNames(members []outlineMember) (names []string) {
	for _, m := range members {
		names = append(names, m.tableName())
	}
	return names
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
	s := d.scanObject(nil)
	if _, more := d.peekToken(); more || d.err != nil {
		return documentOutline{}, d.err
	}
	// Scalar members beside columns describe the table, if the numbers of the records show that the
	// others are columns.
	columns := s.members - s.plain
	if d.columns > 0 && columns > 1 && len(d.grids) == 0 && (s.plain == 0 || d.numbered == columns) {
		return documentOutline{columns: d.columns}, nil
	}
	d.columns = 0
	d.isMap = s.members >= minMap && (s.texts == s.members || s.numbers == s.members)
	if d.keyed = d.isMap || s.isKeyed(2, len(d.tables) > 0); d.keyed {
		d.tables = nil
	}
	d.selectTables(s)
	names := tableNames(d.tables)
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return documentOutline{}, herb.Invalidf("the member %q occurs twice; give each member once", rows.Clip(name))
		}
	}
	if len(names) > maxTables {
		return documentOutline{}, herb.Invalidf("the document has more than %d tables: %s; at most %d are published together, so name one of them, such as FILE#%s",
			maxTables, rows.JoinNames(names), maxTables, names[0])
	}
	return d, nil
}

// selectTables decides which members of a document with the shape s are tables.
func (d *documentOutline) selectTables(s shape) {
	isFields := func(m outlineMember) bool { return isHeader(m.name()) }
	switch i := slices.IndexFunc(d.tables, isFields); {
	case len(d.grids) == 1:
		d.tables, d.keyed = d.grids, false
	case d.keyed:
	case d.isList && len(d.tables) == 0 && len(d.arrays) == 1 && s.members <= 3 && s.members == d.leaves:
		// A list with at most two remarks about it, such as {"description": "…", "animals": ["ant",
		// …]}.
		d.tables = d.arrays
	case i >= 0 && len(d.tables) == 2 && isUsual(d.tables[1-i].name()):
		// Fields beside the records, as in CKAN, describe their columns.
		d.tables = d.tables[1-i : 2-i]
	default:
		mayBeTable := func(m outlineMember) bool { return isUsual(m.name()) || d.leaves == 1 }
		if i := slices.IndexFunc(d.empty, mayBeTable); i >= 0 && len(d.tables) == 0 {
			d.tables = d.empty[i : i+1]
		}
		if d.isRecord() {
			d.tables, d.values = nil, d.tables
		}
	}
}

// scanObject scans the object at the current position, whose path is d.path. It adds its members to
// the shape of the object around it.
func (d *documentOutline) scanObject(around *shape) (s shape) {
	size := len(d.path)
	if d.depth > 0 {
		d.path = append(d.path, pathSeparator)
	}
	prefix := len(d.path)
	d.object(false, func(name span) {
		if around != nil {
			if s.members == 0 {
				around.objects++
			}
			around.addField(d.content(name))
		}
		if string(d.content(name)) == strconv.Itoa(s.members) {
			s.numbered++
		}
		s.members++
		d.path = append(d.path[:prefix], d.content(name)...)
		d.scanMember(&s)
	})
	d.path = d.path[:size]
	return s
}

func (d *documentOutline) scanMember(s *shape) {
	c, _ := d.peekToken()
	switch {
	case c == '{' && d.depth <= wrapperDepth:
		tables, members, grids := len(d.tables), len(d.members), len(d.grids)
		inner := d.scanObject(s)
		isColumn := inner.numbered == inner.members && inner.plain == inner.members
		d.checkColumn(inner.members, isColumn)
		if isColumn && d.depth == 1 {
			d.numbered++
		}
		if d.depth < wrapperDepth && inner.isKeyed(3, len(d.tables) > tables) {
			d.tables, d.members = d.tables[:tables], d.members[:members]
			d.addMember(&d.tables, inner.members)
		} else if len(d.tables) == tables && len(d.grids) == grids {
			d.members = d.members[:members]
			d.addMember(&d.members, inner.members)
		}
	case c == '[' && d.depth <= wrapperDepth:
		d.scanArray()
	default:
		s.plain++
		if c == '"' {
			s.texts++
		} else if c == '-' || c >= '0' && c <= '9' {
			s.numbers++
		}
		d.leaves++
		d.addMember(&d.members, 0)
		d.skip()
	}
}

// checkColumn records whether a member of the document is a column of at least two values, as many
// as the other columns. pandas writes a column as an array or as an object whose members are the
// numbers of the records. The values of long columns may be arrays.
func (d *documentOutline) checkColumn(values int, isColumn bool) {
	switch {
	case d.depth > 1:
	case isColumn && values > 1 && (d.columns == 0 || d.columns == values):
		d.columns = values
	default:
		d.columns = -1
	}
}

func (d *documentOutline) scanArray() {
	name := string(d.path[1+bytes.LastIndexByte(d.path, pathSeparator):])
	describesColumns := isHeader(name)
	names, isTable, count, width, plain, arrays := []string(nil), false, 0, 0, 0, 0
	d.array(func() {
		c, _ := d.peekToken()
		if c == '[' {
			arrays++
		} else if c != '{' {
			plain++
		}
		if count++; count == 1 {
			isTable = c == '{'
		}
		switch {
		case describesColumns && count <= rows.MaxColumns:
			names = append(names, d.columnName())
		case c == '[' && count == 1:
			d.array(func() { width++; d.skip() })
		default:
			d.skip()
		}
	})
	if isTable {
		d.addMember(&d.tables, count)
	} else {
		d.leaves++
		d.addMember(&d.members, count)
	}
	d.checkColumn(count, plain == count || count >= minList && plain+arrays == count)
	if d.depth == 1 {
		d.addMember(&d.arrays, count)
		d.isList = count >= minList && plain == count || count > 1 && width > 1 && isUsual(name)
	}
	switch {
	case count == 0:
		d.addMember(&d.empty, 0)
	case describesColumns && count == len(names) && !slices.Contains(names, ""):
		d.header = names
	case width > 0 && width == len(d.header) && isUsual(name):
		d.addMember(&d.grids, count)
		d.keys = d.header
	}
}

// isUsual reports whether a name is usual for an array of records, so that an empty array is a
// table.
func isUsual(name string) bool {
	return slices.Contains([]string{"records", "data", "items", "results", "rows", "features", "values", "value", "entries", "list"}, strings.ToLower(name))
}

// isHeader reports whether a member of this name describes columns rather than records.
func isHeader(name string) bool {
	return slices.Contains([]string{"columns", "fields", "headers", "header"}, strings.ToLower(name))
}

// columnName reads the value at the current position and returns the name of a column: a text, or a
// member of an object.
func (d *documentOutline) columnName() string {
	d.begin()
	d.forget = false
	d.skip()
	d.forget = true
	raw := d.rec[:d.pos]
	var column struct{ Name, ID string }
	if json.Unmarshal(raw, &column.Name) != nil {
		_ = json.Unmarshal(raw, &column) // sets what is text
	}
	if name := cmp.Or(column.Name, column.ID); len(name) <= rows.MaxName {
		return name
	}
	return ""
}

// addMember adds the member at the current path to a list of members.
func (d *documentOutline) addMember(list *[]outlineMember, records int) {
	if len(*list) <= maxTables {
		*list = append(*list, outlineMember{string(d.path), records})
	}
}

// shape summarizes the members of an object.
type shape struct {
	members  int
	numbered int            // members whose names are their positions
	plain    int            // members that are neither objects nor arrays
	texts    int            // those that are text
	numbers  int            // those that are numbers
	objects  int            // members that are objects and not empty
	fields   int            // members of those objects
	names    map[string]int // how many of those objects have a member of a name
}

func (s *shape) addField(name []byte) {
	s.fields++
	if s.names == nil {
		s.names = map[string]int{}
	}
	if n := s.names[string(name)]; n > 0 || len(s.names) <= rows.MaxColumns {
		s.names[string(name)] = n + 1
	}
}

// isKeyed reports whether the object maps keys to records: it has a minimum of members, all of them
// objects (of ten members, one may be something else), which have half of their names, or nearly
// all of them one name, in common. Two objects, or objects with tables in them, must have three
// quarters of their names in common.
func (s *shape) isKeyed(least int, hasTables bool) bool {
	if hasTables {
		least = max(least, 3)
	}
	cells := s.objects * len(s.names)
	switch {
	case s.members < least || 10*(s.members-s.objects) > s.members:
		return false
	case s.members == 2 || hasTables:
		return 4*s.fields >= 3*cells
	case 2*s.fields >= cells:
		return true
	}
	for _, n := range s.names {
		if 10*n >= 9*s.objects && s.objects >= 10 {
			return true
		}
	}
	return false
}
