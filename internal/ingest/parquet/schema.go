package parquet

import (
	"cmp"
	"strconv"

	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// node is a value of a record. Repeated fields and all ways in which writers nest lists become the
// same kinds of nodes.
type node struct {
	name          string // of a column: with the names of the groups around it
	kind          nodeKind
	leaf          leafType
	children      []*node // of a group: its fields; of a list: the element; of a map: key and value
	first, leaves int     // range of the leaves below, in the order of the file
	// levels of a value for which this node is present; an item of a list or map has one more of
	// each
	def, rep   uint64
	isRepeated bool // a list because the field is repeated, without an annotation
}

type nodeKind int

const (
	kindLeaf nodeKind = iota
	kindGroup
	kindList
	kindMap
)

func (n *node) isScalarList() bool { return n.kind == kindList && n.children[0].kind == kindLeaf }

// schema builds the tree of nodes of a file from their list in depth-first order.
type schema struct {
	elements []meta.SchemaElement // that have not been read
	budget   *rows.Budget
	leaves   []*node // in the order of the column chunks of a row group
	columns  []*node // of the resulting table
	listed   []rows.Column
}

func readSchema(elements []meta.SchemaElement, b *rows.Budget) (*schema, error) {
	s := &schema{elements: elements, budget: b}
	root, err := s.readNode(new(node), 0)
	if err == nil {
		err = s.addColumns(root, "")
	}
	return s, err
}

func (s *schema) readNode(parent *node, depth int) (*node, error) {
	if err := s.budget.Depth(depth); err != nil {
		return nil, err
	}
	if len(s.elements) == 0 {
		return nil, herb.Invalidf("the schema of the file is damaged: elements are missing; write the file again")
	}
	e := s.elements[0]
	s.elements = s.elements[1:]
	if depth == 0 {
		e = meta.SchemaElement{NumChildren: e.NumChildren} // nothing else about the root matters
	}
	n := &node{name: e.Name, first: len(s.leaves), def: parent.def, rep: parent.rep}
	content := n
	switch e.RepetitionType.V {
	case meta.Optional:
		n.def++
	case meta.Repeated:
		item := *n
		item.def++
		item.rep++
		content = &item
		n.kind, n.isRepeated, n.children = kindList, true, []*node{content}
	}
	err := s.readContent(content, &e, depth)
	content.leaves = len(s.leaves) - n.first
	n.leaves = content.leaves
	return n, err
}

// readContent reads what a node is apart from its repetition: a leaf, or a group of the nodes that
// follow.
func (s *schema) readContent(n *node, e *meta.SchemaElement, depth int) (err error) {
	if e.Type.Valid {
		s.leaves = append(s.leaves, n)
		n.leaf, err = newLeafType(e)
		return cmp.Or(err, s.budget.Columns(len(s.leaves)))
	}
	n.kind = kindGroup
	if _, ok := e.LogicalType.Value.(*meta.VariantType); ok {
		return errType(e.Name, "VARIANT")
	}
	for range e.NumChildren.V {
		child, err := s.readNode(n, depth+1)
		if err != nil {
			return err
		}
		if child.leaves > 0 { // others have no values
			n.children = append(n.children, child)
		}
	}
	n.annotate(annotation(e))
	return nil
}

// annotate turns a group that is annotated as a list or map into one. It remains a group if it does
// not repeat its only child.
func (n *node) annotate(annotation any) {
	if len(n.children) != 1 || !n.children[0].isRepeated {
		return
	}
	item := n.children[0].children[0]
	isGroup := item.kind == kindGroup
	switch annotation.(type) {
	case *meta.MapType:
		if isGroup && len(item.children) == 2 {
			n.kind, n.children = kindMap, item.children
			return
		}
	case *meta.ListType:
	default:
		return
	}
	n.kind, n.children = kindList, []*node{item}
	// Writers put one or two levels between a list and its element; the rules are those of the
	// format specification.
	if isGroup && len(item.children) == 1 && !item.children[0].isRepeated && item.name != "array" &&
		item.name != n.name+"_tuple" {
		n.children = item.children
	}
}

// addColumns adds a column for every child of a node. The fields of a group become columns of their
// own.
func (s *schema) addColumns(parent *node, prefix string) error {
	for _, n := range parent.children {
		name := prefix + n.name
		if len(name) > rows.MaxName {
			return herb.Invalidf("the name of column %q has more than %d bytes", rows.Clip(n.name), rows.MaxName)
		}
		if n.kind == kindGroup {
			if err := s.addColumns(n, name+"."); err != nil {
				return err
			}
			continue
		}
		n.name = name
		column := rows.Column{Name: name, Type: herb.TypeText}
		if n.kind == kindLeaf {
			column.Type, column.Numbers = n.leaf.declared, n.leaf.declared == herb.TypeNumber
		} else if n.isScalarList() {
			column.Type = herb.TypeList
		}
		s.columns, s.listed = append(s.columns, n), append(s.listed, column)
	}
	return nil
}

// leafType describes how the values of a leaf are stored and what they mean.
type leafType struct {
	stored   meta.Type
	width    int       // of a value in bytes; 0 for booleans and byte arrays
	declared herb.Type // type of a column; empty for bytes without an annotation
	render   appendFunc

	isGeometry bool // declared by the schema
}

// appendFunc appends a value that is not null as text.
type appendFunc func(b, data []byte) ([]byte, error)

// newLeafType returns the annotated type of a leaf, or else its stored type.
func newLeafType(e *meta.SchemaElement) (leafType, error) {
	types := []leafType{
		meta.Boolean:           {declared: herb.TypeBoolean, render: appendBoolean},
		meta.Int32:             {width: 4, declared: herb.TypeNumber, render: appendInt},
		meta.Int64:             {width: 8, declared: herb.TypeNumber, render: appendInt},
		meta.Int96:             {width: 12, declared: herb.TypeDateTime, render: appendInt96},
		meta.Float:             {width: 4, declared: herb.TypeNumber, render: appendFloat},
		meta.Double:            {width: 8, declared: herb.TypeNumber, render: appendFloat},
		meta.ByteArray:         {render: appendBytes},
		meta.FixedLenByteArray: {width: int(e.TypeLength.V), declared: herb.TypeText, render: appendBase64},
	}
	stored := e.Type.V
	switch {
	case stored < 0 || int(stored) >= len(types):
		return leafType{}, errType(e.Name, strconv.Itoa(int(stored)))
	case stored == meta.FixedLenByteArray && e.TypeLength.V <= 0:
		return leafType{}, herb.Invalidf(
			"column %q has values of a fixed length without that length; write the file again", e.Name)
	}
	l := types[stored]
	l.stored = stored
	switch t := annotation(e).(type) {
	case *meta.Float16Type:
		return leafType{}, errType(e.Name, "FLOAT16")
	case deprecated.ConvertedType: // Interval, which has no newer annotation
		return leafType{}, errType(e.Name, "INTERVAL")
	default:
		l.annotate(t)
	}
	return l, nil
}

// errType is the error for a column of a type that is not read.
func errType(column, name string) error {
	return herb.Invalidf("column %q has the unsupported type %s; write it as text, numbers or dates",
		rows.Clip(column), name)
}

// annotate changes a stored type to the annotated one, unless values of that type cannot be stored
// this way.
func (l *leafType) annotate(annotation any) {
	set := func(isValid bool, declared herb.Type, render appendFunc) {
		if isValid && render != nil {
			l.declared, l.render = declared, render
		}
	}
	isBytes := l.stored == meta.ByteArray || l.stored == meta.FixedLenByteArray
	isFixed := func(width int) bool { return l.stored == meta.FixedLenByteArray && l.width == width }
	isInt := l.stored == meta.Int32 || l.stored == meta.Int64
	switch t := annotation.(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		set(isBytes, herb.TypeText, appendUTF8)
	case *meta.BsonType:
		set(isBytes, herb.TypeText, appendBase64)
	case *meta.GeometryType, *meta.GeographyType:
		l.isGeometry = isBytes
	case *meta.UUIDType:
		set(isFixed(16), herb.TypeText, appendUUID)
	case *meta.DecimalType:
		set((isInt || isBytes) && t.Scale >= 0 && t.Scale <= 10_000, herb.TypeNumber,
			appendDecimal(int(t.Scale), isInt))
	case *meta.DateType:
		set(l.stored == meta.Int32, herb.TypeDate, appendDate)
	case *meta.TimeType:
		_, isMillis := t.Unit.Value.(*meta.MilliSeconds)
		set(l.stored == meta.Int64 || l.stored == meta.Int32 && isMillis, herb.TypeTime,
			appendTime(t.Unit, t.IsAdjustedToUTC, false))
	case *meta.TimestampType:
		set(l.stored == meta.Int64, herb.TypeDateTime, appendTime(t.Unit, t.IsAdjustedToUTC, true))
	case *meta.IntType:
		set(isInt && !t.IsSigned, herb.TypeNumber, appendUint)
	}
}

// annotation returns the logical type of an element, translated from the older converted type if
// necessary.
func annotation(e *meta.SchemaElement) any {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	millis, micros := meta.TimeUnit{Value: new(meta.MilliSeconds)}, meta.TimeUnit{Value: new(meta.MicroSeconds)}
	text, unsigned, pairs := new(meta.StringType), new(meta.IntType), new(meta.MapType)
	return map[deprecated.ConvertedType]any{
		deprecated.UTF8: text, deprecated.Enum: text, deprecated.Json: text, deprecated.Bson: new(meta.BsonType),
		deprecated.Uint8: unsigned, deprecated.Uint16: unsigned, deprecated.Uint32: unsigned,
		deprecated.Uint64: unsigned,
		deprecated.List:   new(meta.ListType), deprecated.Map: pairs, deprecated.MapKeyValue: pairs,
		deprecated.Decimal:         &meta.DecimalType{Scale: e.Scale.V},
		deprecated.Date:            new(meta.DateType),
		deprecated.Interval:        deprecated.Interval,
		deprecated.TimeMillis:      &meta.TimeType{IsAdjustedToUTC: true, Unit: millis},
		deprecated.TimeMicros:      &meta.TimeType{IsAdjustedToUTC: true, Unit: micros},
		deprecated.TimestampMillis: &meta.TimestampType{IsAdjustedToUTC: true, Unit: millis},
		deprecated.TimestampMicros: &meta.TimestampType{IsAdjustedToUTC: true, Unit: micros},
	}[e.ConvertedType.V]
}
