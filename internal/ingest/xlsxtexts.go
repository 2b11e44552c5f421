package ingest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// The texts of a workbook stand in a table of their own, and cells refer to them by number. Up to textsInMemory bytes
// are kept in memory, more in a temporary file, of which blocks are kept. Of every anchorEvery-th text the place is known.
const (
	textsInMemory = 24 << 20
	anchorEvery   = 8
	textBlock     = 16 << 10
	textBlocks    = 256
)

// xlsxTexts is that table.
type xlsxTexts struct {
	memory  []byte // each text behind its length
	file    *os.File
	size    int64
	count   int
	anchors []int64
	blocks  [textBlocks][]byte // of the file
	numbers [textBlocks]int64  // which those are, from 1
	room    []byte             // for what lies in several blocks
}

// readTexts reads the table of texts.
func (b *xlsxBook) readTexts(part string) error {
	x, err := b.open(part, maxSheetPart)
	if x == nil || err != nil {
		return err
	}
	defer x.Close()
	t := &xlsxTexts{}
	b.texts = t
	var out *bufio.Writer
	var item xlsxText
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
		case x.kind == xmlText || string(x.name) != "si":
		case x.kind == xmlStart && x.depth != 2 || x.kind == xmlEnd && x.depth != 1: // not an item of the table
		case x.kind == xmlStart:
			inside = true
			item.reset()
		default:
			inside = false
			x.budget = maxBookPart
			if out, err = t.add(item.text(), out); err != nil {
				return err
			}
		}
		if inside {
			item.take(x)
		}
	}
	if out != nil {
		return out.Flush()
	}
	return nil
}

// add adds a text to the table. out is where it goes once the table is too large for memory.
func (t *xlsxTexts) add(text []byte, out *bufio.Writer) (*bufio.Writer, error) {
	if t.count%anchorEvery == 0 {
		t.anchors = append(t.anchors, t.size)
	}
	t.count++
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(text)))
	t.size += int64(n + len(text))
	if out == nil && len(t.memory)+n+len(text) <= textsInMemory {
		t.memory = append(append(t.memory, length[:n]...), text...)
		return nil, nil
	}
	if out == nil {
		f, err := temporary()
		if err != nil {
			return nil, err
		}
		t.file, out = f, bufio.NewWriterSize(f, windowBytes)
		out.Write(t.memory)
		t.memory = nil
	}
	out.Write(length[:n])
	_, err := out.Write(text)
	return out, err
}

// get returns a text by its number. It is valid until the next call.
func (t *xlsxTexts) get(number []byte) ([]byte, error) {
	i, err := strconv.Atoi(string(number))
	if err != nil || t == nil || i < 0 || i >= t.count {
		return nil, errNoText
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

var errNoText = herb.Invalidf("a cell refers to a text that the workbook does not have; save it again")

// bytes returns some bytes of the table. They are valid until the next call.
func (t *xlsxTexts) bytes(at, n int64) ([]byte, error) {
	if t.file == nil {
		return t.memory[at : at+n], nil
	}
	t.room = t.room[:0]
	for {
		block, err := t.block(at / textBlock)
		if err != nil {
			return nil, err
		}
		block = block[at%textBlock:]
		if len(t.room) == 0 && int64(len(block)) >= n {
			return block[:n], nil
		}
		block = block[:min(int64(len(block)), n)]
		t.room = append(t.room, block...)
		at, n = at+int64(len(block)), n-int64(len(block))
		if n == 0 {
			return t.room, nil
		}
	}
}

// block returns a block of the file.
func (t *xlsxTexts) block(number int64) ([]byte, error) {
	slot := number % textBlocks
	if t.numbers[slot] == number+1 {
		return t.blocks[slot], nil
	}
	if t.blocks[slot] == nil {
		t.blocks[slot] = make([]byte, textBlock)
	}
	start := number * textBlock
	b := t.blocks[slot][:textBlock][:min(textBlock, t.size-start)]
	if _, err := t.file.ReadAt(b, start); err != nil {
		t.numbers[slot] = 0
		return nil, err
	}
	t.blocks[slot], t.numbers[slot] = b, number+1
	return b, nil
}

// Close implements io.Closer.
func (t *xlsxTexts) Close() error {
	if t == nil || t.file == nil {
		return nil
	}
	return t.file.Close()
}

// temporary makes a file without a name, so that nothing is left behind however the program ends.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "herbarium-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// xlsxText gathers a text from its runs. What tells how to pronounce it does not belong to it.
type xlsxText struct {
	buf      []byte
	run      bool // inside a run of characters
	phonetic bool
}

func (t *xlsxText) reset() { *t = xlsxText{buf: t.buf[:0]} }

// take takes a token into account.
func (t *xlsxText) take(x *xlsxPart) {
	switch {
	case x.kind == xmlText:
		if t.run && !t.phonetic {
			t.buf = append(t.buf, x.text...)
		}
	case string(x.name) == "t":
		t.run = x.kind == xmlStart
	case string(x.name) == "rPh":
		t.phonetic = x.kind == xmlStart
	}
}

// text returns what was gathered.
func (t *xlsxText) text() []byte { return unescapeXLSX(t.buf) }

// unescapeXLSX undoes, in place, the escapes of characters that XML cannot hold: _x000D_ for a carriage return.
func unescapeXLSX(b []byte) []byte {
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

// escapedRune reads an escape; n is 0 where there is none. Two halves of a surrogate pair are one.
func escapedRune(b []byte) (r rune, n int) {
	unit := func(b []byte) (rune, bool) {
		if len(b) < 7 || b[0] != '_' || b[1] != 'x' || b[6] != '_' {
			return 0, false
		}
		return hex4(b[2:])
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
