package parquetrows

import (
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// node is a node of the schema of a Parquet file.
type node struct {
	name               string
	optional, repeated bool
	shape              nodeShape
	leaf               leafType // of a leaf
	children           []*node
	first, leaves      int  // range of the leaves below, in the order of the file
	def, rep           int  // levels of a value for which this node is present
	path               int  // bytes of the names from the root
	asJSON             bool // some list of this column was written as JSON
}

// nodeShape is what a node represents.
type nodeShape int

const (
	shapeLeaf  nodeShape = iota
	shapeGroup           // named fields
	shapeList            // elements, which its only child repeats
	shapeMap             // pairs, which its only child repeats
)

// leafType describes what the values of a leaf mean.
type leafType struct {
	kind   leafKind
	stored physicalType
	scale  int  // of a decimal
	digits int  // of the fraction of a second
	utc    bool // times are in UTC
	// isUnannotated is set for bytes that the file does not declare as text.
	isUnannotated bool
}

type leafKind int

const (
	leafBoolean leafKind = iota
	leafInt              // the first number
	leafUint
	leafFloat
	leafFloat16
	leafDecimal
	leafDecimalBytes // the last number
	leafDate
	leafTime
	leafTimestamp
	leafInt96
	leafText
	leafUUID
	leafInterval
	leafBinary // bytes, always as base64
	leafBytes  // text or binary; the values of the column decide
)

// schemaReader builds a tree from the list of its nodes in depth-first order.
type schemaReader struct {
	elements []meta.SchemaElement
	next     int
	leaves   int
	budget   *rows.Budget
}

// readSchema returns the top-level fields of a file.
func readSchema(elements []meta.SchemaElement, b *rows.Budget) ([]*node, error) {
	r := schemaReader{elements: elements, budget: b}
	root, err := r.readNode(new(node), 0)
	if err != nil {
		return nil, err
	}
	return root.children, nil
}

func (r *schemaReader) readNode(parent *node, depth int) (*node, error) {
	if err := r.budget.Depth(depth); err != nil {
		return nil, err
	}
	if r.next >= len(r.elements) {
		return nil, herb.Invalidf("the schema of the file is damaged: elements are missing; write the file again")
	}
	e := &r.elements[r.next]
	r.next++
	n := &node{name: e.Name, first: r.leaves, def: parent.def, rep: parent.rep, path: parent.path + len(e.Name) + 1}
	if n.path > rows.MaxName {
		return nil, herb.Invalidf("the name of column %q has more than %d bytes", rows.Clip(e.Name), rows.MaxName)
	}
	if t := e.RepetitionType; t.Valid && depth > 0 {
		n.optional, n.repeated = t.V == meta.Optional, t.V == meta.Repeated
	}
	if n.optional || n.repeated {
		n.def++
	}
	if n.repeated {
		n.rep++
	}
	if e.Type.Valid {
		r.leaves++
		n.leaves = 1
		var err error
		n.leaf, err = newLeafType(e)
		return n, err
	}
	n.shape = shapeGroup
	for range e.NumChildren.V {
		c, err := r.readNode(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	n.leaves = r.leaves - n.first
	n.shape = shapeOfGroup(e, n)
	if _, ok := e.LogicalType.Value.(*meta.VariantType); ok {
		n.markBinary()
	}
	return n, nil
}

// markBinary declares that bytes below a node are never text.
func (n *node) markBinary() {
	if n.shape == shapeLeaf && n.leaf.kind == leafBytes {
		n.leaf.kind = leafBinary
	}
	for _, c := range n.children {
		c.markBinary()
	}
}

// shapeOfGroup distinguishes lists and maps from other groups. One that lacks the structure that its annotation requires
// is a group.
func shapeOfGroup(e *meta.SchemaElement, n *node) nodeShape {
	if n.leaves == 0 || len(n.children) != 1 || !n.children[0].repeated {
		return shapeGroup
	}
	pairs := n.children[0]
	isMap := pairs.shape == shapeGroup && len(pairs.children) == 2 && pairs.children[0].leaves > 0 && pairs.children[1].leaves > 0
	switch annotation(e).(type) {
	case *meta.MapType:
		if isMap {
			return shapeMap
		}
		return shapeList
	case *meta.ListType:
		return shapeList
	}
	return shapeGroup
}

// element returns the element of a list. Writers put one or two levels between the two; the rules are those of the
// format specification.
func (n *node) element() *node {
	r := n.children[0]
	if r.shape != shapeGroup || len(r.children) != 1 || r.children[0].repeated ||
		r.name == "array" || r.name == n.name+"_tuple" {
		return r
	}
	return r.children[0]
}

// scalarElement returns the element of a list whose elements are scalars, and nil for other nodes.
func (n *node) scalarElement() *node {
	element := n
	switch {
	case n.repeated:
	case n.shape == shapeList:
		element = n.element()
	default:
		return nil
	}
	if element.shape != shapeLeaf {
		return nil
	}
	return element
}

// column is a column of the resulting table.
type column struct {
	name string
	node *node
}

// flattenFields appends a column for every node. The fields of a group become columns of their own.
func flattenFields(columns []column, nodes []*node, prefix string) []column {
	for _, n := range nodes {
		switch {
		case n.leaves == 0: // has no values
		case n.shape == shapeGroup && !n.repeated:
			columns = flattenFields(columns, n.children, prefix+n.name+".")
		default:
			columns = append(columns, column{prefix + n.name, n})
		}
	}
	return columns
}

// appendLeaves appends the leaves below nodes in the order of the file.
func appendLeaves(leaves, nodes []*node) []*node {
	for _, n := range nodes {
		if n.shape == shapeLeaf {
			leaves = append(leaves, n)
		}
		leaves = appendLeaves(leaves, n.children)
	}
	return leaves
}

// newLeafType returns the annotated type of a leaf, or else its stored type.
func newLeafType(e *meta.SchemaElement) (leafType, error) {
	types := []leafType{
		{kind: leafBoolean, stored: physicalType{meta.Boolean, 0}},
		{kind: leafInt, stored: physicalType{meta.Int32, 4}},
		{kind: leafInt, stored: physicalType{meta.Int64, 8}},
		{kind: leafFloat, stored: physicalType{meta.Float, 4}},
		{kind: leafFloat, stored: physicalType{meta.Double, 8}},
		{kind: leafInt96, stored: physicalType{meta.Int96, 12}, digits: 9},
		{kind: leafBytes, stored: physicalType{meta.ByteArray, 0}, isUnannotated: true},
		{kind: leafBytes, stored: physicalType{meta.FixedLenByteArray, int(e.TypeLength.V)}, isUnannotated: true},
	}
	i := slices.IndexFunc(types, func(l leafType) bool { return l.stored.kind == e.Type.V })
	switch {
	case i < 0:
		return leafType{}, herb.Invalidf("column %q has an unsupported type; write it as text, numbers or dates", e.Name)
	case e.Type.V == meta.FixedLenByteArray && e.TypeLength.V <= 0:
		return leafType{}, herb.Invalidf("column %q has values of a fixed length without that length; write the file again", e.Name)
	}
	l := types[i]
	if annotated, ok := annotatedType(e, l.stored); ok {
		annotated.stored = l.stored
		l = annotated
	}
	return l, nil
}

// annotatedType returns the annotated type of a leaf. ok is false if there is none that fits the stored type.
func annotatedType(e *meta.SchemaElement, stored physicalType) (l leafType, ok bool) {
	isBytes := stored.kind == meta.ByteArray || stored.kind == meta.FixedLenByteArray
	isFixed := func(width int) bool { return stored.kind == meta.FixedLenByteArray && stored.width == width }
	isInt := stored.kind == meta.Int32 || stored.kind == meta.Int64
	switch t := annotation(e).(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		return leafType{kind: leafText}, isBytes
	case *meta.BsonType, *meta.GeometryType, *meta.GeographyType:
		return leafType{kind: leafBinary}, isBytes
	case *meta.UUIDType:
		return leafType{kind: leafUUID}, isFixed(16)
	case *meta.Float16Type:
		return leafType{kind: leafFloat16}, isFixed(2)
	case deprecated.ConvertedType: // Interval, which has no newer annotation
		return leafType{kind: leafInterval}, isFixed(12)
	case *meta.DecimalType:
		l = leafType{kind: leafDecimal, scale: int(t.Scale)}
		if isBytes {
			l.kind = leafDecimalBytes
		}
		return l, (isInt || isBytes) && t.Scale >= 0 && t.Scale <= 10_000
	case *meta.DateType:
		return leafType{kind: leafDate}, stored.kind == meta.Int32
	case *meta.TimeType:
		l = leafType{kind: leafTime, digits: unitDigits(t.Unit), utc: t.IsAdjustedToUTC}
		return l, stored.kind == meta.Int64 && l.digits > 0 || stored.kind == meta.Int32 && l.digits == 3
	case *meta.TimestampType:
		l = leafType{kind: leafTimestamp, digits: unitDigits(t.Unit), utc: t.IsAdjustedToUTC}
		return l, stored.kind == meta.Int64 && l.digits > 0
	case *meta.IntType:
		if t.IsSigned {
			return leafType{kind: leafInt}, isInt
		}
		return leafType{kind: leafUint}, isInt
	}
	return l, false
}

// unitDigits returns the digits of the fraction of a second, 0 for an unknown unit.
func unitDigits(unit meta.TimeUnit) int {
	switch unit.Value.(type) {
	case *meta.MilliSeconds:
		return 3
	case *meta.MicroSeconds:
		return 6
	case *meta.NanoSeconds:
		return 9
	default:
		return 0
	}
}

// annotation returns the logical type of an element, translated from the older converted type if necessary.
func annotation(e *meta.SchemaElement) any {
	if e.LogicalType.Value != nil || !e.ConvertedType.Valid {
		return e.LogicalType.Value
	}
	millis := meta.TimeUnit{Value: new(meta.MilliSeconds)}
	micros := meta.TimeUnit{Value: new(meta.MicroSeconds)}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return new(meta.StringType)
	case deprecated.Bson:
		return new(meta.BsonType)
	case deprecated.Interval:
		return e.ConvertedType.V
	case deprecated.Decimal:
		return &meta.DecimalType{Scale: e.Scale.V}
	case deprecated.Date:
		return new(meta.DateType)
	case deprecated.TimeMillis:
		return &meta.TimeType{IsAdjustedToUTC: true, Unit: millis}
	case deprecated.TimeMicros:
		return &meta.TimeType{IsAdjustedToUTC: true, Unit: micros}
	case deprecated.TimestampMillis:
		return &meta.TimestampType{IsAdjustedToUTC: true, Unit: millis}
	case deprecated.TimestampMicros:
		return &meta.TimestampType{IsAdjustedToUTC: true, Unit: micros}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return new(meta.IntType)
	case deprecated.List:
		return new(meta.ListType)
	case deprecated.Map, deprecated.MapKeyValue:
		return new(meta.MapType)
	default:
		return nil
	}
}
