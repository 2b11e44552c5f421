package parquet

import (
	"bytes"
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"herbarium/internal/typed"
)

// A page ends with the record after which it has so many entries or bytes of values.
const (
	pageEntries = 20_000
	pageBytes   = 1 << 20
)

// chunk describes the values of a field in a row group.
type chunk struct {
	bounds
	metadata  format.ColumnMetaData
	offsets   format.OffsetIndex
	index     format.ColumnIndex
	unbounded bool // a page has no upper bound
}

// writeChunk writes the pages of a field.
func (w *Writer) writeChunk(b *columnBuffer) (c chunk, err error) {
	c.metadata = format.ColumnMetaData{
		Type: b.physical, PathInSchema: []string{b.name}, Codec: format.Zstd, NumValues: int64(b.entries()),
		Encoding: []format.Encoding{format.RLE, format.Plain},
	}
	if b.isList() {
		c.metadata.PathInSchema = []string{b.name, "list", "element"}
	}
	d := newDictionary(b)
	if d != nil {
		c.metadata.Encoding, c.metadata.DictionaryPageOffset = append(c.metadata.Encoding, format.RLEDictionary), w.at
		header := format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(
			format.DictionaryPageHeader{NumValues: int32(d.count), Encoding: format.Plain},
		)}
		if err := w.writePage(&c, d.plain, header); err != nil {
			return c, err
		}
	}
	c.metadata.DataPageOffset = w.at
	for entry, value, row := 0, 0, 0; entry < b.entries(); {
		end, values, rows := b.pageEnd(entry, value)
		location := format.PageLocation{Offset: w.at, FirstRowIndex: int64(row)}
		var s bounds
		for i := value; i < value+values; i++ {
			s.add(b, b.at(i))
		}
		s.missing = end - entry - values
		header := format.DataPageHeader{
			NumValues: int32(end - entry), Encoding: format.Plain, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE, Statistics: format.Statistics{NullCount: int64(s.missing)},
		}
		w.page = b.appendLevels(w.page[:0], entry, end)
		if d != nil {
			header.Encoding = format.RLEDictionary
			width := widthOf(d.count - 1)
			w.page = appendHybrid(append(w.page, byte(width)), d.numbers[value:value+values], width)
		} else {
			w.page = b.appendValues(w.page, value, value+values)
		}
		if err := w.writePage(&c, w.page, format.PageHeader{DataPageHeader: thrift.New(header)}); err != nil {
			return c, err
		}
		location.CompressedPageSize = int32(w.at - location.Offset)
		c.offsets.PageLocations = append(c.offsets.PageLocations, location)
		c.addIndex(b.Column, s)
		c.merge(b, s)
		entry, value, row = end, value+values, row+rows
	}
	c.setStatistics(b.Column)
	return c, nil
}

// pageEnd returns the end of the page that begins with an entry and a value, and how many values
// and records it has.
func (b *columnBuffer) pageEnd(entry, value int) (end, values, rows int) {
	size := 0
	for end = entry; end < b.entries(); end++ {
		if b.beginsRow(end) {
			if end-entry >= pageEntries || size >= pageBytes {
				return end, values, rows
			}
			rows++
		}
		if b.isPresent(end) {
			size += plainSize(b, b.at(value+values))
			values++
		}
	}
	return end, values, rows
}

// appendLevels appends the levels of entries, each list of levels after its size.
func (b *columnBuffer) appendLevels(dst []byte, from, to int) []byte {
	appendSized := func(levels []uint8, maximum int) {
		start := len(dst)
		dst = appendHybrid(append(dst, 0, 0, 0, 0), levels, widthOf(maximum))
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	}
	if b.isList() {
		appendSized(b.repeats[from:to], 1)
	}
	if !b.required {
		appendSized(b.levels[from:to], int(b.maxLevel()))
	}
	return dst
}

// appendValues appends values in plain encoding.
func (b *columnBuffer) appendValues(dst []byte, from, to int) []byte {
	if b.Kind == typed.Boolean {
		packed := make([]byte, (to-from+7)/8)
		for i, v := range b.values[from:to] {
			packed[i/8] |= v << (i % 8)
		}
		return append(dst, packed...)
	}
	for i := from; i < to; i++ {
		dst = appendPlain(dst, b, b.at(i))
	}
	return dst
}

// writePage writes a page. It sets the sizes in the header.
func (w *Writer) writePage(c *chunk, content []byte, header format.PageHeader) error {
	w.packed = w.zstd.EncodeAll(content, w.packed[:0])
	header.UncompressedPageSize, header.CompressedPageSize = int32(len(content)), int32(len(w.packed))
	encoded, err := encode(header)
	if err != nil {
		return err
	}
	if err := w.write(encoded); err != nil {
		return err
	}
	c.metadata.TotalCompressedSize += int64(len(encoded) + len(w.packed))
	c.metadata.TotalUncompressedSize += int64(len(encoded) + len(content))
	return w.write(w.packed)
}

// addIndex adds the bounds of the values of a page to the index.
func (c *chunk) addIndex(t typed.Column, s bounds) {
	var least, greatest []byte
	if s.least != nil {
		bounded := false
		greatest, bounded = s.upper(t)
		least, greatest = bytes.Clone(s.lower(t)), bytes.Clone(greatest)
		c.unbounded = c.unbounded || !bounded
	}
	x := &c.index
	x.NullPages, x.NullCounts = append(x.NullPages, s.least == nil), append(x.NullCounts, int64(s.missing))
	x.MinValues, x.MaxValues = append(x.MinValues, least), append(x.MaxValues, greatest)
}

// setStatistics describes the values of the chunk.
func (c *chunk) setStatistics(t typed.Column) {
	s := &c.metadata.Statistics
	s.NullCount = int64(c.missing)
	if c.least == nil {
		return
	}
	s.MinValue = c.lower(t)
	if greatest, ok := c.upper(t); ok {
		s.MaxValue = greatest
	}
}

// columnIndex returns the bounds of the pages; empty if a page has no upper bound.
func (c *chunk) columnIndex() ([]byte, error) {
	if c.unbounded {
		return nil, nil
	}
	return encode(c.index)
}
