package ingest

import (
	"fmt"
	"io"
	"math"

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
	leaves  [][]parquetValue
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
			var v parquetValue
			if v, err = mine[0].take(); err == nil && !v.isNull() {
				buf, err = n.leaf.appendText(buf, v)
			}
		} else {
			c.leaves = c.leaves[:0]
			for _, cursor := range mine {
				var values []parquetValue
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
	}
	return nil
}

// parquetCursor reads the values of one column chunk. They stay valid as long as they are referenced.
type parquetCursor struct {
	column int
	pages  *pageReader
	page   *parquetPage
	row    []parquetValue
}

func (p *parquetReader) newCursor(group, leaf int) (*parquetCursor, error) {
	stream, err := newPageStream(p.src, p.size, &p.about.RowGroups[group].Columns[leaf].MetaData, p.zstd)
	if err != nil {
		return nil, err
	}
	n := p.leaves[leaf]
	if n.def > math.MaxUint8 || n.rep > math.MaxUint8 {
		return nil, errLevels
	}
	return &parquetCursor{column: leaf, pages: &pageReader{
		stream: stream, kind: n.leaf.stored, maxDef: uint8(n.def), maxRep: uint8(n.rep),
	}}, nil
}

// fill makes sure that there is a value to take, io.EOF behind the last.
func (c *parquetCursor) fill() (err error) {
	for c.page == nil || c.page.next == c.page.count {
		if c.page, err = c.pages.next(); err != nil {
			return err
		}
	}
	return nil
}

// take returns the next value, io.EOF behind the last.
func (c *parquetCursor) take() (parquetValue, error) {
	if err := c.fill(); err != nil {
		return parquetValue{}, err
	}
	return c.page.take(c.pages.maxDef), nil
}

// takeRow returns the values of the next row of a repeated column. The slice is valid until the next call.
func (c *parquetCursor) takeRow() ([]parquetValue, error) {
	v, err := c.take()
	if err != nil {
		return nil, err
	}
	if v.rep != 0 {
		return nil, errLevels
	}
	c.row = append(c.row[:0], v)
	for {
		if err := c.fill(); err == io.EOF {
			return c.row, nil
		} else if err != nil {
			return nil, err
		}
		if c.page.rep == nil || c.page.rep[c.page.next] == 0 {
			return c.row, nil
		}
		c.row = append(c.row, c.page.take(c.pages.maxDef))
	}
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
