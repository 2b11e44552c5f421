package parquetrows

import (
	"bytes"
	"fmt"
	"io"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// chunkColumns implements part. It reads adjacent columns of a row group.
type chunkColumns struct {
	columns []*node
	cursors []*cursor // of all leaves of the file; nil for those of other columns
	budget  *rows.Budget
	scalars []scalar // elements of a list
}

// scalar locates the text of an element of a list.
type scalar struct {
	start, end int
	isNull     bool
}

func (r *reader) newChunkColumns(group int, columns []*node) (*chunkColumns, error) {
	c := &chunkColumns{columns: columns, cursors: make([]*cursor, len(r.leaves)), budget: r.budget}
	for _, n := range columns {
		for leaf := n.first; leaf < n.first+n.leaves; leaf++ {
			var err error
			if c.cursors[leaf], err = r.newCursor(group, leaf); err != nil {
				return nil, r.in.Locate(err, "row group %d, column %q", group+1, rows.Clip(n.column))
			}
		}
	}
	return c, nil
}

// leaves returns the cursors of the leaves below a node.
func (c *chunkColumns) leaves(n *node) []*cursor { return c.cursors[n.first:][:n.leaves] }

// appendRow implements part.
func (c *chunkColumns) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	for _, n := range c.columns {
		var err error
		if n.shape == shapeLeaf && n.rep == 0 {
			var data []byte
			if data, err = c.cursors[n.first].next(); err == nil && data != nil {
				buf, err = n.leaf.appendText(buf, data)
			}
		} else {
			buf, err = c.appendNested(buf, n)
		}
		if err == nil {
			err = c.budget.Record(len(buf))
		}
		if err != nil {
			return buf, ends, noEOF(err)
		}
		ends = append(ends, len(buf))
	}
	return buf, ends, nil
}

// done implements part.
func (c *chunkColumns) done() error {
	for _, n := range c.columns {
		for _, cursor := range c.leaves(n) {
			if _, err := cursor.next(); err == nil {
				return fmt.Errorf("column %q has more values than the row group has rows", cursor.leaf.name)
			} else if err != io.EOF {
				return err
			}
		}
	}
	return nil
}

// appendNested appends the cell of a list, a map or a repeated field. A list of scalars is written with commas, unless an
// element is empty or has a comma; everything else is compact JSON. A missing or empty list is an empty cell.
func (c *chunkColumns) appendNested(b []byte, n *node) ([]byte, error) {
	for _, cursor := range c.leaves(n) {
		if err := cursor.peek(); err != nil {
			return b, err
		}
		if cursor.current.rep != 0 {
			return b, errLevels
		}
	}
	repeated := n
	if !n.repeated {
		repeated = n.children[0]
	}
	if ok, err := c.isPresent(repeated); !ok || err != nil {
		return b, err
	}
	if element := n.scalarElement(); element != nil {
		return c.appendScalars(b, n, repeated, element)
	}
	return c.appendJSON(b, n)
}

// appendScalars appends the elements of a list.
func (c *chunkColumns) appendScalars(b []byte, n, repeated, element *node) ([]byte, error) {
	start, isPlain := len(b), true
	c.scalars = c.scalars[:0]
	b, err := c.appendRepetitions(b, repeated, func(b []byte) ([]byte, error) {
		data, err := c.cursors[element.first].next()
		from := len(b)
		if err == nil && data != nil {
			b, err = element.leaf.appendText(b, data)
		}
		isPlain = isPlain && len(b) > from && bytes.IndexByte(b[from:], ',') < 0
		c.scalars = append(c.scalars, scalar{from - start, len(b) - start, data == nil})
		return b, err
	})
	if isPlain || err != nil {
		return b, err
	}
	n.asJSON = true
	texts := bytes.Clone(b[start:])
	b = append(b[:start], '[')
	for i, s := range c.scalars {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendScalar(b, &element.leaf, texts[s.start:s.end], s.isNull)
	}
	return append(b, ']'), nil
}

// isPresent reports whether a node is present; otherwise it consumes its nulls. All leaves below agree, so the first one
// decides.
func (c *chunkColumns) isPresent(n *node) (bool, error) {
	first := c.cursors[n.first]
	if err := first.peek(); err != nil || first.current.def >= n.def {
		return err == nil, err
	}
	for _, cursor := range c.leaves(n) {
		if _, err := cursor.next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// appendJSON appends a node as compact JSON.
func (c *chunkColumns) appendJSON(b []byte, n *node) ([]byte, error) {
	if n.repeated {
		return c.appendArray(b, n, n)
	}
	return c.appendOne(b, n)
}

// appendOne appends a node, or one of its repetitions.
func (c *chunkColumns) appendOne(b []byte, n *node) ([]byte, error) {
	if n.optional {
		if ok, err := c.isPresent(n); !ok {
			return append(b, "null"...), err
		}
	}
	switch n.shape {
	case shapeLeaf:
		data, err := c.cursors[n.first].next()
		if err != nil || data == nil {
			return append(b, "null"...), err
		}
		text, err := n.leaf.appendText(nil, data)
		return appendScalar(b, &n.leaf, text, false), err
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
func (c *chunkColumns) appendPair(b []byte, k, v *node) ([]byte, error) {
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
func (c *chunkColumns) appendArray(b []byte, repeated, element *node) ([]byte, error) {
	b, err := c.appendRepetitions(append(b, '['), repeated, func(b []byte) ([]byte, error) { return c.appendOne(b, element) })
	return append(b, ']'), err
}

// appendRepetitions appends the repetitions of a repeated node, with commas between them.
func (c *chunkColumns) appendRepetitions(b []byte, n *node, one func([]byte) ([]byte, error)) ([]byte, error) {
	more, err := c.isPresent(n)
	for more && err == nil {
		if b, err = one(b); err != nil {
			return b, err
		}
		if err := c.budget.Step(); err != nil {
			return b, err
		}
		if err := c.budget.Record(len(b)); err != nil {
			return b, err
		}
		if more, err = c.repeats(n); more {
			b = append(b, ',')
		}
	}
	return b, err
}

// repeats reports whether the next values of the leaves below a node belong to another repetition of it.
func (c *chunkColumns) repeats(n *node) (more bool, err error) {
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

// appendScalar appends the text of a value as JSON: finite numbers and booleans as they are, everything else in quotes.
func appendScalar(b []byte, l *leafType, text []byte, isNull bool) []byte {
	switch {
	case isNull:
		return append(b, "null"...)
	case l.declared == herb.TypeBoolean, l.declared == herb.TypeNumber && text[len(text)-1] <= '9':
		return append(b, text...)
	default:
		return herb.AppendJSONString(b, string(text))
	}
}
