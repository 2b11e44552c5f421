package xlsx

import (
	"bytes"
	"cmp"
	"io"

	"herbarium/internal/ingest/rows"
)

// maxTag is the number of bytes of a tag up to which blankFilter examines a sheet.
const maxTag = 4 << 10

// blankFilter removes cells and rows without content from a sheet before it is parsed: programs
// write a million of them if a user formats whole columns. Of each run the last one remains,
// because cells and rows without a number of their own follow it. It examines tags as spreadsheet
// programs write them; from the first other construct on, the sheet passes unchanged.
type blankFilter struct {
	in  io.Reader
	raw []byte // read and not yet examined
	out []byte // examined and not yet returned
	err error  // of in

	inData  bool   // within sheetData
	isPlain bool   // everything passes
	cell    []byte // the last blank cell of a run
	opened  []byte // the start tag of a cell whose content follows
	row     []byte // the last blank row of a run
	start   []byte // the start tag of a row that has had no content
}

func (f *blankFilter) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			f.pass()
			if len(f.out) > 0 {
				break
			}
			return 0, f.err
		}
		size := len(f.raw)
		f.raw = append(f.raw, make([]byte, 32<<10)...)
		var n int
		n, f.err = f.in.Read(f.raw[size:])
		f.raw = f.raw[:size+n]
		f.examine()
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// pass lets everything pass from here on.
func (f *blankFilter) pass() {
	f.isPlain = true
	f.flush()
	f.out = append(f.out, f.raw...)
	f.raw = f.raw[:0]
}

// flush returns what is held back.
func (f *blankFilter) flush() {
	for _, held := range []*[]byte{&f.row, &f.start, &f.cell, &f.opened} {
		f.out = append(f.out, *held...)
		*held = (*held)[:0]
	}
}

// examine examines the complete tags.
func (f *blankFilter) examine() {
	f.out = f.out[:0]
	rest := f.raw
	for !f.isPlain {
		open := bytes.IndexByte(rest, '<')
		if open < 0 {
			open = len(rest)
		}
		if text := rest[:open]; len(bytes.TrimSpace(text)) > 0 || !f.inData {
			f.flush()
			f.out = append(f.out, text...)
		}
		rest = rest[open:]
		end := tagEnd(rest)
		if end == 0 {
			f.isPlain = len(rest) > maxTag || bytes.HasPrefix(rest, []byte("<!"))
			break
		}
		f.tag(rest[:end])
		rest = rest[end:]
	}
	f.raw = f.raw[:copy(f.raw, rest)]
	if f.isPlain {
		f.pass()
	}
}

// tagEnd returns the size of the tag at the start of b, 0 if it is incomplete, or is none that
// spreadsheet programs write.
func tagEnd(b []byte) int {
	var quote byte
	for i, c := range b[:min(len(b), maxTag)] {
		switch {
		case i == 1 && c == '!':
			return 0
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return 0
}

// tag holds the tag of a blank cell or row back, or lets it pass.
func (f *blankFilter) tag(tag []byte) {
	name := tag[1:bytes.IndexAny(tag, " \t\r\n>")]
	isEmpty, isNumbered := bytes.HasSuffix(tag, []byte("/>")), bytes.Contains(tag, []byte(` r="`))
	hold := func(held *[]byte, parts ...[]byte) { *held = append((*held)[:0], bytes.Join(parts, nil)...) }
	switch {
	case f.inData && isNumbered && isEmpty && string(name) == "c" && len(f.opened) == 0:
		hold(&f.cell, tag)
	case f.inData && isNumbered && !isEmpty && string(name) == "c" && len(f.opened) == 0:
		hold(&f.opened, tag)
	case string(name) == "/c" && len(f.opened) > 0:
		hold(&f.cell, f.opened, tag)
		f.opened = f.opened[:0]
	case f.inData && isNumbered && isEmpty && string(name) == "row" && len(f.start) == 0:
		hold(&f.row, tag)
	case f.inData && isNumbered && !isEmpty && string(name) == "row" && len(f.start) == 0:
		f.row = f.row[:0] // this row has a number of its own
		hold(&f.start, tag)
	case string(name) == "/row" && len(f.start) > 0:
		hold(&f.row, f.start, tag)
		f.start, f.cell = f.start[:0], f.cell[:0]
	default:
		if string(name) == "/row" {
			f.cell = f.cell[:0] // nothing follows it in the row
		}
		f.flush()
		f.out = append(f.out, tag...)
		f.inData = f.inData && string(name) != "/sheetData" || string(name) == "sheetData"
	}
}

// chargedReader charges for what it reads.
type chargedReader struct {
	in     io.Reader
	budget *rows.Budget
}

func (r chargedReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	return n, cmp.Or(r.budget.Unpack(int64(n)), err)
}
