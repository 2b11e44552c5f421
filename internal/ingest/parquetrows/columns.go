package parquetrows

import (
	"fmt"
	"io"

	"herbarium/internal/ingest/rows"
)

// chunkColumns reads adjacent columns of a row group.
type chunkColumns struct {
	set     []column
	cursors []*cursor // of the leaves, from the first of the first column
	leaves  [][]value
	writer  nestedWriter
}

func (r *reader) newChunkColumns(group int, set []column) (*chunkColumns, error) {
	c := &chunkColumns{set: set, writer: nestedWriter{r.budget}}
	for _, column := range set {
		for leaf := column.node.first; leaf < column.node.first+column.node.leaves; leaf++ {
			cursor, err := r.newCursor(group, leaf)
			if err != nil {
				return nil, r.locate(err, "row group %d, column %q", group+1, rows.Clip(column.name))
			}
			c.cursors = append(c.cursors, cursor)
		}
	}
	return c, nil
}

// appendRow implements part.
func (c *chunkColumns) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	cursors := c.cursors
	for i := range c.set {
		n := c.set[i].node
		var err error
		if buf, err = c.appendCell(buf, n, cursors[:n.leaves]); err == nil {
			err = c.writer.budget.Record(len(buf))
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return buf, ends, err
		}
		ends = append(ends, len(buf))
		cursors = cursors[n.leaves:]
	}
	return buf, ends, nil
}

func (c *chunkColumns) appendCell(buf []byte, n *node, cursors []*cursor) ([]byte, error) {
	if n.shape == shapeLeaf && n.rep == 0 {
		v, err := cursors[0].next()
		if err != nil || v.isNull() {
			return buf, err
		}
		return n.leaf.appendText(buf, v)
	}
	c.leaves = c.leaves[:0]
	held := 0
	for _, cursor := range cursors {
		values, err := cursor.nextRow(&held)
		if err != nil {
			return buf, err
		}
		c.leaves = append(c.leaves, values)
	}
	return c.writer.appendCell(buf, n, c.leaves)
}

// done implements part.
func (c *chunkColumns) done() error {
	for _, cursor := range c.cursors {
		if _, err := cursor.next(); err != io.EOF {
			if err == nil {
				err = fmt.Errorf("column %q has more values than the row group has rows", cursor.leaf.name)
			}
			return err
		}
	}
	return nil
}
