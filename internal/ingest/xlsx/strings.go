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
	ends   []int64 // of each string, after a zero
	memory []byte  // what is not in the file
	file   *os.File
}

// readStrings reads the shared strings.
func (k *book) readStrings(name string) {
	t := &k.strings
	t.ends = []int64{0}
	var text []byte
	k.visit(name, maxSheet, func(x *part) {
		switch string(x.path) {
		case "/sst/si/t/text()", "/sst/si/r/t/text()": // phonetic hints are in rPh
			text = append(text, x.text...)
			if err := k.in.Budget.Record(len(text)); err != nil {
				x.err = x.locate(err)
			}
		case "/sst/si/end()":
			value := unescapeControls(text)
			t.ends = append(t.ends, t.ends[len(t.ends)-1]+int64(len(value)))
			t.memory, text = append(t.memory, value...), text[:0]
			if len(t.ends) > maxStrings+1 {
				x.err = herb.Invalidf("the workbook has more than %d texts; save the data as CSV", maxStrings)
			} else if len(t.memory) >= maxMemory {
				x.err = t.spill(k.in.Budget)
			}
		}
	})
	if k.err == nil && t.file != nil {
		k.err = t.spill(k.in.Budget)
	}
}

// spill moves strings to the temporary file.
func (t *sharedStrings) spill(b *rows.Budget) (err error) {
	if t.file == nil {
		if t.file, err = b.TempFile(); err != nil {
			return err
		}
	}
	_, err = t.file.Write(t.memory)
	t.memory = nil
	return err
}

// appendString appends a string by its number.
func (t *sharedStrings) appendString(b, number []byte) ([]byte, error) {
	i, err := strconv.Atoi(string(number))
	if err != nil || i < 0 || i+1 >= len(t.ends) {
		return nil, herb.Invalidf("a cell refers to a shared string that is missing; save the workbook again")
	}
	start, end := t.ends[i], t.ends[i+1]
	if t.file == nil {
		return append(b, t.memory[start:end]...), nil
	}
	n := len(b)
	b = slices.Grow(b, int(end-start))[:n+int(end-start)]
	_, err = t.file.ReadAt(b[n:], start)
	return b, err
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
