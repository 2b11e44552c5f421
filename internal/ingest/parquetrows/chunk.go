package parquetrows

import (
	"errors"
	"hash/crc32"
	"io"
	"slices"

	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/ingest/rows"
)

var errOutside = errors.New("a page lies outside the part of the file that belongs to its column")

// chunkReader reads the pages of a column chunk. It does not trust the sizes that a file claims.
type chunkReader struct {
	in     *rows.Input
	at     int64 // of the next page
	end    int64
	body   int64 // start of the body of the page whose header was read last
	seen   int64 // values of the data pages so far
	values int64 // of the chunk
	window []byte
}

func newChunkReader(in *rows.Input, chunk *columnMetadata) (*chunkReader, error) {
	offset := chunk.DataPageOffset
	if d := chunk.DictionaryPageOffset; d > 0 && d < offset {
		offset = d
	}
	if offset < 0 || chunk.TotalCompressedSize < 0 || offset > in.Size()-chunk.TotalCompressedSize {
		return nil, errOutside
	}
	const uncounted = 100 // bytes of a header that an old writer left out of the size
	return &chunkReader{in: in, at: offset, end: min(offset+chunk.TotalCompressedSize+uncounted, in.Size()), values: chunk.NumValues}, nil
}

// next returns the header of the next data or dictionary page, io.EOF after the last.
func (c *chunkReader) next() (*meta.PageHeader, error) {
	for c.seen < c.values { // pages after the last value belong to no row
		header, n, err := c.header()
		if err != nil {
			return nil, err
		}
		c.body = c.at + n
		c.at = c.body + int64(header.CompressedPageSize)
		values := pageValues(header)
		if header.CompressedPageSize < 0 || header.UncompressedPageSize < 0 || c.at > c.end || values < 0 {
			return nil, errOutside
		}
		switch header.Type {
		case meta.DictionaryPage: // may have more values than rows refer to
			return header, nil
		case meta.DataPage, meta.DataPageV2:
			if c.seen += values; values > c.values {
				return nil, errOutside
			}
			return header, nil
		}
	}
	return nil, io.EOF
}

// header decodes the header at the current offset and returns its length, which only the decoder knows.
func (c *chunkReader) header() (*meta.PageHeader, int64, error) {
	for size := int64(4 << 10); ; size *= 8 {
		n := min(size, c.end-c.at)
		c.window = slices.Grow(c.window[:0], int(n))[:n]
		if err := readFull(c.in, c.window, c.at); err != nil {
			return nil, 0, err
		}
		header := new(meta.PageHeader)
		used, err := decodeThrift(c.window, header)
		if err == nil || n < size || size > 1<<20 {
			return header, int64(used), noEOF(err)
		}
	}
}

// noEOF replaces io.EOF, which means the end of a column chunk, inside a page or a row.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readBody reads the page whose header was read last into dst.
func (c *chunkReader) readBody(dst []byte, header *meta.PageHeader) ([]byte, error) {
	n := int(header.CompressedPageSize)
	dst = slices.Grow(dst[:0], n)[:n]
	if err := readFull(c.in, dst, c.body); err != nil {
		return nil, err
	}
	if header.CRC != 0 && uint32(header.CRC) != crc32.ChecksumIEEE(dst) {
		return nil, errors.New("the checksum of a page is wrong")
	}
	return dst, nil
}

// pageValues returns the number of values of a page, with nulls.
func pageValues(h *meta.PageHeader) int64 {
	switch h.Type {
	case meta.DataPage:
		return int64(h.DataPageHeader.V.NumValues)
	case meta.DataPageV2:
		return int64(h.DataPageHeaderV2.V.NumValues)
	default:
		return int64(h.DictionaryPageHeader.V.NumValues)
	}
}
