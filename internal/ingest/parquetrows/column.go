package parquetrows

import (
	"bytes"
	"cmp"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// columnReader reads the cells of one column of a row group.
type columnReader struct {
	column  *node
	cursors []*cursor // of the leaves of the column
	budget  *rows.Budget
	err     error  // the first one of the cell, apart from those of the cursors
	text    []byte // of the value that was read last
	list    []byte // the texts of all values of the cell, with a comma after each
	isList  bool   // list can be split into the same values again
	asJSON  bool   // some list of scalars was written as JSON
}

func (r *reader) newColumnReader(group int, column *node) *columnReader {
	c := &columnReader{column: column, budget: r.budget}
	for i := range column.leaves {
		c.cursors = append(c.cursors, r.newCursor(group, column.first+i))
	}
	return c
}

// leaves returns the cursors of the leaves below a node.
func (c *columnReader) leaves(n *node) []*cursor {
	return c.cursors[n.first-c.column.first:][:n.leaves]
}

// appendCell appends the cell of the next row. A list of scalars is written with commas, unless an element is empty or has a
// comma; other lists and maps are compact JSON. A missing or empty list is an empty cell. An error of a cursor inside a
// cell is returned with the next one.
func (c *columnReader) appendCell(b []byte) ([]byte, error) {
	for _, cursor := range c.cursors {
		if cursor.err != nil {
			return b, noEOF(cursor.err)
		}
		if cursor.rep != 0 {
			return b, errLevels
		}
	}
	n := c.column
	if n.kind == kindLeaf {
		if c.isPresent(n, n.def) {
			b = c.appendText(b, n)
		}
		return b, c.err
	}
	if !c.isPresent(n, n.def+1) {
		return b, c.err
	}
	start := len(b)
	c.list, c.isList = c.list[:0], n.isScalarList()
	b = c.appendJSON(b, n)
	if c.isList {
		b = append(b[:start], bytes.TrimSuffix(c.list, []byte(","))...)
	} else {
		c.asJSON = true
	}
	return b, c.err
}

// finish fails if a cell was incomplete or values remain after the last row.
func (c *columnReader) finish() error {
	for _, cursor := range c.cursors {
		if cursor.err != io.EOF {
			return cmp.Or(cursor.err, errValues)
		}
	}
	return nil
}

// isPresent reports whether the next values below a node reach a definition level; otherwise it consumes the nulls.
func (c *columnReader) isPresent(n *node, def uint64) bool {
	leaves := c.leaves(n)
	isPresent := leaves[0].def >= def
	for _, cursor := range leaves {
		if isPresent != (cursor.def >= def) {
			c.err = cmp.Or(c.err, errLevels)
		}
		if !isPresent {
			cursor.advance()
		}
	}
	return isPresent
}

// appendText appends a value that is not null.
func (c *columnReader) appendText(b []byte, n *node) []byte {
	cursor := c.leaves(n)[0]
	b, err := n.leaf.appendText(b, cursor.data)
	c.err = cmp.Or(c.err, err)
	cursor.advance()
	return b
}

// appendJSON appends a node as compact JSON.
func (c *columnReader) appendJSON(b []byte, n *node) []byte {
	if !c.isPresent(n, n.def) {
		c.isList = false
		return append(b, "null"...)
	}
	switch n.kind {
	case kindLeaf:
		return c.appendScalar(b, n)
	case kindList:
		return append(c.appendItems(append(b, '['), n), ']')
	case kindMap:
		return append(c.appendItems(append(b, '{'), n), '}')
	}
	separator := byte('{')
	for _, child := range n.children {
		b = append(herb.AppendJSONString(append(b, separator), child.name), ':')
		b = c.appendJSON(b, child)
		separator = ','
	}
	return append(b, '}')
}

// appendItems appends the items of a list or map, with commas between them.
func (c *columnReader) appendItems(b []byte, n *node) []byte {
	leaves := c.leaves(n)
	for more := c.isPresent(n, n.def+1); more; {
		if n.kind == kindMap {
			b = append(c.appendKey(b, n.children[0]), ':')
		}
		b = c.appendJSON(b, n.children[len(n.children)-1])
		size := len(b)
		if c.isList {
			size = len(c.list) // what b becomes
		}
		c.err = cmp.Or(c.err, c.budget.Step(), c.budget.Record(size))
		more = leaves[0].rep == n.rep+1
		for _, cursor := range leaves {
			if cursor.rep > n.rep+1 || more != (cursor.rep == n.rep+1) {
				c.err = cmp.Or(c.err, errLevels)
			}
		}
		if more = more && c.err == nil; more {
			b = append(b, ',')
		}
	}
	return b
}

// appendKey appends a key of a map as a JSON string.
func (c *columnReader) appendKey(b []byte, n *node) []byte {
	start := len(b)
	if b = c.appendJSON(b, n); b[start] == '"' {
		return b
	}
	return herb.AppendJSONString(b[:start], string(b[start:]))
}

// appendScalar appends a value as JSON: finite numbers and booleans as they are, everything else in quotes.
func (c *columnReader) appendScalar(b []byte, n *node) []byte {
	c.text = c.appendText(c.text[:0], n)
	c.isList = c.isList && len(c.text) > 0 && bytes.IndexByte(c.text, ',') < 0
	c.list = append(append(c.list, c.text...), ',')
	isFinite := len(c.text) > 0 && c.text[len(c.text)-1] <= '9'
	if n.leaf.declared == herb.TypeBoolean || n.leaf.declared == herb.TypeNumber && isFinite {
		return append(b, c.text...)
	}
	return herb.AppendJSONString(b, string(c.text))
}
