package ingest

import (
	"strings"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
)

// checkChunks refuses what the library would read wrongly.
func checkChunks(about *meta.FileMetaData) error {
	rows := int64(0)
	for g, group := range about.RowGroups {
		if rows += group.NumRows; group.NumRows < 0 || len(group.Columns) != len(about.RowGroups[0].Columns) {
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d rows and %d columns; copy it again",
				g+1, group.NumRows, len(group.Columns))
		}
		for c := range group.Columns {
			chunk := &group.Columns[c]
			name := strings.Join(chunk.MetaData.PathInSchema, ".")
			switch {
			case chunk.CryptoMetadata.Value != nil || len(chunk.EncryptedColumnMetadata) > 0:
				return errEncrypted()
			case chunk.FilePath != "":
				return herb.Invalidf("column %q is kept in another file (%s); write a Parquet file that holds all its columns",
					name, clip(chunk.FilePath))
			case !readableCodec(chunk.MetaData.Codec):
				return herb.Invalidf("column %q is compressed in a way that cannot be read (%s); "+
					"write the file with zstd, snappy, gzip, brotli, lz4_raw or no compression", name, chunk.MetaData.Codec)
			}
		}
	}
	if rows != about.NumRows && about.NumRows != 0 { // some writers leave it out
		return herb.Invalidf("the Parquet file is damaged: it should have %d rows, and its row groups have %d; copy it again",
			about.NumRows, rows)
	}
	return nil
}

// checkLeaves refuses a file whose row groups do not hold exactly the columns of its schema: columns would be lost, or rows
// without any cell read forever.
func checkLeaves(about *meta.FileMetaData, fields []*parquetNode) error {
	leaves := 0
	for _, f := range fields {
		leaves += f.leaves
	}
	for g, group := range about.RowGroups {
		if len(group.Columns) != leaves {
			return herb.Invalidf("the Parquet file is damaged: row group %d has %d columns, and the schema %d; copy it again",
				g+1, len(group.Columns), leaves)
		}
		if leaves == 0 && group.NumRows > 0 {
			return herb.Invalidf("the Parquet file has %d rows without any column; write it with at least one", group.NumRows)
		}
	}
	return nil
}

func readableCodec(c meta.CompressionCodec) bool {
	switch c {
	case meta.Uncompressed, meta.Snappy, meta.Gzip, meta.Brotli, meta.Zstd, meta.Lz4, meta.Lz4Raw:
		return true
	}
	return false
}
