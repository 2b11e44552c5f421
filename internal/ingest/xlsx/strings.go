package xlsx

import (
	"bytes"
	"os"
	"regexp"
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
	memory []byte // what is not in the file
	file   *os.File
	ends   []int64 // of each string, after a zero
	buf    []byte  // string read from file
}

// readStrings reads the shared strings.
func (k *book) readStrings(name string) error {
	if err := k.strings.Close(); err != nil { // of a second table
		return err
	}
	t := &sharedStrings{ends: []int64{0}}
	k.strings = t
	var item content
	err := k.visit(name, maxSheet, func(x *part, _ string) error {
		if x.depth != 2 || x.name != "si" {
			return nil
		}
		if err := item.read(x); err != nil {
			return err
		}
		if len(t.ends) > maxStrings {
			return herb.Invalidf("the workbook has more than %d texts; save the data as CSV", maxStrings)
		}
		t.ends = append(t.ends, t.ends[len(t.ends)-1]+int64(len(item.text)))
		if t.memory = append(t.memory, item.text...); len(t.memory) < maxMemory {
			return nil
		}
		return t.flush(k.budget)
	})
	if err != nil || t.file == nil {
		return err
	}
	return t.flush(k.budget)
}

// flush moves strings to the temporary file.
func (t *sharedStrings) flush(b *rows.Budget) (err error) {
	if t.file == nil {
		if t.file, err = b.TempFile(); err != nil {
			return err
		}
	}
	_, err = t.file.Write(t.memory)
	t.memory = nil
	return err
}

// get returns a string by its number. One from the temporary file is valid until the next call.
func (t *sharedStrings) get(number []byte) ([]byte, error) {
	i, err := strconv.Atoi(string(number))
	if err != nil || t == nil || i < 0 || i+1 >= len(t.ends) {
		return nil, herb.Invalidf("a cell refers to a shared string that is missing; save the workbook again")
	}
	start, end := t.ends[i], t.ends[i+1]
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

// content is the content of a cell or a shared string.
type content struct {
	value   []byte // of a cell
	text    []byte // concatenated runs, without phonetic hints
	formula bool
}

// read reads up to the end of the current element.
func (c *content) read(x *part) error {
	*c = content{value: c.value[:0], text: c.text[:0]}
	var into *[]byte // gets the characters that follow; nil: none
	phonetic := false
	for depth := x.depth; x.depth >= depth; {
		if err := x.next(); err != nil {
			return err
		}
		isStart := x.kind == tokenStart
		switch {
		case x.kind == tokenText && into == nil:
		case x.kind == tokenText:
			*into = append(*into, x.text...)
			if err := x.book.budget.Record(len(*into)); err != nil {
				return x.locate(err)
			}
		case isStart && x.name == "v":
			into = &c.value
		case isStart && x.name == "t" && !phonetic:
			into = &c.text
		default:
			into = nil
			if x.name == "rPh" {
				phonetic = isStart
			}
			c.formula = c.formula || x.name == "f"
		}
	}
	c.value, c.text = unescapeControls(c.value), unescapeControls(c.text)
	return nil
}

// controlEscape matches the escape of a UTF-16 code unit, or those of a surrogate pair.
var controlEscape = regexp.MustCompile(`_x[dD][89abAB][0-9a-fA-F]{2}__x[dD][c-fC-F][0-9a-fA-F]{2}_|_x[0-9a-fA-F]{4}_`)

// unescapeControls replaces the escapes of characters that XML cannot hold, such as _x000D_.
func unescapeControls(b []byte) []byte {
	if !bytes.Contains(b, []byte("_x")) {
		return b
	}
	return controlEscape.ReplaceAllFunc(b, func(escape []byte) []byte {
		unit := func(at int) rune {
			v, _ := strconv.ParseUint(string(escape[at+2:at+6]), 16, 16)
			return rune(v)
		}
		r := unit(0)
		if len(escape) > len("_x000D_") {
			r = utf16.DecodeRune(r, unit(7))
		}
		if utf16.IsSurrogate(r) { // alone
			return escape
		}
		return utf8.AppendRune(nil, r)
	})
}
