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

// documentLayout is the result of scanning a document for tables.
type documentLayout struct {
	parser
	tables   []string // dotted paths of arrays of objects, and of keyed objects
	keyed    bool     // the document is a keyed object
	isMap    bool     // its members are plain values
	members  []string // dotted paths of some other members
	empty    string   // the last empty array
	header   []string // the last names of columns
	grids    []string // dotted paths of arrays of arrays whose elements have the names in keys
	keys     []string
	columns  int      // values of each member of the document, if all members are columns; negative: they are not
	numbered int      // members of the document that are columns with the numbers of records
	arrays   []string // members of the document that are arrays
	isList   bool     // the last of them has several arrays, or minList plain values
}

// detectLayout scans the document, unless its name promises one record per line or it does not
// begin with an object. A document followed by others is a sequence of records, without tables.
func detectLayout(ctx context.Context, f rows.File, o rows.Options, b *rows.Budget) (l documentLayout, err error) {
	if slices.Contains([]string{".ndjson", ".jsonl"}, strings.ToLower(path.Ext(f.Name()))) {
		return l, nil
	}
	text, err := charset.Open(ctx, f, o.Encoding, b.MaxRecord())
	if err != nil {
		return l, err
	}
	defer text.Close()
	l.parser = parser{text: text, budget: b, line: 1, forget: true}
	if c, _ := l.peekToken(); c != '{' {
		return l, l.err
	}
	s := l.scanObject(nil)
	if _, more := l.peekToken(); more || l.err != nil {
		return documentLayout{}, l.err
	}
	// Scalar members beside columns describe the table, if the numbers of the records show that the
	// others are columns.
	columns := s.members - s.plain
	if l.columns > 0 && columns > 1 && len(l.grids) == 0 && (s.plain == 0 || l.numbered == columns) {
		return documentLayout{columns: l.columns}, nil
	}
	l.columns = 0
	l.isMap = s.members >= minMap && (s.texts == s.members || s.numbers == s.members)
	if l.keyed = l.isMap || s.isKeyed(2, len(l.tables) > 0); l.keyed {
		l.tables = nil
	}
	// A list with at most two remarks about it, such as {"description": "…", "animals": ["ant",
	// …]}.
	if l.isList && len(l.tables) == 0 && len(l.arrays) == 1 && s.members <= 3 && s.members == len(l.members) {
		l.members = slices.DeleteFunc(l.members, func(name string) bool { return name == l.arrays[0] })
		l.tables = l.arrays
	}
	if len(l.grids) == 1 {
		l.members = slices.DeleteFunc(append(l.tables, l.members...), func(name string) bool { return name == l.grids[0] })
		l.tables, l.keyed = l.grids, false
	}
	// Fields beside the records, as in CKAN, describe their columns.
	lastName := func(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }
	isFields := func(table string) bool { return isHeader(lastName(table)) }
	if i := slices.IndexFunc(l.tables, isFields); i >= 0 && len(l.tables) == 2 && isUsual(lastName(l.tables[1-i])) {
		l.tables, l.members = l.tables[1-i:2-i], append(l.members, l.tables[i])
	}
	if len(l.tables) == 0 && len(l.members) == 1 && l.members[0] == l.empty {
		l.tables, l.members = l.members, nil
	}
	for i, name := range l.tables {
		if slices.Contains(l.tables[:i], name) {
			return documentLayout{}, herb.Invalidf("the member %q occurs twice; give each member once", rows.Clip(name))
		}
	}
	if len(l.tables) > maxTables {
		return documentLayout{}, herb.Invalidf("the document has more than %d tables: %s; at most %d are published together, so name one of them, such as FILE#%s",
			maxTables, rows.JoinNames(l.tables), maxTables, l.tables[0])
	}
	return l, nil
}

// scanObject scans the object at the current position, whose path is l.path. It adds its members to
// the shape of the object around it.
func (l *documentLayout) scanObject(around *shape) (s shape) {
	size := len(l.path)
	if l.depth > 0 {
		l.path = append(l.path, pathSeparator)
	}
	prefix := len(l.path)
	l.object(false, func(name span) {
		if around != nil {
			if s.members == 0 {
				around.objects++
			}
			around.addField(l.content(name))
		}
		if string(l.content(name)) == strconv.Itoa(s.members) {
			s.numbered++
		}
		s.members++
		l.path = append(l.path[:prefix], l.content(name)...)
		l.scanMember(&s)
	})
	l.path = l.path[:size]
	return s
}

func (l *documentLayout) scanMember(s *shape) {
	c, _ := l.peekToken()
	switch {
	case c == '{' && l.depth <= wrapperDepth:
		tables, members := len(l.tables), len(l.members)
		inner := l.scanObject(s)
		isColumn := inner.numbered == inner.members && inner.plain == inner.members
		l.checkColumn(inner.members, isColumn)
		if isColumn && l.depth == 1 {
			l.numbered++
		}
		if l.depth < wrapperDepth && inner.isKeyed(3, len(l.tables) > tables) {
			l.tables, l.members = l.tables[:tables], l.members[:members]
			l.addTable(true)
		}
	case c == '[' && l.depth <= wrapperDepth:
		l.scanArray()
	default:
		s.plain++
		if c == '"' {
			s.texts++
		} else if c == '-' || c >= '0' && c <= '9' {
			s.numbers++
		}
		l.addTable(false)
		l.skip()
	}
}

// checkColumn records whether a member of the document is a column of at least two values, as many
// as the other columns. pandas writes a column as an array or as an object whose members are the
// numbers of the records. The values of long columns may be arrays.
func (l *documentLayout) checkColumn(values int, isColumn bool) {
	switch {
	case l.depth > 1:
	case isColumn && values > 1 && (l.columns == 0 || l.columns == values):
		l.columns = values
	default:
		l.columns = -1
	}
}

func (l *documentLayout) scanArray() {
	name := string(l.path[1+bytes.LastIndexByte(l.path, pathSeparator):])
	describesColumns := isHeader(name)
	names, count, width, plain, arrays := []string(nil), 0, 0, 0, 0
	l.array(func() {
		c, _ := l.peekToken()
		if c == '[' {
			arrays++
		} else if c != '{' {
			plain++
		}
		if count++; count == 1 {
			l.addTable(c == '{')
		}
		switch {
		case describesColumns && count <= rows.MaxColumns:
			names = append(names, l.columnName())
		case c == '[' && count == 1:
			l.array(func() { width++; l.skip() })
		default:
			l.skip()
		}
	})
	l.checkColumn(count, plain == count || count >= minList && plain+arrays == count)
	if l.depth == 1 {
		l.arrays = append(l.arrays, l.memberName())
		l.isList = count >= minList && plain == count || count > 1 && width > 1 && isUsual(name)
	}
	switch {
	case count == 0:
		l.addTable(isUsual(name))
		l.empty = l.memberName()
	case describesColumns && count == len(names) && !slices.Contains(names, ""):
		l.header = names
	case width > 0 && width == len(l.header) && isUsual(name):
		l.grids, l.keys = append(l.grids, l.memberName()), l.header
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
func (l *documentLayout) columnName() string {
	l.begin()
	l.forget = false
	l.skip()
	l.forget = true
	raw := l.rec[:l.pos]
	var column struct{ Name, ID string }
	if json.Unmarshal(raw, &column.Name) != nil {
		_ = json.Unmarshal(raw, &column) // sets what is text
	}
	if name := cmp.Or(column.Name, column.ID); len(name) <= rows.MaxName {
		return name
	}
	return ""
}

// addTable adds the member at the current path to the tables, or to the other members.
func (l *documentLayout) addTable(isTable bool) {
	list := &l.members
	if isTable {
		list = &l.tables
	}
	if len(*list) <= maxTables {
		*list = append(*list, l.memberName())
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
