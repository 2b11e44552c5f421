package xlsx

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	maxMemory   = 24 << 20 // bytes of shared strings in memory
	anchorEvery = 8        // strings between known offsets
	blockSize   = 16 << 10 // of the cache
	cacheBlocks = 256
)

// sharedStrings is the table of strings that cells refer to by number. A large table is in a temporary file, with a cache
// of its blocks.
type sharedStrings struct {
	memory  []byte // each string after its length
	file    *os.File
	out     *bufio.Writer // to file
	size    int64
	count   int
	anchors []int64 // offsets of every anchorEvery-th string
	blocks  [cacheBlocks][]byte
	numbers [cacheBlocks]int64 // of the blocks, from 1
	joined  []byte             // string that spans several blocks
}

// readStrings reads the shared strings.
func (k *book) readStrings(part string) error {
	x, err := k.open(part, maxSheet)
	if x == nil || err != nil {
		return err
	}
	defer x.Close()
	if err := k.strings.Close(); err != nil { // of a second table
		return err
	}
	t := &sharedStrings{}
	k.strings = t
	var item richText
	inside := false
	for {
		err := x.token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case x.kind == tokenText || string(x.name) != "si":
		case x.kind == tokenStart && x.depth != 2 || x.kind == tokenEnd && x.depth != 1: // not an item of the table
		case x.kind == tokenStart:
			inside = true
			item.reset()
		default:
			inside = false
			if err := t.add(item.text()); err != nil {
				return err
			}
		}
		if inside {
			if err := item.add(x); err != nil {
				return x.locate(err)
			}
		}
	}
	if t.out != nil {
		return t.out.Flush()
	}
	return nil
}

// add appends a string to the table.
func (t *sharedStrings) add(text []byte) error {
	if t.count%anchorEvery == 0 {
		t.anchors = append(t.anchors, t.size)
	}
	t.count++
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(text)))
	t.size += int64(n + len(text))
	if t.out == nil && len(t.memory)+n+len(text) <= maxMemory {
		t.memory = append(append(t.memory, length[:n]...), text...)
		return nil
	}
	if t.out == nil {
		f, err := rows.TempFile()
		if err != nil {
			return err
		}
		t.file, t.out = f, bufio.NewWriterSize(f, 256<<10)
		t.out.Write(t.memory)
		t.memory = nil
	}
	t.out.Write(length[:n])
	_, err := t.out.Write(text)
	return err
}

// get returns a string by its number. One from the temporary file is valid until the next call.
func (t *sharedStrings) get(number []byte) ([]byte, error) {
	i, err := strconv.Atoi(string(number))
	if err != nil || t == nil || i < 0 || i >= t.count {
		return nil, errNoString
	}
	at := t.anchors[i/anchorEvery]
	for skip := i % anchorEvery; ; skip-- {
		head, err := t.bytes(at, min(binary.MaxVarintLen64, t.size-at))
		if err != nil {
			return nil, err
		}
		length, n := binary.Uvarint(head)
		at += int64(n)
		if skip == 0 {
			return t.bytes(at, int64(length))
		}
		at += int64(length)
	}
}

var errNoString = herb.Invalidf("a cell refers to a shared string that is missing; save the workbook again")

// bytes returns some bytes of the table.
func (t *sharedStrings) bytes(at, n int64) ([]byte, error) {
	if t.file == nil {
		return t.memory[at : at+n : at+n], nil
	}
	t.joined = t.joined[:0]
	for {
		block, err := t.block(at / blockSize)
		if err != nil {
			return nil, err
		}
		block = block[at%blockSize:]
		if len(t.joined) == 0 && int64(len(block)) >= n {
			return block[:n], nil
		}
		block = block[:min(int64(len(block)), n)]
		t.joined = append(t.joined, block...)
		at, n = at+int64(len(block)), n-int64(len(block))
		if n == 0 {
			return t.joined, nil
		}
	}
}

// block returns a block of the file through the cache.
func (t *sharedStrings) block(number int64) ([]byte, error) {
	slot := number % cacheBlocks
	if t.numbers[slot] == number+1 {
		return t.blocks[slot], nil
	}
	if t.blocks[slot] == nil {
		t.blocks[slot] = make([]byte, blockSize)
	}
	start := number * blockSize
	b := t.blocks[slot][:blockSize][:min(blockSize, t.size-start)]
	if _, err := t.file.ReadAt(b, start); err != nil {
		t.numbers[slot] = 0
		return nil, err
	}
	t.blocks[slot], t.numbers[slot] = b, number+1
	return b, nil
}

// Close implements io.Closer.
func (t *sharedStrings) Close() error {
	if t == nil || t.file == nil {
		return nil
	}
	return t.file.Close()
}

// richText concatenates the runs of a text, without its phonetic hints.
type richText struct {
	buf      []byte
	run      bool // inside a run of characters
	phonetic bool
}

func (t *richText) reset() { *t = richText{buf: t.buf[:0]} }

// add handles a token inside the text.
func (t *richText) add(x *part) error {
	switch {
	case x.kind == tokenText:
		if t.run && !t.phonetic {
			t.buf = append(t.buf, x.text...)
		}
	case string(x.name) == "t":
		t.run = x.kind == tokenStart
	case string(x.name) == "rPh":
		t.phonetic = x.kind == tokenStart
	}
	return x.book.budget.Record(len(t.buf))
}

// text returns the text.
func (t *richText) text() []byte { return unescapeControls(t.buf) }

// unescapeControls replaces, in place, the escapes of characters that XML cannot hold, such as _x000D_.
func unescapeControls(b []byte) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		r, n := escapedRune(b[i:])
		if n == 0 {
			out = append(out, b[i])
			i++
			continue
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out
}

// escapedRune decodes an escape, or the two of a surrogate pair; n is 0 if b does not begin with one.
func escapedRune(b []byte) (r rune, n int) {
	unit := func(b []byte) (rune, bool) {
		if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
		return rune(v), err == nil
	}
	r, ok := unit(b)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 7
	}
	low, ok := unit(b[7:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 14
}
