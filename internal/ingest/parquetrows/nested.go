package parquetrows

import (
	"bytes"
	"cmp"
	"errors"
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

// fail ends reading with an error. All values after it are null, so that callers check the error once per cell.
func (c *columnReader) fail(err error) {
	for _, cursor := range c.cursors {
		if cursor.current = (value{}); cursor.err == nil || cursor.err == io.EOF {
			cursor.err = err
		}
	}
}

// appendCell appends the cell of the next row.
func (c *columnReader) appendCell(b []byte) ([]byte, error) {
	if n := c.column; n.shape != shapeLeaf || n.repeated {
		b = c.appendNested(b)
	} else if data := c.cursors[0].next(); data != nil {
		b = c.appendText(b, n, data)
	}
	for _, cursor := range c.cursors {
		if cursor.err != nil && cursor.err != io.EOF {
			return b, cursor.err
		}
	}
	return b, nil
}

// done fails if values remain after the last row.
func (c *columnReader) done() error {
	for _, cursor := range c.cursors {
		if cursor.peek(); cursor.err != io.EOF {
			return cmp.Or(cursor.err, errors.New("a column has more values than its row group has rows"))
		}
	}
	return nil
}

// appendText appends a value that is not null.
func (c *columnReader) appendText(b []byte, n *node, data []byte) []byte {
	b, err := n.leaf.appendText(b, data)
	if err != nil {
		c.fail(err)
	}
	return b
}

// appendNested appends the cell of a list, a map or a repeated field. A list of scalars is written with commas, unless an
// element is empty or has a comma; everything else is compact JSON. A missing or empty list is an empty cell.
func (c *columnReader) appendNested(b []byte) []byte {
	for _, cursor := range c.cursors {
		if cursor.peek().rep != 0 {
			c.fail(errLevels)
		}
	}
	n := c.column
	repeated := n
	if !n.repeated {
		repeated = n.children[0]
	}
	if !c.isPresent(repeated) {
		return b
	}
	start := len(b)
	c.list, c.isList = c.list[:0], true
	b = c.appendJSON(b, n)
	if n.scalarElement() == nil {
		return b
	}
	if !c.isList {
		n.asJSON = true
		return b
	}
	return append(b[:start], bytes.TrimSuffix(c.list, []byte(","))...)
}

// isPresent reports whether a node is present; otherwise it consumes its nulls. All leaves below agree, so the first one
// decides.
func (c *columnReader) isPresent(n *node) bool {
	leaves := c.leaves(n)
	if leaves[0].peek().def >= n.def {
		return true
	}
	for _, cursor := range leaves {
		cursor.next()
	}
	return false
}

// appendJSON appends a node as compact JSON.
func (c *columnReader) appendJSON(b []byte, n *node) []byte {
	if n.repeated {
		return c.appendArray(b, n, n)
	}
	return c.appendOne(b, n)
}

// appendOne appends a node, or one of its repetitions.
func (c *columnReader) appendOne(b []byte, n *node) []byte {
	if n.optional && !c.isPresent(n) {
		c.isList = false
		return append(b, "null"...)
	}
	switch n.shape {
	case shapeLeaf:
		return c.appendScalar(b, n)
	case shapeList:
		return c.appendArray(b, n.children[0], n.element())
	case shapeMap:
		pair := n.children[0]
		b = c.appendRepetitions(append(b, '{'), pair, func(b []byte) []byte {
			b = append(c.appendKey(b, pair.children[0]), ':')
			return c.appendJSON(b, pair.children[1])
		})
		return append(b, '}')
	}
	b = append(b, '{')
	separator := ""
	for _, child := range n.children {
		if child.leaves > 0 {
			b = append(herb.AppendJSONString(append(b, separator...), child.name), ':')
			b = c.appendJSON(b, child)
			separator = ","
		}
	}
	return append(b, '}')
}

// appendKey appends a key of a map as a JSON string.
func (c *columnReader) appendKey(b []byte, n *node) []byte {
	key := c.appendJSON(nil, n)
	if key[0] == '"' {
		return append(b, key...)
	}
	return herb.AppendJSONString(b, string(key))
}

// appendArray appends the elements that a node repeats.
func (c *columnReader) appendArray(b []byte, repeated, element *node) []byte {
	b = c.appendRepetitions(append(b, '['), repeated, func(b []byte) []byte { return c.appendOne(b, element) })
	return append(b, ']')
}

// appendRepetitions appends the repetitions of a repeated node, with commas between them.
func (c *columnReader) appendRepetitions(b []byte, n *node, one func([]byte) []byte) []byte {
	for more := c.isPresent(n); more; {
		b = one(b)
		size := len(b)
		if c.column.scalarElement() != nil {
			size = len(c.list) // what b becomes, as a rule
		}
		for _, err := range []error{c.budget.Step(), c.budget.Record(size)} {
			if err != nil {
				c.fail(err)
			}
		}
		if more = c.repeats(n); more {
			b = append(b, ',')
		}
	}
	return b
}

// repeats reports whether the next values of the leaves below a node belong to another repetition of it.
func (c *columnReader) repeats(n *node) bool {
	leaves := c.leaves(n)
	more := leaves[0].peek().rep == n.rep
	for _, cursor := range leaves {
		if rep := cursor.peek().rep; rep > n.rep || more != (rep == n.rep) {
			c.fail(errLevels)
			return false
		}
	}
	return more
}

// appendScalar appends a value as JSON: finite numbers and booleans as they are, everything else in quotes.
func (c *columnReader) appendScalar(b []byte, n *node) []byte {
	data := c.leaves(n)[0].next()
	if data == nil {
		c.isList = false
		return append(b, "null"...)
	}
	c.text = c.appendText(c.text[:0], n, data)
	c.isList = c.isList && len(c.text) > 0 && bytes.IndexByte(c.text, ',') < 0
	c.list = append(append(c.list, c.text...), ',')
	isFinite := len(c.text) > 0 && c.text[len(c.text)-1] <= '9'
	if n.leaf.declared == herb.TypeBoolean || n.leaf.declared == herb.TypeNumber && isFinite {
		return append(b, c.text...)
	}
	return herb.AppendJSONString(b, string(c.text))
}
