package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime/debug"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// maxFooter is the number of bytes that the description of a Parquet file may have. In memory it takes several times as
// much.
const maxFooter = 32 << 20

// parquetReader reads the rows of a Parquet file, one row group after the other. Of each column one page is in memory.
type parquetReader struct {
	src     io.ReaderAt
	size    int64
	about   *meta.FileMetaData
	leaves  []*parquetNode // in the order of the column chunks of a row group
	zstd    *zstd.Decoder
	largest int64 // bytes that a page may take
	table   []parquetColumn
	names   []string
	group   int   // the next row group
	left    int64 // rows of the current one that are not yet read
	row     int64 // number of the row read last, from 1
	parts   []parquetPart
	spool   *spool
	buf     []byte // the values of the row
	ends    []int  // where each ends
	cells   [][]byte
}

// parquetPart yields the cells of some neighbouring columns, row by row.
type parquetPart interface {
	// appendRow appends the cells of the next row to buf, and where each ends to ends.
	appendRow(buf []byte, ends []int) ([]byte, []int, error)
	// done is called behind the last row of a row group. The error says what is left.
	done() error
}

// newParquetReader reads what the file says of itself. It decides for each column of bytes whether it holds text, which
// takes a look at its values.
func newParquetReader(src io.ReaderAt, size int64) (p *parquetReader, err error) {
	defer recoverAs(&err, "the Parquet file", debug.SetPanicOnFault(true))
	about, err := readFooter(src, size)
	if err != nil {
		return nil, err
	}
	if err := checkChunks(about); err != nil {
		return nil, err
	}
	fields, err := readParquetSchema(about.Schema)
	if err != nil {
		return nil, err
	}
	if err := checkLeaves(about, fields); err != nil {
		return nil, err
	}
	p = &parquetReader{src: src, size: size, about: about, largest: maxPage, table: flatten(fields, "", nil)}
	if p.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage)); err != nil {
		return nil, err
	}
	p.leaves = leavesOf(fields, nil)
	for g := range about.RowGroups {
		if n := len(about.RowGroups[g].Columns); n != len(p.leaves) {
			return nil, herb.Invalidf("the Parquet file is damaged: row group %d has %d columns and the schema %d; copy it again",
				g+1, n, len(p.leaves))
		}
	}
	if len(p.table) > MaxColumns {
		return nil, herb.Invalidf("there are %d columns, and there can be %d", len(p.table), MaxColumns)
	}
	for _, c := range p.table {
		p.names = append(p.names, c.name)
		if err := p.settleBytes(c.node); err != nil {
			return nil, inParquet(err, "column %q", c.name)
		}
	}
	return p, nil
}

// readFooter reads what the file says of itself. Its first and last bytes tell most of what can be wrong.
func readFooter(src io.ReaderAt, size int64) (*meta.FileMetaData, error) {
	var head [4]byte
	var tail [8]byte
	if size < int64(len(head)+len(tail)) {
		return nil, herb.Invalidf("the file is no Parquet file, or it is cut off: it has only %d bytes", size)
	}
	if _, err := src.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if _, err := src.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return nil, err
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(head[:]) == "PARE" || string(tail[4:]) == "PARE":
		return nil, errEncrypted()
	case string(head[:]) != "PAR1":
		return nil, herb.Invalidf("the file is no Parquet file: it does not begin with PAR1")
	case string(tail[4:]) != "PAR1":
		return nil, herb.Invalidf("the Parquet file is cut off: it does not end with PAR1; copy it again")
	case footer > size-int64(len(head)+len(tail)):
		return nil, herb.Invalidf("the Parquet file is damaged: what describes it would begin before the file; copy it again")
	case footer > maxFooter:
		return nil, herb.Invalidf("what describes the Parquet file has %d bytes, and can have %d; write it with fewer, larger row groups",
			footer, maxFooter)
	}
	b := make([]byte, footer)
	if _, err := src.ReadAt(b, size-footer-int64(len(tail))); err != nil {
		return nil, err
	}
	about := new(meta.FileMetaData)
	protocol := thrift.CompactProtocol{}
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(b)).Decode(about); err != nil {
		return nil, damaged(err, "what describes the Parquet file")
	}
	return about, nil
}

func errEncrypted() error {
	return herb.Invalidf("the Parquet file is encrypted; write it again without encryption")
}

// columns implements rowReader.
func (p *parquetReader) columns() []string { return p.names }

// position implements rowReader.
func (p *parquetReader) position() string { return fmt.Sprintf("row %d", p.row) }

// next implements rowReader.
func (p *parquetReader) next() (cells [][]byte, err error) {
	defer recoverAs(&err, "the Parquet file", debug.SetPanicOnFault(true))
	for p.left == 0 {
		if err := p.nextGroup(); err != nil {
			return nil, err
		}
	}
	p.left--
	p.row++
	p.buf, p.ends = p.buf[:0], p.ends[:0]
	for _, part := range p.parts {
		if p.buf, p.ends, err = part.appendRow(p.buf, p.ends); err != nil {
			return nil, inParquet(err, "row %d, column %q", p.row, p.names[min(len(p.ends), len(p.names)-1)])
		}
	}
	p.cells = p.cells[:0]
	start := 0
	for _, end := range p.ends {
		p.cells = append(p.cells, p.buf[start:end])
		start = end
	}
	return p.cells, nil
}

// nextGroup opens the next row group.
func (p *parquetReader) nextGroup() error {
	for _, part := range p.parts {
		if err := part.done(); err != nil {
			return inParquet(err, "row group %d", p.group)
		}
	}
	p.parts = nil
	if p.group == len(p.about.RowGroups) {
		return io.EOF
	}
	group := p.group
	p.group++
	p.left = p.about.RowGroups[group].NumRows
	if p.left == 0 || len(p.table) == 0 {
		return nil
	}
	sets, err := p.divide(group)
	if err != nil {
		return err
	}
	for i, set := range sets {
		columns, err := p.newColumns(group, set)
		if err != nil {
			return err
		}
		if i == len(sets)-1 {
			p.parts = append(p.parts, columns)
			break
		}
		stored, err := p.store(columns, len(set))
		if err != nil {
			return err
		}
		p.parts = append(p.parts, stored)
	}
	return nil
}

// store writes the cells of some columns of a row group into a temporary file, because there is no room for a page of
// every column at once.
func (p *parquetReader) store(columns *parquetColumns, width int) (parquetPart, error) {
	if p.spool == nil {
		s, err := newSpool()
		if err != nil {
			return nil, err
		}
		p.spool = s
	}
	if len(p.parts) == 0 {
		if err := p.spool.reset(); err != nil {
			return nil, err
		}
	}
	start := p.spool.size
	var buf []byte
	var ends []int
	for i := range p.left {
		var err error
		if buf, ends, err = columns.appendRow(buf[:0], ends[:0]); err != nil {
			return nil, inParquet(err, "row %d, column %q", p.row+i+1, columns.set[min(len(ends), len(columns.set)-1)].name)
		}
		if err := p.spool.write(buf, ends); err != nil {
			return nil, err
		}
	}
	if err := columns.done(); err != nil {
		return nil, inParquet(err, "row group %d", p.group)
	}
	return p.spool.part(start, width)
}

// Close gives back what the reader holds.
func (p *parquetReader) Close() error {
	p.parts = nil
	p.zstd.Close()
	if p.spool == nil {
		return nil
	}
	return p.spool.Close()
}

// inParquet tells where in the file an error is. What the library says is kept as the cause, for the log.
func inParquet(err error, where string, args ...any) error {
	where = fmt.Sprintf(where, args...)
	if err == errNotText {
		return herb.Invalidf("%s: %v; write it as UTF-8, or as bytes without a type", where, err)
	}
	return damaged(err, where)
}

// settleBytes decides of each leaf of bytes below a node whether it holds text.
func (p *parquetReader) settleBytes(n *parquetNode) error {
	for _, c := range n.children {
		if err := p.settleBytes(c); err != nil {
			return err
		}
	}
	if n.shape != shapeLeaf || n.leaf.kind != leafBytes {
		return nil
	}
	n.leaf.kind = leafText
	for g, group := range p.about.RowGroups {
		if group.NumRows == 0 {
			continue
		}
		if _, err := p.pageMemory(g, n.first); err != nil {
			return err
		}
		text, err := p.holdsText(g, n.first)
		if err != nil {
			return err
		}
		if !text {
			n.leaf.kind = leafBinary
			break
		}
	}
	return nil
}

// holdsText reports whether all values of a column chunk are text.
func (p *parquetReader) holdsText(group, leaf int) (bool, error) {
	c, err := p.newCursor(group, leaf)
	if err != nil {
		return false, err
	}
	for {
		v, err := c.take()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case !v.isNull() && !isPrintable(v.data):
			return false, nil
		}
	}
}

// divide makes sets of neighbouring columns of which pages fit into memory together.
func (p *parquetReader) divide(group int) ([][]parquetColumn, error) {
	var sets [][]parquetColumn
	start, sum := 0, int64(0)
	for i, c := range p.table {
		need := int64(0)
		for leaf := c.node.first; leaf < c.node.first+c.node.leaves; leaf++ {
			m, err := p.pageMemory(group, leaf)
			if err != nil {
				return nil, inParquet(err, "row group %d, column %q", p.group, c.name)
			}
			need += m
		}
		if i > start && sum+need > pageBudget {
			sets = append(sets, p.table[start:i])
			start, sum = i, 0
		}
		sum += need
	}
	return slices.Clip(append(sets, p.table[start:])), nil
}
