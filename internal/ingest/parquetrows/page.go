package parquetrows

import (
	"errors"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
	meta "github.com/parquet-go/parquet-go/format"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

// The bytes that pages may have in memory: those of all columns that are read at the same time, and those of one column.
const (
	pageBudget = 48 << 20
	maxPage    = 192 << 20
)

var errLevels = errors.New("the values of a nested column do not fit together")

// value is one value of a leaf with its levels. data is nil for null.
type value struct {
	rep, def int
	data     []byte
}

// cursor reads the values of one column chunk.
type cursor struct {
	leaf       *node
	chunk      *chunkReader
	codec      meta.CompressionCodec
	zstd       *zstd.Decoder
	budget     *rows.Budget
	dictionary *dictionary
	buffers    pageBuffers

	left     int64      // values of the current page
	rep, def *bitReader // nil if the leaf has no such levels
	values   valueReader
	current  value
	isPeeked bool // current has not been consumed
}

// pageBuffers hold a page as stored and decompressed. They are reused for each data page.
type pageBuffers struct{ packed, plain []byte }

func (r *reader) newCursor(group, leaf int) (*cursor, error) {
	metadata := r.chunk(group, leaf)
	chunk, err := newChunkReader(r.in, metadata)
	return &cursor{leaf: r.leaves[leaf], chunk: chunk, codec: metadata.Codec, zstd: r.zstd, budget: r.budget}, err
}

// nextPage starts the next data page and reads the dictionary before it. The error is io.EOF after the last.
func (c *cursor) nextPage() error {
	for {
		if err := c.budget.Step(); err != nil {
			return err
		}
		header, err := c.chunk.next()
		if err != nil {
			return err
		}
		if header.Type != meta.DictionaryPage {
			return c.startPage(header)
		}
		_, body, err := c.readPage(header, new(pageBuffers))
		if err != nil {
			return err
		}
		if c.dictionary, err = newDictionary(&c.leaf.leaf, body, pageValues(header)); err != nil {
			return err
		}
	}
}

// readPage returns the levels of a page of version 2, which are not compressed, and the decompressed rest.
func (c *cursor) readPage(header *meta.PageHeader, buf *pageBuffers) (levels, body []byte, err error) {
	if buf.packed, err = c.chunk.readBody(buf.packed, header); err != nil {
		return nil, nil, err
	}
	body, codec := buf.packed, c.codec
	if header.Type == meta.DataPageV2 {
		v2 := &header.DataPageHeaderV2.V
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
	buf.plain, err = decompress(c.zstd, codec, buf.plain, body, int(header.UncompressedPageSize)-len(levels))
	return levels, buf.plain, err
}

// startPage reads a data page.
func (c *cursor) startPage(header *meta.PageHeader) error {
	levels, body, err := c.readPage(header, &c.buffers)
	if err != nil {
		return err
	}
	c.left = pageValues(header)
	if header.Type == meta.DataPageV2 {
		v2 := &header.DataPageHeaderV2.V
		// Some writers store levels of leaves that have none.
		c.rep = newLevels(levels[:v2.RepetitionLevelsByteLength], c.leaf.rep)
		c.def = newLevels(levels[v2.RepetitionLevelsByteLength:], c.leaf.def)
		return c.startValues(v2.Encoding, body)
	}
	v1 := &header.DataPageHeader.V
	if c.rep, body, err = c.cutLevels(v1.RepetitionLevelEncoding, body, c.leaf.rep); err != nil {
		return err
	}
	if c.def, body, err = c.cutLevels(v1.DefinitionLevelEncoding, body, c.leaf.def); err != nil {
		return err
	}
	return c.startValues(v1.Encoding, body)
}

// newLevels returns a decoder for levels up to a limit, nil if they are all 0.
func newLevels(runs []byte, limit int) *bitReader {
	if limit == 0 {
		return nil
	}
	return &bitReader{src: runs, width: bits.Len(uint(limit))}
}

// cutLevels returns a decoder for the levels at the start of a page of version 1, and what follows them.
func (c *cursor) cutLevels(encoding meta.Encoding, body []byte, limit int) (*bitReader, []byte, error) {
	if limit == 0 {
		return nil, body, nil
	}
	if encoding == meta.BitPacked { // has no length before it
		width := bits.Len(uint(limit))
		length := (c.left*int64(width) + 7) / 8
		if length > int64(len(body)) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		return newPackedReader(packedReader{src: body[:length], width: width, isLegacy: true}), body[length:], nil
	}
	runs, rest, err := cutByteArray(body)
	return newLevels(runs, limit), rest, err
}

// plainDictionary is what older writers call RLE_DICTIONARY in data pages. The library marks its own constant as deprecated.
const plainDictionary meta.Encoding = 2

func (c *cursor) startValues(encoding meta.Encoding, body []byte) (err error) {
	if encoding == plainDictionary || encoding == meta.RLEDictionary {
		c.values, err = newDictionaryReader(c.dictionary, body)
	} else if len(body) == 0 {
		c.values = fixedReader(nil, 1) // all values are null
	} else {
		c.values, err = newValueReader(&c.leaf.leaf, encoding, body)
	}
	return err
}

// peek sets current to the next value without consuming it. The error is io.EOF after the last value.
func (c *cursor) peek() (err error) {
	if c.isPeeked {
		return nil
	}
	c.current = value{}
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return err
		}
	}
	c.left--
	if c.current.rep, err = readLevel(c.rep, c.leaf.rep); err != nil {
		return err
	}
	c.current.def, err = readLevel(c.def, c.leaf.def)
	if err == nil && c.current.def == c.leaf.def {
		c.current.data, err = c.values()
	}
	c.isPeeked = err == nil
	return err
}

// next consumes the next value and returns its data, nil for null. It is valid until the next call.
func (c *cursor) next() ([]byte, error) {
	err := c.peek()
	c.isPeeked = false
	return c.current.data, err
}

// readLevel decodes a level. All levels are 0 if there is no decoder.
func readLevel(r *bitReader, limit int) (int, error) {
	if r == nil {
		return 0, nil
	}
	v, err := r.next()
	if err == nil && v > uint64(limit) {
		err = errLevels
	}
	return int(v), err
}

// pageMemory returns the bytes that the pages of a column chunk need when they are read one at a time. It reads the
// headers of the pages only.
func (r *reader) pageMemory(group, leaf int) (int64, error) {
	pages, err := newChunkReader(r.in, r.chunk(group, leaf))
	if err != nil {
		return 0, err
	}
	dictionary, largest := int64(0), int64(0)
	for {
		if err := r.budget.Step(); err != nil {
			return 0, err
		}
		header, err := pages.next()
		if err == io.EOF {
			return dictionary + largest, nil
		}
		if err != nil {
			return 0, err
		}
		// A page is in memory as stored, decompressed and, in some encodings, decoded; a dictionary has an offset for each value.
		need := int64(header.CompressedPageSize) + 2*int64(header.UncompressedPageSize)
		if header.Type == meta.DictionaryPage {
			dictionary = max(dictionary, need)
		} else {
			largest = max(largest, need)
		}
		if dictionary+largest > r.largest {
			return 0, herb.Invalidf("a page of %d values needs %d bytes of memory; at most %d are possible; write the file with smaller pages",
				pageValues(header), dictionary+largest, r.largest)
		}
	}
}
