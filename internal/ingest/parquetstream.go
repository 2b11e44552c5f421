package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	meta "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// pageStream reads the pages of a column chunk and decompresses them. It never trusts the sizes that a file claims.
type pageStream struct {
	pages *pageHeaders
	codec meta.CompressionCodec
	zstd  *zstd.Decoder
}

// newPageStream begins before the first page of a chunk.
func newPageStream(src io.ReaderAt, size int64, chunk *meta.ColumnMetaData, z *zstd.Decoder) (*pageStream, error) {
	pages, err := newPageHeaders(src, size, chunk)
	return &pageStream{pages: pages, codec: chunk.Codec, zstd: z}, err
}

// next returns the header of the next page, the levels of a page of version 2, which are not compressed, and the
// decompressed rest; io.EOF behind the last page.
func (s *pageStream) next() (header *meta.PageHeader, levels, body []byte, err error) {
	if header, err = s.pages.next(); err != nil {
		return nil, nil, nil, err
	}
	if body, err = s.pages.body(header); err != nil {
		return nil, nil, nil, err
	}
	if header.CRC != 0 && uint32(header.CRC) != crc32.ChecksumIEEE(body) {
		return nil, nil, nil, errors.New("the checksum of a page is wrong")
	}
	v2 := &header.DataPageHeaderV2
	if header.Type == meta.DataPageV2 && v2.Valid {
		rep, def := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > int64(len(body)) {
			return nil, nil, nil, errOutside
		}
		levels, body = body[:rep+def], body[rep+def:]
	}
	plain := s.codec == meta.Uncompressed || len(body) == 0 || v2.Valid && v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V
	if !plain {
		if body, err = s.unpack(body, int(header.UncompressedPageSize)-len(levels)); err != nil {
			return nil, nil, nil, fmt.Errorf("a page cannot be decompressed (%s): %w", s.codec, err)
		}
	}
	return header, levels, body, nil
}

var errUnpacked = errors.New("it does not have the size that it should have")

// unpack undoes the compression of a page, which must not grow to more than size.
func (s *pageStream) unpack(packed []byte, size int) ([]byte, error) {
	if size < 0 {
		return nil, errUnpacked
	}
	switch s.codec {
	case meta.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n > size {
			return nil, errors.Join(err, errUnpacked)
		}
		return snappy.Decode(nil, packed)
	case meta.Gzip:
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readUpTo(r, size)
	case meta.Brotli:
		return readUpTo(brotli.NewReader(bytes.NewReader(packed)), size)
	case meta.Zstd:
		out, err := s.zstd.DecodeAll(packed, make([]byte, 0, size))
		if len(out) > size {
			err = errUnpacked
		}
		return out, err
	case meta.Lz4Raw:
		return unpackLZ4(packed, size)
	case meta.Lz4:
		if out, err := unpackHadoop(packed, size); err == nil {
			return out, nil
		}
		return unpackLZ4(packed, size) // what some writers wrote under this name
	default:
		return nil, errors.New("the kind of compression is not known")
	}
}

func readUpTo(r io.Reader, size int) ([]byte, error) {
	out := make([]byte, size)
	n, err := io.ReadFull(r, out)
	switch {
	case err == io.ErrUnexpectedEOF || err == io.EOF:
		return out[:n], nil
	case err != nil:
		return nil, err
	}
	if n, err := r.Read(make([]byte, 1)); n > 0 {
		return nil, errUnpacked
	} else if err != nil && err != io.EOF {
		return nil, err
	}
	return out, nil
}

func unpackLZ4(packed []byte, size int) ([]byte, error) {
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(packed, out)
	if err != nil {
		return nil, err
	}
	return out[:n], nil
}

// unpackHadoop undoes the older kind of LZ4: blocks, each behind its size unpacked and packed.
func unpackHadoop(packed []byte, size int) ([]byte, error) {
	out := make([]byte, 0, size)
	for len(packed) > 0 {
		if len(packed) < 8 {
			return nil, errUnpacked
		}
		n, m := binary.BigEndian.Uint32(packed), binary.BigEndian.Uint32(packed[4:])
		packed = packed[8:]
		if uint64(m) > uint64(len(packed)) || uint64(n) > uint64(size-len(out)) {
			return nil, errUnpacked
		}
		block, err := unpackLZ4(packed[:m], int(n))
		if err != nil || len(block) != int(n) {
			return nil, errors.Join(err, errUnpacked)
		}
		out, packed = append(out, block...), packed[m:]
	}
	return out, nil
}

// pageHeaders reads the headers of the pages of a column chunk, and the pages where they are wanted.
type pageHeaders struct {
	section  *io.SectionReader
	buffered *bufio.Reader
	decoder  *thrift.Decoder
	left     int64 // bytes of the page whose header was read last that were not
	seen     int64 // values of the pages so far
	values   int64 // of the chunk
}

// newPageHeaders begins before the first page.
func newPageHeaders(src io.ReaderAt, size int64, chunk *meta.ColumnMetaData) (*pageHeaders, error) {
	offset := chunk.DataPageOffset
	if d := chunk.DictionaryPageOffset; d > 0 && d < offset {
		offset = d
	}
	if offset < 0 || chunk.TotalCompressedSize < 0 || offset > size-chunk.TotalCompressedSize {
		return nil, errOutside
	}
	const lost = 100 // bytes of a header that an old writer did not count
	h := &pageHeaders{
		section: io.NewSectionReader(src, offset, min(chunk.TotalCompressedSize+lost, size-offset)),
		values:  chunk.NumValues,
	}
	h.buffered = bufio.NewReaderSize(h.section, 4<<10)
	protocol := thrift.CompactProtocol{}
	h.decoder = thrift.NewDecoder(protocol.NewReader(h.buffered))
	return h, nil
}

// next returns the header of the next page, io.EOF behind the last.
func (h *pageHeaders) next() (*meta.PageHeader, error) {
	if err := h.skip(); err != nil {
		return nil, err
	}
	if h.seen >= h.values {
		return nil, io.EOF // what may follow belongs to no row
	}
	header := new(meta.PageHeader)
	if err := h.decoder.Decode(header); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	at, err := h.section.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	h.left = int64(header.CompressedPageSize)
	values := pageValues(header)
	if h.left < 0 || at-int64(h.buffered.Buffered())+h.left > h.section.Size() || header.UncompressedPageSize < 0 ||
		values < 0 || values > h.values {
		return nil, errOutside
	}
	if header.Type != meta.DictionaryPage {
		h.seen += values
	}
	if header.Type == meta.IndexPage {
		return h.next()
	}
	return header, nil
}

// pageValues is how many values a page has.
func pageValues(h *meta.PageHeader) int64 {
	switch h.Type {
	case meta.DataPage:
		return int64(h.DataPageHeader.V.NumValues)
	case meta.DataPageV2:
		return int64(h.DataPageHeaderV2.V.NumValues)
	case meta.DictionaryPage:
		return int64(h.DictionaryPageHeader.V.NumValues)
	default:
		return 0
	}
}

// skip passes over the page whose header was read last.
func (h *pageHeaders) skip() error {
	n := h.left
	h.left = 0
	if n <= int64(h.buffered.Buffered()) {
		_, err := h.buffered.Discard(int(n))
		return err
	}
	n -= int64(h.buffered.Buffered())
	if _, err := h.section.Seek(n, io.SeekCurrent); err != nil {
		return err
	}
	h.buffered.Reset(h.section)
	return nil
}

// body reads the page whose header was read last.
func (h *pageHeaders) body(header *meta.PageHeader) ([]byte, error) {
	b := make([]byte, header.CompressedPageSize)
	_, err := io.ReadFull(h.buffered, b)
	h.left = 0
	return b, err
}

// errOutside says that the file describes parts that it does not have.
var errOutside = errors.New("a page lies outside the part of the file that belongs to its column")
