package parquet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The indexes of all pages and the description of all row groups are at the end of a file: first
// the bounds of pages, then their offsets, then the footer. Until then they are in the scratch
// file, which is read once for each of the three. It has these parts of each row group, each after
// its size in 4 bytes.
const (
	columnIndexes = iota // of all fields
	offsetIndexes        // of all fields
	rowGroup             // without the offsets of the indexes
	groupParts
)

// describeGroup writes a row group to the scratch file. It sets the lengths of its indexes.
func (w *Writer) describeGroup(g *format.RowGroup, chunks []chunk) error {
	var parts [groupParts][]byte
	for i := range chunks {
		column, err := chunks[i].columnIndex()
		if err != nil {
			return err
		}
		offset, err := encode(chunks[i].offsets)
		if err != nil {
			return err
		}
		parts[columnIndexes], parts[offsetIndexes] = append(parts[columnIndexes], column...),
			append(parts[offsetIndexes], offset...)
		g.Columns[i].ColumnIndexLength, g.Columns[i].OffsetIndexLength = int32(len(column)), int32(len(offset))
	}
	var err error
	parts[rowGroup], err = encode(*g)
	if err != nil {
		return err
	}
	for _, part := range parts {
		size := binary.LittleEndian.AppendUint32(nil, uint32(len(part)))
		if _, err := w.scratch.Write(append(size, part...)); err != nil {
			return err
		}
	}
	return nil
}

// eachGroup reads a part of each row group from the scratch file.
func (w *Writer) eachGroup(part int, read func([]byte) error) error {
	if _, err := w.opts.Scratch.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReader(w.opts.Scratch)
	var content []byte
	for i := range w.groups * groupParts {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return err
		}
		n := int(binary.LittleEndian.Uint32(size[:]))
		if i%groupParts != part {
			if _, err := in.Discard(n); err != nil {
				return err
			}
			continue
		}
		content = append(content[:0], make([]byte, n)...)
		if _, err := io.ReadFull(in, content); err != nil {
			return err
		}
		if err := read(content); err != nil {
			return err
		}
	}
	return nil
}

// Close writes the indexes and the footer. It does not close anything else.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.scratch.Flush(); err != nil {
		return err
	}
	columnIndexesAt := w.at
	if err := w.eachGroup(columnIndexes, w.write); err != nil {
		return err
	}
	offsetIndexesAt := w.at
	if err := w.eachGroup(offsetIndexes, w.write); err != nil {
		return err
	}
	start := w.at
	if err := w.writeFooter(columnIndexesAt, offsetIndexesAt); err != nil {
		return err
	}
	size := w.at - start
	if size > math.MaxInt32 {
		return errTooWide()
	}
	return w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(size)), magic...))
}

// writeFooter writes a format.FileMetaData, given where the indexes begin. It reads the row groups
// one by one.
func (w *Writer) writeFooter(columnIndexAt, offsetIndexAt int64) error {
	buffer := bufio.NewWriter(writerFunc(func(b []byte) (int, error) { return len(b), w.write(b) }))
	out := new(thrift.CompactProtocol).NewWriter(buffer)
	e := footerEncoder{out: out, encoder: thrift.NewEncoder(out)}
	e.member(thrift.I32, int32(2)) // version of the format
	e.member(thrift.LIST, w.schema())
	e.member(thrift.I64, w.total)
	e.field(thrift.LIST)
	e.add(out.WriteList(thrift.List{Size: int32(w.groups), Type: thrift.STRUCT}))
	e.add(w.eachGroup(rowGroup, func(content []byte) error {
		var g format.RowGroup
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), content, &g); err != nil {
			return err
		}
		for i := range g.Columns {
			c := &g.Columns[i]
			c.OffsetIndexOffset = offsetIndexAt
			offsetIndexAt += int64(c.OffsetIndexLength)
			if c.ColumnIndexLength > 0 {
				c.ColumnIndexOffset = columnIndexAt
				columnIndexAt += int64(c.ColumnIndexLength)
			}
		}
		return e.encoder.Encode(g)
	}))
	var metadata []format.KeyValue
	for _, m := range w.opts.Metadata {
		metadata = append(metadata, format.KeyValue{Key: m[0], Value: m[1]})
	}
	e.member(thrift.LIST, metadata)
	e.member(thrift.BINARY, fmt.Sprintf("herbarium version %d.0.0 (build 0)", Layout))
	orders := make([]format.ColumnOrder, len(w.columns))
	for i := range orders {
		orders[i].Value = &format.TypeDefinedOrder{}
	}
	e.member(thrift.LIST, orders)
	e.add(out.WriteField(thrift.Field{Type: thrift.STOP}))
	e.add(buffer.Flush())
	return e.err
}

// footerEncoder encodes the members of a structure one by one, in the order of their numbers from 1
// without gaps.
type footerEncoder struct {
	out     thrift.Writer
	encoder *thrift.Encoder
	err     error // first
}

// add keeps an error.
func (e *footerEncoder) add(err error) {
	if e.err == nil {
		e.err = err
	}
}

// field begins the next member.
func (e *footerEncoder) field(t thrift.Type) {
	e.add(e.out.WriteField(thrift.Field{ID: 1, Type: t, Delta: true}))
}

func (e *footerEncoder) member(t thrift.Type, v any) {
	e.field(t)
	e.add(e.encoder.Encode(v))
}

// encode encodes metadata in the compact protocol of Thrift.
func encode(v any) ([]byte, error) { return thrift.Marshal(new(thrift.CompactProtocol), v) }

// writerFunc is a function as an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
