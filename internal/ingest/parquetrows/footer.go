package parquetrows

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// maxFooter is the number of bytes of the metadata of a file.
const maxFooter = 32 << 20

// fileMetadata is the part of the footer that is used. The library's own type requires values that writers leave out,
// such as the value of key-value metadata.
type fileMetadata struct {
	Schema    []meta.SchemaElement `thrift:"2,required"`
	NumRows   int64                `thrift:"3,required"`
	RowGroups []rowGroup           `thrift:"4,required"`
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
func readFooter(in *rows.Input) (*fileMetadata, error) {
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
		return nil, herb.Invalidf("the Parquet file is damaged: its metadata would begin before the file; copy it again")
	case length > maxFooter:
		return nil, herb.Invalidf("the metadata of the Parquet file has %d bytes; at most %d are possible; "+
			"write it with fewer, larger row groups", length, maxFooter)
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

// readFull fills p from an offset.
func readFull(src io.ReaderAt, p []byte, at int64) error {
	if n, err := src.ReadAt(p, at); n < len(p) {
		return noEOF(err)
	}
	return nil
}

func errEncrypted() error {
	return herb.Invalidf("the Parquet file is encrypted; write it again without encryption")
}

// check rejects column chunks that cannot be read, row groups without exactly the columns of the schema and row counts that
// contradict each other.
func (m *fileMetadata) check(leaves int) error {
	readable := []meta.CompressionCodec{meta.Uncompressed, meta.Snappy, meta.Gzip, meta.Brotli, meta.Zstd, meta.Lz4, meta.Lz4Raw}
	total := int64(0)
	for g, group := range m.RowGroups {
		total += group.NumRows
		switch n := len(group.Columns); {
		case group.NumRows < 0 || total < 0:
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d rows; copy it again", g+1, group.NumRows)
		case n != leaves:
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d columns, and the schema %d; copy it again", g+1, n, leaves)
		case leaves == 0 && group.NumRows > 0:
			return herb.Invalidf("the Parquet file has %d rows without any column; write it with at least one", group.NumRows)
		}
		for _, chunk := range group.Columns {
			name := rows.Clip(strings.Join(chunk.Metadata.Path, "."))
			switch {
			case chunk.CryptoMetadata.Value != nil || len(chunk.Encrypted) > 0:
				return errEncrypted()
			case chunk.FilePath != "":
				return herb.Invalidf("column %q is stored in another file (%s); write a Parquet file that holds all its columns",
					name, rows.Clip(chunk.FilePath))
			case !slices.Contains(readable, chunk.Metadata.Codec):
				return herb.Invalidf("column %q has an unsupported compression (%s); "+
					"write the file with zstd, snappy, gzip, brotli, lz4_raw or no compression", name, chunk.Metadata.Codec)
			}
		}
	}
	if total != m.NumRows && m.NumRows != 0 { // some writers leave it out
		return herb.Invalidf("the Parquet file is damaged: it declares %d rows, and its row groups have %d; copy it again", m.NumRows, total)
	}
	return nil
}
