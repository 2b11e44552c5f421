package ingest

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// A page of a column is read whole. These are the bytes that pages may take: those of all columns that are read at the
// same time, and the largest of one column.
const (
	pageBudget = 48 << 20
	maxPage    = 192 << 20
)

// parquetColumns reads neighbouring columns of a row group.
type parquetColumns struct {
	set     []parquetColumn
	cursors []*parquetCursor // of the leaves, from the first of the first column
	leaves  [][]parquet.Value
}

func (p *parquetReader) newColumns(group int, set []parquetColumn) (*parquetColumns, error) {
	c := &parquetColumns{set: set}
	for _, column := range set {
		for leaf := column.node.first; leaf < column.node.first+column.node.leaves; leaf++ {
			cursor, err := p.newCursor(group, leaf)
			if err != nil {
				return nil, inParquet(err, "row group %d, column %q", group+1, column.name)
			}
			c.cursors = append(c.cursors, cursor)
		}
	}
	return c, nil
}

// appendRow implements parquetPart.
func (c *parquetColumns) appendRow(buf []byte, ends []int) ([]byte, []int, error) {
	cursors := c.cursors
	for i := range c.set {
		n := c.set[i].node
		mine := cursors[:n.leaves]
		cursors = cursors[n.leaves:]
		var err error
		if n.shape == shapeLeaf && n.rep == 0 {
			var v parquet.Value
			if v, err = mine[0].take(); err == nil && !v.IsNull() {
				buf, err = n.leaf.appendText(buf, v)
			}
		} else {
			c.leaves = c.leaves[:0]
			for _, cursor := range mine {
				var values []parquet.Value
				if values, err = cursor.takeRow(); err != nil {
					break
				}
				c.leaves = append(c.leaves, values)
			}
			if err == nil {
				buf, err = appendNested(buf, n, c.leaves)
			}
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return buf, ends, err
		}
		ends = append(ends, len(buf))
	}
	return buf, ends, nil
}

// done implements parquetPart.
func (c *parquetColumns) done() error {
	for _, cursor := range c.cursors {
		if _, err := cursor.take(); err != io.EOF {
			if err == nil {
				err = fmt.Errorf("column %d has more values than the row group has rows", cursor.column+1)
			}
			return err
		}
		cursor.close()
	}
	return nil
}

// parquetCursor reads the values of one column chunk.
type parquetCursor struct {
	column int
	pages  parquet.Pages
	page   parquet.Page
	reader parquet.ValueReader
	values []parquet.Value // read ahead
	room   []parquet.Value // what values is a part of
	row    []parquet.Value
}

func (p *parquetReader) newCursor(group, leaf int) (*parquetCursor, error) {
	stream, err := newPageStream(p.src, p.size, &p.about.RowGroups[group].Columns[leaf].MetaData, p.zstd)
	if err != nil {
		return nil, err
	}
	return &parquetCursor{column: leaf, pages: p.chunks[leaf].(*parquet.FileColumnChunk).PagesFrom(stream)}, nil
}

// take returns the next value, io.EOF behind the last. It is valid until the next call.
func (c *parquetCursor) take() (parquet.Value, error) {
	if len(c.values) == 0 {
		if err := c.fill(); err != nil {
			return parquet.Value{}, err
		}
	}
	v := c.values[0]
	c.values = c.values[1:]
	return v, nil
}

// takeRow returns the values of the next row of a column that is repeated. They are valid until the next call.
func (c *parquetCursor) takeRow() ([]parquet.Value, error) {
	v, err := c.take()
	if err != nil {
		return nil, err
	}
	if v.RepetitionLevel() != 0 {
		return nil, errLevels
	}
	c.row = append(c.row[:0], v)
	for {
		if len(c.values) == 0 {
			for i, v := range c.row { // they may point into the page that is given back
				c.row[i] = v.Clone()
			}
			if err := c.fill(); err == io.EOF {
				return c.row, nil
			} else if err != nil {
				return nil, err
			}
		}
		if c.values[0].RepetitionLevel() == 0 {
			return c.row, nil
		}
		c.row = append(c.row, c.values[0])
		c.values = c.values[1:]
	}
}

// fill reads values ahead. There is at least one unless it returns an error.
func (c *parquetCursor) fill() error {
	if c.room == nil {
		c.room = make([]parquet.Value, 64)
	}
	for {
		if c.reader == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.page, c.reader = page, page.Values()
		}
		n, err := c.reader.ReadValues(c.room)
		if err != nil && err != io.EOF {
			return err
		}
		if n == 0 {
			if err == nil {
				return io.ErrNoProgress
			}
			parquet.Release(c.page)
			c.page, c.reader = nil, nil
			continue
		}
		c.values = c.room[:n]
		return nil
	}
}

func (c *parquetCursor) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	c.pages.Close()
	c.page, c.reader, c.room, c.row = nil, nil, nil, nil
}

// pageMemory returns the bytes that pages of a column chunk take when they are read one at a time. It reads the headers
// of the pages only.
func (p *parquetReader) pageMemory(group, leaf int) (int64, error) {
	pages, err := newPageHeaders(p.src, p.size, &p.about.RowGroups[group].Columns[leaf].MetaData)
	if err != nil {
		return 0, err
	}
	dictionary, largest := int64(0), int64(0)
	for {
		header, err := pages.next()
		if err == io.EOF {
			return dictionary + largest, nil
		}
		if err != nil {
			return 0, err
		}
		// A page is there packed and unpacked, and for each value there are levels and an index or a place.
		need := int64(header.CompressedPageSize) + 2*int64(header.UncompressedPageSize) + 12*pageValues(header)
		if header.Type == meta.DictionaryPage {
			dictionary = max(dictionary, need)
		} else {
			largest = max(largest, need)
		}
		if dictionary+largest > p.largest {
			return 0, herb.Invalidf("a page of %d values needs %d bytes of memory, and can need %d; write the file with smaller pages",
				pageValues(header), dictionary+largest, p.largest)
		}
	}
}
