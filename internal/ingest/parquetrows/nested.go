package parquetrows

import (
	"bytes"
	"fmt"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// columnReader reads the cells of one column of a row group.
type columnReader struct {
	column  *node
	cursors []*cursor // of the leaves of the column
	budget  *rows.Budget
	text    []byte // of the value that was read last
	list    []byte // the texts of all values of the cell, with a comma after each
	isList  bool   // list can be split into the same values again
}

func (r *reader) newColumnReader(group int, column *node) (*columnReader, error) {
	c := &columnReader{column: column, budget: r.budget}
	for leaf := column.first; leaf < column.first+column.leaves; leaf++ {
		cursor, err := r.newCursor(group, leaf)
		if err != nil {
			return nil, err
		}
		c.cursors = append(c.cursors, cursor)
	}
	return c, nil
}

// leaves returns the cursors of the leaves below a node.
func (c *columnReader) leaves(n *node) []*cursor {
	return c.cursors[n.first-c.column.first:][:n.leaves]
}

// appendCell appends the cell of the next row.
func (c *columnReader) appendCell(b []byte) ([]byte, error) {
	n := c.column
	if n.shape != shapeLeaf || n.repeated {
		b, err := c.appendNested(b)
		return b, noEOF(err)
	}
	data, err := c.cursors[0].next()
	if err != nil || data == nil {
		return b, noEOF(err)
	}
	return n.leaf.appendText(b, data)
}

// done fails if values remain after the last row.
func (c *columnReader) done() error {
	for _, cursor := range c.cursors {
		if _, err := cursor.next(); err == nil {
			return fmt.Errorf("column %q has more values than the row group has rows", cursor.leaf.name)
		} else if err != io.EOF {
			return err
		}
	}
	return nil
}

// appendNested appends the cell of a list, a map or a repeated field. A list of scalars is written with commas, unless an
// element is empty or has a comma; everything else is compact JSON. A missing or empty list is an empty cell.
func (c *columnReader) appendNested(b []byte) ([]byte, error) {
	for _, cursor := range c.cursors {
		if err := cursor.peek(); err != nil {
			return b, err
		}
		if cursor.current.rep != 0 {
			return b, errLevels
		}
	}
	n := c.column
	repeated := n
	if !n.repeated {
		repeated = n.children[0]
	}
	if ok, err := c.isPresent(repeated); !ok || err != nil {
		return b, err
	}
	start := len(b)
	c.list, c.isList = c.list[:0], true
	b, err := c.appendJSON(b, n)
	if n.scalarElement() == nil || err != nil {
		return b, err
	}
	if !c.isList {
		n.asJSON = true
		return b, nil
	}
	return append(b[:start], bytes.TrimSuffix(c.list, []byte(","))...), nil
}

// isPresent reports whether a node is present; otherwise it consumes its nulls. All leaves below agree, so the first one
// decides.
func (c *columnReader) isPresent(n *node) (bool, error) {
	leaves := c.leaves(n)
	if err := leaves[0].peek(); err != nil || leaves[0].current.def >= n.def {
		return err == nil, err
	}
	for _, cursor := range leaves {
		if _, err := cursor.next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// appendJSON appends a node as compact JSON.
func (c *columnReader) appendJSON(b []byte, n *node) ([]byte, error) {
	if n.repeated {
		return c.appendArray(b, n, n)
	}
	return c.appendOne(b, n)
}

// appendOne appends a node, or one of its repetitions.
func (c *columnReader) appendOne(b []byte, n *node) ([]byte, error) {
	if n.optional {
		if ok, err := c.isPresent(n); !ok {
			c.isList = false
			return append(b, "null"...), err
		}
	}
	switch n.shape {
	case shapeLeaf:
		return c.appendScalar(b, n)
	case shapeList:
		return c.appendArray(b, n.children[0], n.element())
	case shapeMap:
		pair := n.children[0]
		b, err := c.appendRepetitions(append(b, '{'), pair, func(b []byte) ([]byte, error) {
			return c.appendPair(b, pair.children[0], pair.children[1])
		})
		return append(b, '}'), err
	}
	b = append(b, '{')
	separator := ""
	for _, child := range n.children {
		if child.leaves == 0 {
			continue
		}
		b = append(herb.AppendJSONString(append(b, separator...), child.name), ':')
		var err error
		if b, err = c.appendJSON(b, child); err != nil {
			return b, err
		}
		separator = ","
	}
	return append(b, '}'), nil
}

// appendPair appends a key and its value.
func (c *columnReader) appendPair(b []byte, k, v *node) ([]byte, error) {
	key, err := c.appendJSON(nil, k)
	if err != nil {
		return b, err
	}
	if key[0] == '"' {
		b = append(b, key...)
	} else {
		b = herb.AppendJSONString(b, string(key))
	}
	return c.appendJSON(append(b, ':'), v)
}

// appendArray appends the elements that a node repeats.
func (c *columnReader) appendArray(b []byte, repeated, element *node) ([]byte, error) {
	b, err := c.appendRepetitions(append(b, '['), repeated, func(b []byte) ([]byte, error) { return c.appendOne(b, element) })
	return append(b, ']'), err
}

// appendRepetitions appends the repetitions of a repeated node, with commas between them.
func (c *columnReader) appendRepetitions(b []byte, n *node, one func([]byte) ([]byte, error)) ([]byte, error) {
	more, err := c.isPresent(n)
	for more && err == nil {
		if b, err = one(b); err != nil {
			return b, err
		}
		if err := c.budget.Step(); err != nil {
			return b, err
		}
		size := len(b)
		if c.column.scalarElement() != nil {
			size = len(c.list) // what b becomes, as a rule
		}
		if err := c.budget.Record(size); err != nil {
			return b, err
		}
		if more, err = c.repeats(n); more {
			b = append(b, ',')
		}
	}
	return b, err
}

// repeats reports whether the next values of the leaves below a node belong to another repetition of it.
func (c *columnReader) repeats(n *node) (more bool, err error) {
	for i, cursor := range c.leaves(n) {
		if err := cursor.peek(); err != nil && err != io.EOF {
			return false, err
		}
		rep := cursor.current.rep // 0 after the last value
		if i == 0 {
			more = rep == n.rep
		}
		if rep > n.rep || more != (rep == n.rep) {
			return false, errLevels
		}
	}
	return more, nil
}

// appendScalar appends a value as JSON: finite numbers and booleans as they are, everything else in quotes.
func (c *columnReader) appendScalar(b []byte, n *node) ([]byte, error) {
	data, err := c.leaves(n)[0].next()
	if err != nil || data == nil {
		c.isList = false
		return append(b, "null"...), err
	}
	if c.text, err = n.leaf.appendText(c.text[:0], data); err != nil {
		return b, err
	}
	c.isList = c.isList && len(c.text) > 0 && bytes.IndexByte(c.text, ',') < 0
	c.list = append(append(c.list, c.text...), ',')
	declared := n.leaf.declared
	if declared == herb.TypeBoolean || declared == herb.TypeNumber && c.text[len(c.text)-1] <= '9' {
		return append(b, c.text...), nil
	}
	return herb.AppendJSONString(b, string(c.text)), nil
}
