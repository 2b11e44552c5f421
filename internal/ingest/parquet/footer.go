package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// maxFooter is the number of bytes of the metadata of a file.
const maxFooter = 32 << 20

// fileMetadata is the part of the footer that is used. The library's own type requires values that
// writers leave out, such as the value of key-value metadata.
type fileMetadata struct {
	Schema    []meta.SchemaElement `thrift:"2,required"`
	NumRows   int64                `thrift:"3,required"`
	RowGroups []rowGroup           `thrift:"4,required"`
	KeyValues []keyValue           `thrift:"5,optional"`
}

type keyValue struct {
	Key   string `thrift:"1,required"`
	Value string `thrift:"2,optional"`
}

type rowGroup struct {
	Columns []columnChunk `thrift:"1,required"`
	NumRows int64         `thrift:"3,required"`
}

type columnChunk struct {
	FilePath       string                    `thrift:"1,optional"`
	Metadata       columnMetadata            `thrift:"3,optional"`
	CryptoMetadata meta.ColumnCryptoMetaData `thrift:"8,optional"`
	Encrypted      []byte                    `thrift:"9,optional"`
}

type columnMetadata struct {
	Path                 []string              `thrift:"3,required"`
	Codec                meta.CompressionCodec `thrift:"4,required"`
	NumValues            int64                 `thrift:"5,required"`
	TotalCompressedSize  int64                 `thrift:"7,required"`
	DataPageOffset       int64                 `thrift:"9,required"`
	DictionaryPageOffset int64                 `thrift:"11,optional"`
}

// readFooter reads and checks the metadata at the end of a file.
func readFooter(in *io.SectionReader) (*fileMetadata, error) {
	head, tail := make([]byte, 4), make([]byte, 8)
	most := in.Size() - int64(len(head)+len(tail)) // bytes of metadata
	if most < 0 {
		return nil, herb.Invalidf("the file is not a Parquet file, or it is truncated: it has only %d bytes", in.Size())
	}
	if err := readFull(in, head, 0); err != nil {
		return nil, err
	}
	if err := readFull(in, tail, in.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	switch begin, end := string(head), string(tail[4:]); {
	case begin == "PARE" || end == "PARE":
		return nil, errEncrypted()
	case begin != "PAR1":
		return nil, herb.Invalidf("the file is not a Parquet file: it does not begin with PAR1")
	case end != "PAR1":
		return nil, herb.Invalidf("the Parquet file is truncated: it does not end with PAR1; copy it again")
	case length > most:
		return nil, herb.Invalidf(
			"the Parquet file is damaged: its metadata would begin before the file; copy it again")
	case length > maxFooter:
		return nil, herb.Invalidf("the metadata of the Parquet file is larger than %s; "+
			"write it with fewer, larger row groups", herb.FormatBytes(maxFooter))
	}
	b := make([]byte, length)
	if err := readFull(in, b, in.Size()-length-int64(len(tail))); err != nil {
		return nil, err
	}
	m := new(fileMetadata)
	if _, err := decodeThrift(b, m); err != nil {
		return nil, rows.Damaged(err, "the metadata of the Parquet file")
	}
	return m, nil
}

func readFull(src io.ReaderAt, p []byte, at int64) error {
	if n, err := src.ReadAt(p, at); n < len(p) {
		return noEOF(err)
	}
	return nil
}

func errEncrypted() error {
	return herb.Invalidf("the Parquet file is encrypted; write it again without encryption")
}

// check rejects column chunks that cannot be read, and numbers of columns and rows that contradict
// each other.
func (m *fileMetadata) check(leaves int) error {
	readable := []meta.CompressionCodec{meta.Uncompressed, meta.Snappy, meta.Gzip, meta.Brotli, meta.Zstd, meta.Lz4Raw}
	total := int64(0)
	for g, group := range m.RowGroups {
		total += group.NumRows
		switch n := len(group.Columns); {
		case group.NumRows < 0 || total < 0:
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d rows; copy it again", g+1,
				group.NumRows)
		case n != leaves:
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d columns, and the schema %d; copy "+
				"it again", g+1, n, leaves)
		case leaves == 0 && group.NumRows > 0:
			return herb.Invalidf("the Parquet file has %d rows without any column; write it with at least one",
				group.NumRows)
		}
		for _, chunk := range group.Columns {
			name := rows.Clip(strings.Join(chunk.Metadata.Path, "."))
			switch {
			case chunk.CryptoMetadata.Value != nil || len(chunk.Encrypted) > 0:
				return errEncrypted()
			case chunk.FilePath != "":
				return herb.Invalidf("column %q is stored in another file (%s); write a Parquet file that holds all "+
					"its columns",
					name, rows.Clip(chunk.FilePath))
			case !slices.Contains(readable, chunk.Metadata.Codec):
				return herb.Invalidf("column %q has an unsupported compression (%s); "+
					"write the file with zstd, snappy, gzip, brotli, lz4_raw or no compression", name,
					chunk.Metadata.Codec)
			}
		}
	}
	if total != m.NumRows && m.NumRows != 0 { // some writers leave it out
		return herb.Invalidf("the Parquet file is damaged: it declares %d rows, and its row groups have %d; copy it again", m.NumRows, total)
	}
	return nil
}

const (
	maxMetadataDepth    = 32      // levels of nested structures; those of the format have 8
	maxMetadataElements = 1 << 20 // of all lists together, which may have a byte each in the file and 200 in memory
)

// decodeThrift decodes a value and returns the number of bytes that it has. The library recurses
// for every level of nesting and allocates the elements of a list before it reads them, so it first
// skips the value through a reader with limits.
func decodeThrift(b []byte, v any) (n int, err error) {
	protocol := thrift.CompactProtocol{}
	r := &metadataReader{BytesReader: protocol.NewReaderFromBytes(b)}
	err = rows.Guard("the metadata of the Parquet file", func() error {
		if err := thrift.NewDecoder(r).Decode(new(struct{})); err != nil {
			return err
		}
		return thrift.NewDecoder(protocol.NewReaderFromBytes(b[:r.BytesRead()])).Decode(v)
	})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.ErrUnexpectedEOF // without where the decoder was
	}
	return r.BytesRead(), err
}

// metadataReader limits the depth and the lists of values.
type metadataReader struct {
	thrift.BytesReader
	open     []int32 // structures that have not ended, by level of nesting
	elements int64
}

func (r *metadataReader) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	last := len(r.open) - 1
	switch {
	case f.Type == thrift.STRUCT:
		err = cmp.Or(err, r.enter(1))
	case f.Type == thrift.STOP && last >= 0:
		r.open[last]--
		if r.open[last] == 0 {
			r.open = r.open[:last]
		}
	}
	return f, err
}

func (r *metadataReader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	return l, cmp.Or(err, r.enterItems(l.Size, l.Type))
}

func (r *metadataReader) ReadSet() (thrift.Set, error) {
	s, err := r.BytesReader.ReadSet()
	return s, cmp.Or(err, r.enterItems(s.Size, s.Type))
}

func (r *metadataReader) ReadMap() (thrift.Map, error) {
	m, err := r.BytesReader.ReadMap()
	return m, cmp.Or(err, r.enterItems(m.Size, m.Key), r.enterItems(m.Size, m.Value))
}

// Discard is what the decoder skips unknown values with.
func (r *metadataReader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

// enterItems begins n items of a list, set or map. Lists in lists have no end that shows, and the
// format has none.
func (r *metadataReader) enterItems(n int32, t thrift.Type) error {
	r.elements += int64(n)
	if r.elements > maxMetadataElements {
		return errors.New("there are too many elements in lists")
	}
	switch t {
	case thrift.LIST, thrift.SET, thrift.MAP:
		return errors.New("lists are nested")
	case thrift.STRUCT:
		return r.enter(n)
	}
	return nil
}

// enter begins n structures, one after the other.
func (r *metadataReader) enter(n int32) error {
	if n > 0 {
		r.open = append(r.open, n)
	}
	if len(r.open) > maxMetadataDepth {
		return errors.New("structures are nested too deeply")
	}
	return nil
}
