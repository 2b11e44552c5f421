package parquetrows

import (
	"errors"
	"io"
	"math/bits"

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

// cursor reads the values of one column chunk.
type cursor struct {
	leaf       *node
	chunk      *chunkReader
	codec      meta.CompressionCodec
	unpack     *decompressor
	budget     *rows.Budget
	dictionary *dictionary
	packed     []byte // buffers, reused for each data page
	plain      []byte

	left     int64     // values of the current page
	rep, def bitReader // nil if the leaf has no such levels
	values   valueReader
	nextRep  uint8 // repetition level of the next value
	peeked   bool  // nextRep is known

	row   []value
	arena []byte // data of row
}

func (r *reader) newCursor(group, leaf int) (*cursor, error) {
	metadata := r.chunk(group, leaf)
	chunk, err := newChunkReader(r.src, r.size, metadata)
	return &cursor{
		leaf: r.leaves[leaf], chunk: chunk, codec: metadata.Codec, unpack: r.unpack, budget: r.budget, arena: make([]byte, 0, 64),
	}, err
}

// nextPage decodes the next data page, and the dictionary before it. The error is io.EOF after the last.
func (c *cursor) nextPage() error {
	for {
		if err := c.budget.Step(); err != nil {
			return err
		}
		header, err := c.chunk.next()
		if err != nil {
			return err
		}
		if header.Type == meta.DictionaryPage {
			_, body, err := c.readPage(nil, header)
			if err != nil {
				return err
			}
			if c.dictionary, err = newDictionary(c.leaf.leaf.stored, body, int(header.DictionaryPageHeader.V.NumValues)); err != nil {
				return err
			}
			continue
		}
		c.left, c.rep, c.def = pageValues(header), nil, nil
		levels, body, err := c.readPage(c.plain, header)
		if err != nil {
			return err
		}
		if header.Type == meta.DataPageV2 {
			return c.startV2(&header.DataPageHeaderV2.V, levels, body)
		}
		return c.startV1(&header.DataPageHeader.V, body)
	}
}

// readPage returns the levels of a page of version 2, which are not compressed, and the decompressed rest. dst may be
// reused for it.
func (c *cursor) readPage(dst []byte, header *meta.PageHeader) (levels, body []byte, err error) {
	if c.packed, err = c.chunk.readBody(c.packed, header); err != nil {
		return nil, nil, err
	}
	body = c.packed
	v2 := &header.DataPageHeaderV2
	if header.Type == meta.DataPageV2 && v2.Valid {
		rep, def := int64(v2.V.RepetitionLevelsByteLength), int64(v2.V.DefinitionLevelsByteLength)
		if rep < 0 || def < 0 || rep+def > int64(len(body)) {
			return nil, nil, errOutside
		}
		levels, body = body[:rep+def], body[rep+def:]
	}
	if c.codec == meta.Uncompressed || len(body) == 0 || v2.Valid && v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
		if header.Type == meta.DictionaryPage {
			c.packed = nil // it belongs to the dictionary now
		}
		return levels, body, nil
	}
	if body, err = c.unpack.decompress(c.codec, dst, body, int(header.UncompressedPageSize)-len(levels)); err != nil {
		return nil, nil, err
	}
	if header.Type != meta.DictionaryPage {
		c.plain = body
	}
	return levels, body, nil
}

func (c *cursor) startV1(h *meta.DataPageHeader, body []byte) (err error) {
	if c.leaf.rep > 0 {
		if c.rep, body, err = levelsV1(h.RepetitionLevelEncoding, body, c.leaf.rep, c.left); err != nil {
			return err
		}
	}
	if c.leaf.def > 0 {
		if c.def, body, err = levelsV1(h.DefinitionLevelEncoding, body, c.leaf.def, c.left); err != nil {
			return err
		}
	}
	return c.startValues(h.Encoding, body)
}

// levelsV1 returns a decoder for the levels at the start of a page, and what follows them.
func levelsV1(encoding meta.Encoding, body []byte, limit int, n int64) (bitReader, []byte, error) {
	width := bits.Len(uint(limit))
	if encoding == meta.BitPacked { // has no length before it
		length := (n*int64(width) + 7) / 8
		if length > int64(len(body)) {
			return nil, nil, io.ErrUnexpectedEOF
		}
		return &legacyReader{src: body[:length], width: width}, body[length:], nil
	}
	runs, rest, err := cutByteArray(body)
	if err != nil {
		return nil, nil, err
	}
	return &hybridReader{src: runs, width: width}, rest, nil
}

func (c *cursor) startV2(h *meta.DataPageHeaderV2, levels, body []byte) error {
	rep, def := levels[:h.RepetitionLevelsByteLength], levels[h.RepetitionLevelsByteLength:]
	if c.leaf.rep > 0 { // some writers store levels of leaves that have none
		c.rep = &hybridReader{src: rep, width: bits.Len(uint(c.leaf.rep))}
	}
	if c.leaf.def > 0 {
		c.def = &hybridReader{src: def, width: bits.Len(uint(c.leaf.def))}
	}
	return c.startValues(h.Encoding, body)
}

// plainDictionary is what older writers call RLE_DICTIONARY in data pages. The library marks its own constant as deprecated.
const plainDictionary meta.Encoding = 2

func (c *cursor) startValues(encoding meta.Encoding, body []byte) (err error) {
	if encoding == plainDictionary || encoding == meta.RLEDictionary {
		c.values, err = newDictionaryReader(c.dictionary, body)
	} else if len(body) == 0 {
		c.values = fixedReader(nil, 1) // all values are null
	} else {
		c.values, err = newValueReader(c.leaf.leaf.stored, encoding, body)
	}
	return err
}

// peek returns the repetition level of the next value, io.EOF after the last.
func (c *cursor) peek() (uint8, error) {
	if c.peeked {
		return c.nextRep, nil
	}
	for c.left == 0 {
		if err := c.nextPage(); err != nil {
			return 0, err
		}
	}
	rep, err := level(c.rep, 0, c.leaf.rep)
	c.nextRep, c.peeked = rep, err == nil
	return rep, err
}

// level decodes a level. absent is the level of all values if there is no decoder.
func level(r bitReader, absent, limit int) (uint8, error) {
	if r == nil {
		return uint8(absent), nil
	}
	v, err := r.next()
	if err == nil && v > uint64(limit) {
		err = errLevels
	}
	return uint8(v), err
}

// next returns the next value, valid until the next call; io.EOF after the last.
func (c *cursor) next() (v value, err error) {
	if v.rep, err = c.peek(); err != nil {
		return v, err
	}
	c.peeked = false
	c.left--
	if v.def, err = level(c.def, c.leaf.def, c.leaf.def); err != nil || int(v.def) < c.leaf.def {
		return v, err
	}
	v.data, err = c.values()
	return v, err
}

// nextRow returns the values of the next row of a repeated column, valid until the next call. held counts the bytes that
// they will have at least in the row.
func (c *cursor) nextRow(held *int) ([]value, error) {
	c.row, c.arena = c.row[:0], c.arena[:0]
	for {
		v, err := c.next()
		if err == nil && (v.rep == 0) != (len(c.row) == 0) {
			err = errLevels
		}
		if err != nil {
			return nil, err
		}
		if *held += 2; c.leaf.leaf.stored.kind == meta.ByteArray {
			*held += len(v.data)
		}
		if err := c.budget.Record(*held); err != nil {
			return nil, err
		}
		if !v.isNull() {
			start := len(c.arena)
			c.arena = append(c.arena, v.data...)
			v.data = c.arena[start:len(c.arena):len(c.arena)]
		}
		c.row = append(c.row, v)
		if rep, err := c.peek(); err == io.EOF || err == nil && rep == 0 {
			return c.row, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// pageMemory returns the bytes that the pages of a column chunk need when they are read one at a time. It reads the
// headers of the pages only.
func (r *reader) pageMemory(group, leaf int) (int64, error) {
	pages, err := newChunkReader(r.src, r.size, r.chunk(group, leaf))
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
		// A page is in memory compressed and decompressed; a dictionary has an offset for each value.
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
