package parquet

import (
	"bufio"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/typed"
)

// Limits of a row group. One record may exceed the bytes.
const (
	RowGroupRows  = 100_000
	RowGroupBytes = 64 << 20
)

// Layout is the version of the bytes that a Writer writes for the same records. It is part of the
// names of files. Raise it with every change of the bytes, also of the compression library.
const Layout = 2

// MediaType is the media type of a Parquet file.
const MediaType = "application/vnd.apache.parquet"

const magic = "PAR1"

// Options describes a file.
type Options struct {
	Fields []herb.Field
	Types  []typed.Column // of the fields
	// Exact writes the texts of all fields as written: an empty text is a value. Types are then
	// ignored.
	Exact bool
	// Sorted is the position of a field whose values are in ascending order, with missing values
	// last; -1 if there is none.
	Sorted int
	// Metadata is pairs of keys and values that readers show.
	Metadata [][2]string
	// Scratch is an empty temporary file for the description of row groups.
	Scratch io.ReadWriteSeeker
}

// Writer writes a Parquet file. After an error, all methods return errors.
type Writer struct {
	opts    Options
	out     io.Writer
	at      int64 // bytes written
	columns []*columnBuffer
	zstd    *zstd.Encoder
	rows    int // of the current row group
	size    int // bytes of the current row group
	total   int64
	groups  int
	scratch *bufio.Writer
	page    []byte // buffer of a page
	packed  []byte // the page, compressed
}

// NewWriter begins a file.
func NewWriter(out io.Writer, opts Options) (*Writer, error) {
	w := &Writer{opts: opts, out: out, scratch: bufio.NewWriter(opts.Scratch)}
	if opts.Exact {
		w.opts.Types = typed.Texts(len(opts.Fields))
	}
	for i := range opts.Fields {
		w.columns = append(w.columns, newColumnBuffer(&opts.Fields[i], w.opts.Types[i], opts.Exact))
	}
	var err error
	w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return nil, err
	}
	return w, w.write([]byte(magic))
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Add adds a value of the current record. Values are added in the order of the fields.
func (w *Writer) Add(field int, value []byte) error {
	b := w.columns[field]
	before := b.bytes()
	if err := b.add(value); err != nil {
		return fmt.Errorf("field %q: %w", b.name, err)
	}
	w.size += b.bytes() - before
	return nil
}

// EndRecord ends the current record.
func (w *Writer) EndRecord() error {
	w.rows++
	if w.rows < RowGroupRows && w.size < RowGroupBytes {
		return nil
	}
	return w.flush()
}

// errTooWide is the error of a footer that no program would read.
func errTooWide() error {
	return herb.Invalidf("the dataset has too many fields and records for a Parquet file; download data.csv")
}

// maxRowGroups is the maximum number of row groups: their position in the file has 15 bits.
const maxRowGroups = math.MaxInt16

// flush writes the current row group.
func (w *Writer) flush() error {
	if w.rows == 0 {
		return nil
	}
	if w.groups == maxRowGroups {
		return errTooWide()
	}
	start, chunks := w.at, make([]chunk, len(w.columns))
	for i, b := range w.columns {
		var err error
		chunks[i], err = w.writeChunk(b)
		if err != nil {
			return err
		}
	}
	g := format.RowGroup{
		NumRows: int64(w.rows), FileOffset: start, TotalCompressedSize: w.at - start, Ordinal: int16(w.groups),
	}
	for i := range chunks {
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: chunks[i].metadata})
		g.TotalByteSize += chunks[i].metadata.TotalUncompressedSize
	}
	if s := w.opts.Sorted; s >= 0 { // ascending, missing values last
		g.SortingColumns = []format.SortingColumn{{ColumnIdx: int32(s)}}
	}
	if err := w.describeGroup(&g, chunks); err != nil {
		return err
	}
	w.total, w.groups = w.total+int64(w.rows), w.groups+1
	w.rows, w.size = 0, 0
	for _, b := range w.columns {
		b.reset()
	}
	const retained = 4 << 20 // of buffers, which a long value has grown
	if cap(w.page) > retained || cap(w.packed) > retained {
		w.page, w.packed = nil, nil
	}
	return nil
}
