package xlsx

import (
	"bufio"
	"io"
	"os"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	maxMemory  = 24 << 20 // bytes of shared strings in memory
	maxStrings = 1 << 24
)

// sharedStrings is the table of strings that cells refer to by number. A large table is in a temporary file.
type sharedStrings struct {
	memory []byte
	budget *rows.Budget
	file   *os.File
	out    *bufio.Writer // to file
	ends   []int64       // of each string
	buf    []byte        // string read from file
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
	t := &sharedStrings{budget: k.budget}
	k.strings = t
	var item richText
	inside := false
	for {
		err := x.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case x.kind == tokenText || x.name != "si":
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
	if len(t.ends) == maxStrings {
		return herb.Invalidf("the workbook has more than %d texts; save the data as CSV", maxStrings)
	}
	end := t.start(len(t.ends)) + int64(len(text))
	t.ends = append(t.ends, end)
	if t.file == nil && end > maxMemory {
		f, err := t.budget.TempFile()
		if err != nil {
			return err
		}
		t.file, t.out = f, bufio.NewWriterSize(f, 256<<10)
		t.out.Write(t.memory)
		t.memory = nil
	}
	if t.file == nil {
		t.memory = append(t.memory, text...)
		return nil
	}
	_, err := t.out.Write(text)
	return err
}

// start returns the offset of a string.
func (t *sharedStrings) start(i int) int64 {
	if i == 0 {
		return 0
	}
	return t.ends[i-1]
}

// get returns a string by its number. One from the temporary file is valid until the next call.
func (t *sharedStrings) get(number []byte) ([]byte, error) {
	i, err := strconv.Atoi(string(number))
	if err != nil || t == nil || i < 0 || i >= len(t.ends) {
		return nil, herb.Invalidf("a cell refers to a shared string that is missing; save the workbook again")
	}
	start, end := t.start(i), t.ends[i]
	if t.file == nil {
		return t.memory[start:end:end], nil
	}
	t.buf = slices.Grow(t.buf[:0], int(end-start))[:end-start]
	_, err = t.file.ReadAt(t.buf, start)
	return t.buf, err
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
	case x.name == "t":
		t.run = x.kind == tokenStart
	case x.name == "rPh":
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
