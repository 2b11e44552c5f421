package parquetrows

import (
	"errors"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// node is a node of the schema of a Parquet file.
type node struct {
	name               string
	column             string // name of the column, if the node is one
	optional, repeated bool
	shape              nodeShape
	leaf               leafType // of a leaf
	children           []*node
	first, leaves      int  // range of the leaves below, in the order of the file
	def, rep           int  // levels of a value for which this node is present
	isVariant          bool // bytes below are never text
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

// schema is the schema of a file.
type schema struct {
	leaves  []*node // in the order of the column chunks of a row group
	columns []*node // of the resulting table
}

// schemaReader builds a tree from the list of its nodes in depth-first order.
type schemaReader struct {
	schema
	elements []meta.SchemaElement // that have not been read
	budget   *rows.Budget
}

func readSchema(elements []meta.SchemaElement, b *rows.Budget) (schema, error) {
	r := schemaReader{elements: elements, budget: b}
	root, err := r.readNode(new(node), 0)
	if err == nil {
		err = r.addColumns(root, "")
	}
	return r.schema, err
}

func (r *schemaReader) readNode(parent *node, depth int) (*node, error) {
	if err := r.budget.Depth(depth); err != nil {
		return nil, err
	}
	if len(r.elements) == 0 {
		return nil, herb.Invalidf("the schema of the file is damaged: elements are missing; write the file again")
	}
	e := &r.elements[0]
	r.elements = r.elements[1:]
	n := &node{name: e.Name, first: len(r.leaves), def: parent.def, rep: parent.rep, isVariant: parent.isVariant}
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
		r.leaves = append(r.leaves, n)
		n.leaves = 1
		var err error
		if n.leaf, err = newLeafType(e); n.isVariant && n.leaf.render == nil {
			n.leaf.render = appendBase64
		}
		return n, errors.Join(err, r.budget.Columns(len(r.leaves)))
	}
	n.shape = shapeGroup
	if _, ok := e.LogicalType.Value.(*meta.VariantType); ok {
		n.isVariant = true
	}
	for range e.NumChildren.V {
		c, err := r.readNode(n, depth+1)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	n.leaves = len(r.leaves) - n.first
	n.shape = shapeOfGroup(e, n)
	return n, nil
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
	default:
		return shapeGroup
	}
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
	if !n.repeated && n.shape == shapeList {
		element = n.element()
	} else if !n.repeated {
		return nil
	}
	if element.shape != shapeLeaf {
		return nil
	}
	return element
}

// addColumns adds a column for every child of a node. The fields of a group become columns of their own.
func (r *schemaReader) addColumns(parent *node, prefix string) error {
	for _, n := range parent.children {
		if n.leaves == 0 {
			continue // has no values
		}
		name := prefix + n.name
		if len(name) > rows.MaxName {
			return herb.Invalidf("the name of column %q has more than %d bytes", rows.Clip(n.name), rows.MaxName)
		}
		if n.shape != shapeGroup || n.repeated {
			n.column = name
			r.columns = append(r.columns, n)
		} else if err := r.addColumns(n, name+"."); err != nil {
			return err
		}
	}
	return nil
}
