package ingest

import (
	"github.com/parquet-go/parquet-go/deprecated"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// parquetNode is a node of the schema of a Parquet file.
type parquetNode struct {
	name               string
	optional, repeated bool
	shape              parquetShape
	leaf               parquetLeaf // of a leaf
	children           []*parquetNode
	first, leaves      int // the leaves below, in the order of the file
	def, rep           int // the levels of a value for which this node is there
}

// parquetShape is what a node stands for.
type parquetShape int

const (
	shapeLeaf  parquetShape = iota
	shapeGroup              // fields, each with a name
	shapeList               // of what its only child repeats
	shapeMap                // of the pairs that its only child repeats
)

// parquetLeaf is what the values of a leaf mean.
type parquetLeaf struct {
	kind   leafKind
	stored physicalType
	scale  int  // of a decimal
	digits int  // of the fraction of a second
	utc    bool // the clock is that of UTC
	width  int  // bytes of each value; 0: any number
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
	leafBytes  // text or bytes, which the values of the column decide
)

// maxParquetDepth is how deep a schema may be nested.
const maxParquetDepth = 100

// schemaReader builds the tree from the list of its nodes, which stand in depth-first order.
type schemaReader struct {
	elements []meta.SchemaElement
	next     int
	leaves   int
}

// readParquetSchema returns the fields at the top of a file.
func readParquetSchema(elements []meta.SchemaElement) ([]*parquetNode, error) {
	r := schemaReader{elements: elements}
	root, err := r.node(nil, 0)
	if err != nil {
		return nil, err
	}
	return root.children, nil
}

func (r *schemaReader) node(parent *parquetNode, depth int) (*parquetNode, error) {
	if r.next >= len(r.elements) || depth > maxParquetDepth {
		return nil, herb.Invalidf("the schema of the file is damaged, or nested more than %d deep; write the file again", maxParquetDepth)
	}
	e := &r.elements[r.next]
	r.next++
	n := &parquetNode{name: e.Name, first: r.leaves}
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
		n.leaf, err = leafOf(e)
		return n, err
	}
	n.shape = shapeGroup
	for range e.NumChildren.V {
		c, err := r.node(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	n.leaves = r.leaves - n.first
	n.shape = groupShape(e, n)
	if _, ok := e.LogicalType.Value.(*meta.VariantType); ok {
		n.holdsBinary()
	}
	return n, nil
}

// holdsBinary says that bytes below a node are never text.
func (n *parquetNode) holdsBinary() {
	if n.shape == shapeLeaf && n.leaf.kind == leafBytes {
		n.leaf.kind = leafBinary
	}
	for _, c := range n.children {
		c.holdsBinary()
	}
}

// groupShape tells a list and a map from a group. One that does not have the structure of what it is said to be counts
// as a group.
func groupShape(e *meta.SchemaElement, n *parquetNode) parquetShape {
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

// element returns what a list is a list of. Writers have put one or two levels between the two; the rules are those of
// the format's own description.
func (n *parquetNode) element() *parquetNode {
	r := n.children[0]
	if r.shape != shapeGroup || len(r.children) != 1 || r.children[0].repeated ||
		r.name == "array" || r.name == n.name+"_tuple" {
		return r
	}
	return r.children[0]
}

// parquetColumn is a column of the table that a Parquet file becomes.
type parquetColumn struct {
	name string
	node *parquetNode
}

// flatten makes columns of nodes: the fields of a group become columns of their own.
func flatten(nodes []*parquetNode, prefix string, columns []parquetColumn) []parquetColumn {
	for _, n := range nodes {
		switch {
		case n.leaves == 0: // nothing can be in it
		case n.shape == shapeGroup && !n.repeated:
			columns = flatten(n.children, prefix+n.name+".", columns)
		default:
			columns = append(columns, parquetColumn{prefix + n.name, n})
		}
	}
	return columns
}

// leavesOf appends the leaves below nodes in the order of the file.
func leavesOf(nodes []*parquetNode, leaves []*parquetNode) []*parquetNode {
	for _, n := range nodes {
		if n.shape == shapeLeaf {
			leaves = append(leaves, n)
		}
		leaves = leavesOf(n.children, leaves)
	}
	return leaves
}

// leafOf reads the type of a leaf: what it means where that is said, else how it is stored.
func leafOf(e *meta.SchemaElement) (parquetLeaf, error) {
	l, ok := logicalLeaf(e)
	if !ok {
		l, ok = physicalLeaf(e)
	}
	if !ok {
		return l, herb.Invalidf("column %q has a type that cannot be read; write it as text, numbers or dates", e.Name)
	}
	var err error
	if l.stored, err = physicalTypeOf(e.Type.V, max(1, int(e.TypeLength.V))); err != nil {
		return l, err
	}
	if e.Type.V == meta.FixedLenByteArray {
		if l.width = int(e.TypeLength.V); l.width <= 0 {
			return l, herb.Invalidf("column %q has values of a fixed length that is not given; write the file again", e.Name)
		}
	}
	return l, nil
}

// logicalLeaf reads what the values of a leaf are said to mean. It is false where nothing is said, or nothing that fits.
func logicalLeaf(e *meta.SchemaElement) (parquetLeaf, bool) {
	stored := e.Type.V
	bytes := stored == meta.ByteArray || stored == meta.FixedLenByteArray
	switch t := e.LogicalType.Value.(type) {
	case *meta.StringType, *meta.EnumType, *meta.JsonType:
		return parquetLeaf{kind: leafText}, bytes
	case *meta.BsonType, *meta.GeometryType, *meta.GeographyType:
		return parquetLeaf{kind: leafBinary}, bytes
	case *meta.UUIDType:
		return parquetLeaf{kind: leafUUID}, stored == meta.FixedLenByteArray && e.TypeLength.V == 16
	case *meta.Float16Type:
		return parquetLeaf{kind: leafFloat16}, stored == meta.FixedLenByteArray && e.TypeLength.V == 2
	case *meta.DecimalType:
		return decimalLeaf(stored, t.Scale)
	case *meta.DateType:
		return parquetLeaf{kind: leafDate}, stored == meta.Int32
	case *meta.TimeType:
		return clockLeaf(stored, false, t.Unit, t.IsAdjustedToUTC)
	case *meta.TimestampType:
		return clockLeaf(stored, true, t.Unit, t.IsAdjustedToUTC)
	case *meta.IntType:
		return intLeaf(stored, t.IsSigned)
	}
	if !e.ConvertedType.Valid {
		return parquetLeaf{}, false
	}
	millis := meta.TimeUnit{Value: new(meta.MilliSeconds)}
	micros := meta.TimeUnit{Value: new(meta.MicroSeconds)}
	switch e.ConvertedType.V {
	case deprecated.UTF8, deprecated.Enum, deprecated.Json:
		return parquetLeaf{kind: leafText}, bytes
	case deprecated.Bson:
		return parquetLeaf{kind: leafBinary}, bytes
	case deprecated.Interval:
		return parquetLeaf{kind: leafInterval}, stored == meta.FixedLenByteArray && e.TypeLength.V == 12
	case deprecated.Decimal:
		return decimalLeaf(stored, e.Scale.V)
	case deprecated.Date:
		return parquetLeaf{kind: leafDate}, stored == meta.Int32
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
		return parquetLeaf{}, false
	}
}

func physicalLeaf(e *meta.SchemaElement) (parquetLeaf, bool) {
	switch e.Type.V {
	case meta.Boolean:
		return parquetLeaf{kind: leafBoolean}, true
	case meta.Int32:
		return parquetLeaf{kind: leafInt32}, true
	case meta.Int64:
		return parquetLeaf{kind: leafInt64}, true
	case meta.Int96:
		return parquetLeaf{kind: leafInt96, digits: 9}, true
	case meta.Float:
		return parquetLeaf{kind: leafFloat}, true
	case meta.Double:
		return parquetLeaf{kind: leafDouble}, true
	case meta.ByteArray, meta.FixedLenByteArray:
		return parquetLeaf{kind: leafBytes}, true
	default:
		return parquetLeaf{}, false
	}
}

func intLeaf(stored meta.Type, signed bool) (parquetLeaf, bool) {
	switch {
	case stored == meta.Int32 && signed:
		return parquetLeaf{kind: leafInt32}, true
	case stored == meta.Int32:
		return parquetLeaf{kind: leafUint32}, true
	case stored == meta.Int64 && signed:
		return parquetLeaf{kind: leafInt64}, true
	case stored == meta.Int64:
		return parquetLeaf{kind: leafUint64}, true
	default:
		return parquetLeaf{}, false
	}
}

func decimalLeaf(stored meta.Type, scale int32) (parquetLeaf, bool) {
	l := parquetLeaf{scale: int(scale)}
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

// clockLeaf is a time of day, or one of a day.
func clockLeaf(stored meta.Type, day bool, unit meta.TimeUnit, utc bool) (parquetLeaf, bool) {
	l := parquetLeaf{utc: utc}
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
	case day && stored == meta.Int64:
		l.kind = leafTimestamp
	case !day && stored == meta.Int32 && l.digits == 3:
		l.kind = leafTime32
	case !day && stored == meta.Int64:
		l.kind = leafTime64
	default:
		return l, false
	}
	return l, true
}
