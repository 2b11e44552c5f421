package parquet

import (
	"encoding/binary"

	"herbarium/internal/typed"
)

// Encodings of values.
const (
	encodingPlain      = 0
	encodingHybrid     = 3 // of levels
	encodingDictionary = 8
)

const (
	codecZstd = 6

	pageData       = 0
	pageDictionary = 2
)

// A page ends with the record after which it has so many entries or bytes of values.
const (
	pageEntries = 20_000
	pageBytes   = 1 << 20
)

// chunk describes the values of a field in a row group.
type chunk struct {
	bounds
	entries                  int
	dictionaryAt, dataAt     int64 // offset of the page of the dictionary, 0 if there is none, and of the first data page
	compressed, uncompressed int64
	pages                    []page
}

// page describes a data page.
type page struct {
	at       int64
	size     int
	firstRow int
	values   bool // it has a value
	missing  int
	least    []byte // bounds
	greatest []byte
	bounded  bool // it has an upper bound
}

// writeChunk writes the pages of a field.
func (w *Writer) writeChunk(b *columnBuffer) (c chunk, err error) {
	c.entries = b.entries()
	d := newDictionary(b)
	if d != nil {
		c.dictionaryAt = w.at
		header := func(t *thrift) {
			t.begin(7)
			t.i32(1, d.count)
			t.i32(2, encodingPlain)
			t.end()
		}
		if err := w.writePage(&c, pageDictionary, d.plain, header); err != nil {
			return c, err
		}
	}
	c.dataAt = w.at
	for entry, value, row := 0, 0, 0; entry < c.entries; {
		end, values, rows := b.pageEnd(entry, value)
		p := page{at: w.at, firstRow: row}
		var s bounds
		for i := value; i < value+values; i++ {
			s.add(b, b.at(i))
		}
		s.missing = end - entry - values
		encoding := encodingPlain
		w.page = b.appendLevels(w.page[:0], entry, end)
		if d != nil {
			encoding = encodingDictionary
			width := widthOf(d.count - 1)
			w.page = appendHybrid(append(w.page, byte(width)), d.numbers[value:value+values], width)
		} else {
			w.page = b.appendValues(w.page, value, value+values)
		}
		if err := w.writePage(&c, pageData, w.page, func(t *thrift) {
			t.begin(5)
			t.i32(1, end-entry)
			t.i32(2, encoding)
			t.i32(3, encodingHybrid)
			t.i32(4, encodingHybrid)
			t.end()
		}); err != nil {
			return c, err
		}
		p.size = int(w.at - p.at)
		p.setBounds(b, s)
		c.merge(b, s)
		c.pages = append(c.pages, p)
		entry, value, row = end, value+values, row+rows
	}
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

// writePage writes a page. header appends the member of the header that its kind has.
func (w *Writer) writePage(c *chunk, kind int, content []byte, header func(*thrift)) error {
	w.packed = w.zstd.EncodeAll(content, w.packed[:0])
	t := newThrift()
	t.i32(1, kind)
	t.i32(2, len(content))
	t.i32(3, len(w.packed))
	header(t)
	encoded := t.finish()
	if err := w.write(encoded); err != nil {
		return err
	}
	c.compressed += int64(len(encoded) + len(w.packed))
	c.uncompressed += int64(len(encoded) + len(content))
	return w.write(w.packed)
}

// setBounds sets the bounds of the values of a page.
func (p *page) setBounds(b *columnBuffer, s bounds) {
	p.missing = s.missing
	if p.values = s.least != nil; p.values {
		p.least, _ = s.lower(b.Column)
		p.greatest, _, p.bounded = s.upper(b.Column)
		p.least, p.greatest = append([]byte{}, p.least...), append([]byte{}, p.greatest...)
	}
}

// description returns the description of a chunk without the fields of its indexes, which follow.
func (c *chunk) description(b *columnBuffer) []byte {
	t := newThrift()
	t.i64(2, 0)
	t.begin(3)
	t.i32(1, b.physical)
	encodings := []int{encodingHybrid, encodingPlain}
	if c.dictionaryAt > 0 {
		encodings = append(encodings, encodingDictionary)
	}
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.b = binary.AppendVarint(t.b, int64(e))
	}
	path := []string{b.name}
	if b.isList() {
		path = append(path, "list", "element")
	}
	t.list(3, thriftBinary, len(path))
	for _, name := range path {
		t.element([]byte(name))
	}
	t.i32(4, codecZstd)
	t.i64(5, int64(c.entries))
	t.i64(6, c.uncompressed)
	t.i64(7, c.compressed)
	t.i64(9, c.dataAt)
	if c.dictionaryAt > 0 {
		t.i64(11, c.dictionaryAt)
	}
	t.begin(12)
	t.i64(3, int64(c.missing))
	if c.least != nil {
		greatest, isGreatest, ok := c.upper(b.Column)
		if ok {
			t.binary(5, greatest)
		}
		least, isLeast := c.lower(b.Column)
		t.binary(6, least)
		if ok {
			t.boolean(7, isGreatest)
		}
		t.boolean(8, isLeast)
	}
	t.end()
	t.end()
	return t.b
}

// offsetIndex returns where the pages are.
func (c *chunk) offsetIndex() []byte {
	t := newThrift()
	t.list(1, thriftStruct, len(c.pages))
	for _, p := range c.pages {
		t.beginElement()
		t.i64(1, p.at)
		t.i32(2, p.size)
		t.i64(3, int64(p.firstRow))
		t.end()
	}
	return t.finish()
}

// columnIndex returns the bounds of the pages; empty if a page has no upper bound.
func (c *chunk) columnIndex() []byte {
	const unordered = 0
	t := newThrift()
	t.list(1, thriftTrue, len(c.pages))
	for _, p := range c.pages {
		if p.values && !p.bounded {
			return nil
		}
		if p.values {
			t.b = append(t.b, thriftFalse)
		} else {
			t.b = append(t.b, thriftTrue)
		}
	}
	t.list(2, thriftBinary, len(c.pages))
	for _, p := range c.pages {
		t.element(p.least)
	}
	t.list(3, thriftBinary, len(c.pages))
	for _, p := range c.pages {
		t.element(p.greatest)
	}
	t.i32(4, unordered)
	t.list(5, thriftI64, len(c.pages))
	for _, p := range c.pages {
		t.b = binary.AppendVarint(t.b, int64(p.missing))
	}
	return t.finish()
}
