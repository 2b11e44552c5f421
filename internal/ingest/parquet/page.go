package parquet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	meta "github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// maxPage is the number of bytes of memory that the pages of one column may need.
const maxPage = 192 << 20

var (
	errOutside = errors.New("a page lies outside the part of the file that belongs to its column")
	errLevels  = errors.New("the values of a nested column do not fit together")
	errValues  = errors.New("a column has more values than its row group has rows")
)

// cursor is positioned at a value of a column chunk. It holds one page and does not trust the sizes
// that a file claims.
type cursor struct {
	rep, def uint64 // levels
	data     []byte // nil for null
	err      error  // the first one; io.EOF after the last value. Then the value is null

	of                   *reader
	leaf                 *node
	chunk                *columnMetadata
	at, end              int64 // of the next page, and of the last one
	seen                 int64 // values of the data pages so far
	dictionary           dictionary
	dictBytes            int64 // of memory that the dictionary needs
	packed, plain        []byte
	left                 int64 // values of the current page
	repLevels, defLevels *runReader
	values               valueReader
}

// newCursor returns a cursor at the first value of a column chunk.
func (r *reader) newCursor(group, leaf int) *cursor {
	chunk := &r.groups[group].Columns[leaf].Metadata
	c := &cursor{of: r, leaf: r.leaves[leaf], chunk: chunk, at: chunk.DataPageOffset}
	if d := chunk.DictionaryPageOffset; d > 0 && d < c.at {
		c.at = d
	}
	const uncounted = 100 // bytes of a header that an old writer left out of the size
	c.end = min(c.at+chunk.TotalCompressedSize+uncounted, r.in.Size())
	if c.at < 0 || chunk.TotalCompressedSize < 0 || c.at > r.in.Size()-chunk.TotalCompressedSize {
		c.err = errOutside
	}
	c.advance()
	return c
}

func (c *cursor) advance() {
	if c.err == nil {
		c.rep, c.def, c.data, c.err = c.read()
	}
}

func (c *cursor) read() (rep, def uint64, data []byte, err error) {
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return 0, 0, nil, err
		}
	}
	c.left--
	rep, err = c.repLevels.next()
	if err == nil {
		def, err = c.defLevels.next()
	}
	if err == nil && (rep > c.leaf.rep || def > c.leaf.def) {
		err = errLevels
	}
	if err == nil && def == c.leaf.def {
		data, err = c.values()
	}
	if err != nil {
		return 0, 0, nil, err
	}
	return rep, def, data, nil
}

// nextPage starts the next data page and reads the dictionary before it. The error is io.EOF after
// the last.
func (c *cursor) nextPage() error {
	for c.seen < c.chunk.NumValues { // pages after the last value belong to no row
		if err := c.of.budget.Step(); err != nil {
			return err
		}
		header, err := c.readHeader()
		if err != nil {
			return err
		}
		switch header.Type {
		case meta.DataPage, meta.DataPageV2:
			return c.startPage(header)
		case meta.DictionaryPage:
			_, body, err := c.readPage(header)
			if err != nil {
				return err
			}
			c.dictionary, err = newDictionary(&c.leaf.leaf, body, pageValues(header))
			if err != nil {
				return err
			}
			c.packed, c.plain = nil, nil // one of them belongs to the dictionary
		default:
			c.at += int64(header.CompressedPageSize)
		}
	}
	return io.EOF
}

// readHeader reads the header of a page, whose length only the decoder knows. It may contain the
// smallest and the largest value.
func (c *cursor) readHeader() (*meta.PageHeader, error) {
	for size := int64(4 << 10); ; size *= 8 {
		n := min(size, c.end-c.at)
		if err := c.readPacked(n); err != nil {
			return nil, err
		}
		header := new(meta.PageHeader)
		used, err := decodeThrift(c.packed, header)
		if err == nil {
			c.at += int64(used)
			size := int64(used) + int64(header.CompressedPageSize) + int64(header.UncompressedPageSize)
			return header, cmp.Or(c.checkHeader(header), c.of.budget.Unpack(size)) // column chunks may share pages
		}
		if n < size || size > 8<<20 {
			return nil, noEOF(err)
		}
	}
}

// readPacked reads the next n bytes of the file into packed.
func (c *cursor) readPacked(n int64) error {
	c.packed = slices.Grow(c.packed[:0], int(n))[:n]
	return readFull(c.of.in, c.packed, c.at)
}

// checkHeader fails if a page cannot be what its header claims, or needs too much memory.
func (c *cursor) checkHeader(header *meta.PageHeader) error {
	packed, plain, values := int64(header.CompressedPageSize), int64(header.UncompressedPageSize), pageValues(header)
	isDictionary := header.Type == meta.DictionaryPage // may have more values than rows refer to
	if packed < 0 || plain < 0 || c.at+packed > c.end || values < 0 || values > c.chunk.NumValues && !isDictionary {
		return errOutside
	}
	// A page is in memory as stored, decompressed and, in some encodings, decoded; a dictionary has
	// an offset for each value.
	need := packed + 2*plain
	if isDictionary {
		c.dictBytes = need
	} else {
		need += c.dictBytes
	}
	if need > maxPage {
		return herb.Invalidf("a page of %d values needs more than %s of memory; write the file with smaller pages",
			values, herb.FormatBytes(maxPage))
	}
	return nil
}

// pageValues returns the number of values of a page, with nulls. A page has one of these headers,
// and the others are zero.
func pageValues(h *meta.PageHeader) int64 {
	return int64(h.DataPageHeader.V.NumValues) + int64(h.DataPageHeaderV2.V.NumValues) +
		int64(h.DictionaryPageHeader.V.NumValues)
}

// readPage reads the page after its header: the levels of a page of version 2, which are not
// compressed, and the decompressed rest.
func (c *cursor) readPage(header *meta.PageHeader) (levels, body []byte, err error) {
	if err := c.readPacked(int64(header.CompressedPageSize)); err != nil {
		return nil, nil, err
	}
	c.at += int64(len(c.packed))
	if header.CRC != 0 && uint32(header.CRC) != crc32.ChecksumIEEE(c.packed) {
		return nil, nil, errors.New("the checksum of a page is wrong")
	}
	body, codec := c.packed, c.chunk.Codec
	if v2 := &header.DataPageHeaderV2.V; header.Type == meta.DataPageV2 {
		rep, def := int64(v2.RepetitionLevelsByteLength), int64(v2.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > int64(len(body)) {
			return nil, nil, errOutside
		}
		levels, body = body[:rep+def], body[rep+def:]
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			codec = meta.Uncompressed
		}
	}
	if codec == meta.Uncompressed || len(body) == 0 {
		return levels, body, nil
	}
	c.plain, err = decompress(c.of.zstd, codec, c.plain, body, int(header.UncompressedPageSize)-len(levels))
	return levels, c.plain, err
}

func (c *cursor) startPage(header *meta.PageHeader) error {
	levels, body, err := c.readPage(header)
	if err != nil {
		return err
	}
	c.left = pageValues(header)
	c.seen += c.left
	var rep, def []byte
	v1, v2 := &header.DataPageHeader.V, &header.DataPageHeaderV2.V
	encoding := v1.Encoding
	if header.Type == meta.DataPageV2 {
		encoding = v2.Encoding
		rep, def = levels[:v2.RepetitionLevelsByteLength], levels[v2.RepetitionLevelsByteLength:]
	} else if rep, body, err = cutLevels(v1.RepetitionLevelEncoding, body, c.leaf.rep); err != nil {
		return err
	} else if def, body, err = cutLevels(v1.DefinitionLevelEncoding, body, c.leaf.def); err != nil {
		return err
	}
	c.repLevels, c.defLevels = newLevelReader(rep, c.leaf.rep), newLevelReader(def, c.leaf.def)
	c.values, err = newValueReader(&c.leaf.leaf, c.dictionary, encoding, body)
	return err
}

// cutLevels splits off the levels at the start of a page of version 1.
func cutLevels(encoding meta.Encoding, body []byte, limit uint64) (runs, rest []byte, err error) {
	if limit == 0 {
		return nil, body, nil
	}
	if encoding == meta.BitPacked { // deprecated since 2013
		return nil, nil, fmt.Errorf("unsupported encoding %s of levels", encoding)
	}
	return cutByteArray(body)
}

// noEOF replaces io.EOF, which means the end of a column chunk, inside a page or a row.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var errDecompressedSize = errors.New("a page does not have the size that its header declares")

func newZstd() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
}

// decompress writes a page into dst, which must not grow to more than size bytes.
func decompress(z *zstd.Decoder, codec meta.CompressionCodec, dst, packed []byte, size int) (out []byte, err error) {
	if size < 0 {
		return nil, errDecompressedSize
	}
	dst = dst[:0]
	err = rows.Guard("a page compressed with "+codec.String(), func() error {
		switch codec {
		case meta.Snappy:
			if n, err := snappy.DecodedLen(packed); err != nil || n > size {
				return errors.Join(err, errDecompressedSize)
			}
			out, err = snappy.Decode(dst[:cap(dst)], packed)
		case meta.Gzip:
			var r io.Reader
			r, err = gzip.NewReader(bytes.NewReader(packed))
			if err == nil {
				out, err = readAtMost(dst, r, size+1)
			}
		case meta.Brotli:
			out, err = readAtMost(dst, brotli.NewReader(bytes.NewReader(packed)), size+1)
		case meta.Zstd:
			out, err = z.DecodeAll(packed, dst)
		case meta.Lz4Raw:
			out, err = decodeLZ4(dst, packed, size)
		}
		return err
	})
	if err == nil && len(out) > size {
		err = errDecompressedSize
	}
	return out, err
}

func readAtMost(dst []byte, r io.Reader, size int) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(io.LimitReader(r, int64(size)))
	return b.Bytes(), err
}

// decodeLZ4 appends a block of at most size bytes to dst.
func decodeLZ4(dst, packed []byte, size int) ([]byte, error) {
	const maxRatio = 255 // of the format
	size = min(size, maxRatio*(len(packed)+1))
	dst = slices.Grow(dst, size)
	n, err := lz4.UncompressBlock(packed, dst[len(dst):len(dst)+size])
	return dst[:len(dst)+max(n, 0)], err
}
