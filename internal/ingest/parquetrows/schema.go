package parquetrows

import (
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
	width  int  // bytes of each value; 0: variable
	// isUnannotated is set for bytes that the file does not declare as text.
	isUnannotated bool
}

type leafKind int

const (
	leafBoolean leafKind = iota
	leafInt32
	leafInt64
	leafUint32
	leafUint64
	leafFloat
	leafDouble
	leafFloat16
	leafDecimal32
	leafDecimal64
	leafDecimalBytes
	leafDate
	leafTime32
	leafTime64
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
	root, err := r.readNode(nil, 0)
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
	n := &node{name: e.Name, first: r.leaves}
	if parent != nil {
		n.def, n.rep = parent.def, parent.rep
		if t := e.RepetitionType; t.Valid {
			n.optional, n.repeated = t.V == meta.Optional, t.V == meta.Repeated
		}
		if n.optional || n.repeated {
			n.def++
		}
		if n.repeated {
			n.rep++
		}
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
	switch e.LogicalType.Value.(type) {
	case *meta.ListType:
		return shapeList
	case *meta.MapType:
		if isMap {
			return shapeMap
		}
		return shapeList
	}
	if ct := e.ConvertedType; ct.Valid {
		switch {
		case ct.V == deprecated.List:
			return shapeList
		case (ct.V == deprecated.Map || ct.V == deprecated.MapKeyValue) && isMap:
			return shapeMap
		case ct.V == deprecated.Map || ct.V == deprecated.MapKeyValue:
			return shapeList
		}
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
	l, ok := logicalLeaf(e)
	if !ok {
		l, ok = physicalLeaf(e)
	}
	if !ok {
		return l, herb.Invalidf("column %q has an unsupported type; write it as text, numbers or dates", e.Name)
	}
	var err error
	if l.stored, err = newPhysicalType(e.Type.V, max(1, int(e.TypeLength.V))); err != nil {
		return l, err
	}
	if e.Type.V == meta.FixedLenByteArray {
		if l.width = int(e.TypeLength.V); l.width <= 0 {
			return l, herb.Invalidf("column %q has values of a fixed length without that length; write the file again", e.Name)
		}
	}
	return l, nil
}

// logicalLeaf returns the annotated type of a leaf. ok is false if there is none, or none that fits the stored type.
func logicalLeaf(e *meta.SchemaElement) (l leafType, ok bool) {
	stored := e.Type.V
	bytes := stored == meta.ByteArray || stored == meta.FixedLenByteArray
	switch t := e.LogicalType.Value.(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		return leafType{kind: leafText}, bytes
	case *meta.BsonType, *meta.GeometryType, *meta.GeographyType:
		return leafType{kind: leafBinary}, bytes
	case *meta.UUIDType:
		return leafType{kind: leafUUID}, stored == meta.FixedLenByteArray && e.TypeLength.V == 16
	case *meta.Float16Type:
		return leafType{kind: leafFloat16}, stored == meta.FixedLenByteArray && e.TypeLength.V == 2
	case *meta.DecimalType:
		return decimalLeaf(stored, t.Scale)
	case *meta.DateType:
		return leafType{kind: leafDate}, stored == meta.Int32
	case *meta.TimeType:
		return clockLeaf(stored, false, t.Unit, t.IsAdjustedToUTC)
	case *meta.TimestampType:
		return clockLeaf(stored, true, t.Unit, t.IsAdjustedToUTC)
	case *meta.IntType:
		return intLeaf(stored, t.IsSigned)
	}
	if !e.ConvertedType.Valid {
		return leafType{}, false
	}
	millis := meta.TimeUnit{Value: new(meta.MilliSeconds)}
	micros := meta.TimeUnit{Value: new(meta.MicroSeconds)}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return leafType{kind: leafText}, bytes
	case deprecated.Bson:
		return leafType{kind: leafBinary}, bytes
	case deprecated.Interval:
		return leafType{kind: leafInterval}, stored == meta.FixedLenByteArray && e.TypeLength.V == 12
	case deprecated.Decimal:
		return decimalLeaf(stored, e.Scale.V)
	case deprecated.Date:
		return leafType{kind: leafDate}, stored == meta.Int32
	case deprecated.TimeMillis:
		return clockLeaf(stored, false, millis, true)
	case deprecated.TimeMicros:
		return clockLeaf(stored, false, micros, true)
	case deprecated.TimestampMillis:
		return clockLeaf(stored, true, millis, true)
	case deprecated.TimestampMicros:
		return clockLeaf(stored, true, micros, true)
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return intLeaf(stored, false)
	default:
		return leafType{}, false
	}
}

func physicalLeaf(e *meta.SchemaElement) (leafType, bool) {
	switch e.Type.V {
	case meta.Boolean:
		return leafType{kind: leafBoolean}, true
	case meta.Int32:
		return leafType{kind: leafInt32}, true
	case meta.Int64:
		return leafType{kind: leafInt64}, true
	case meta.Int96:
		return leafType{kind: leafInt96, digits: 9}, true
	case meta.Float:
		return leafType{kind: leafFloat}, true
	case meta.Double:
		return leafType{kind: leafDouble}, true
	case meta.ByteArray, meta.FixedLenByteArray:
		return leafType{kind: leafBytes, isUnannotated: true}, true
	default:
		return leafType{}, false
	}
}

func intLeaf(stored meta.Type, signed bool) (leafType, bool) {
	switch {
	case stored == meta.Int32 && signed:
		return leafType{kind: leafInt32}, true
	case stored == meta.Int32:
		return leafType{kind: leafUint32}, true
	case stored == meta.Int64 && signed:
		return leafType{kind: leafInt64}, true
	case stored == meta.Int64:
		return leafType{kind: leafUint64}, true
	default:
		return leafType{}, false
	}
}

func decimalLeaf(stored meta.Type, scale int32) (leafType, bool) {
	l := leafType{scale: int(scale)}
	if scale < 0 || scale > 10_000 {
		return l, false
	}
	switch stored {
	case meta.Int32:
		l.kind = leafDecimal32
	case meta.Int64:
		l.kind = leafDecimal64
	case meta.ByteArray, meta.FixedLenByteArray:
		l.kind = leafDecimalBytes
	default:
		return l, false
	}
	return l, true
}

// clockLeaf returns a time of day, or a timestamp.
func clockLeaf(stored meta.Type, timestamp bool, unit meta.TimeUnit, utc bool) (leafType, bool) {
	l := leafType{utc: utc}
	switch unit.Value.(type) {
	case *meta.MilliSeconds:
		l.digits = 3
	case *meta.MicroSeconds:
		l.digits = 6
	case *meta.NanoSeconds:
		l.digits = 9
	default:
		return l, false
	}
	switch {
	case timestamp && stored == meta.Int64:
		l.kind = leafTimestamp
	case !timestamp && stored == meta.Int32 && l.digits == 3:
		l.kind = leafTime32
	case !timestamp && stored == meta.Int64:
		l.kind = leafTime64
	default:
		return l, false
	}
	return l, true
}
