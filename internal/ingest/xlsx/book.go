package xlsx

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	maxPart  = 32 << 20      // bytes of a part that is held in memory: sheets, styles, references to parts
	maxSheet = math.MaxInt64 // others are read piece by piece

	maxFormats = 1 << 16 // number formats and cell formats; Excel allows some hundred and 64,000
)

// input is the file of a workbook, and the budget of the sheet that is read.
type input struct {
	*io.SectionReader
	*rows.Budget
}

// book is an open workbook: the list of its sheets and what their cells refer to. It is opened once
// for all its sheets, which are read one after the other.
type book struct {
	in         input
	parts      map[string]*zip.File // by name in lower case, because names are compared that way
	sheets     []rows.Table         // those with cells
	sheetParts []string             // their names
	date1904   bool
	styles     []style
	strings    sharedStrings
	err        error // why a part could not be read, since the book or the last sheet was opened
}

// openBook returns the workbook of a file, with the budget of the sheet that is read next.
func openBook(f rows.File, b *rows.Budget) (*book, error) {
	opened, err := f.Document(func() (io.Closer, error) { return readBook(f, b) })
	if err != nil {
		return nil, err
	}
	k := opened.(*book)
	k.in.Budget, k.err = b, nil
	return k, nil
}

// readBook reads everything but the sheets.
func readBook(f rows.File, b *rows.Budget) (*book, error) {
	content, err := f.Random()
	if err != nil {
		return nil, err
	}
	in := input{content, b}
	head := make([]byte, 2)
	n, _ := in.ReadAt(head, 0)
	z, err := rows.OpenZip(in, in.Size())
	switch {
	case in.Size() == 0:
		return nil, herb.Invalidf("the file is empty")
	case errors.Is(err, zip.ErrFormat) && n > 0 && !bytes.HasPrefix(head[:n], []byte("PK")):
		return nil, herb.Invalidf("the file is not a workbook; save it as .xlsx or CSV")
	case err != nil:
		return nil, in.Locate(err, "the workbook")
	}
	k := &book{in: in, parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		k.parts[partKey(f.Name)] = f
	}
	k.read()
	if k.err != nil {
		return nil, errors.Join(k.err, k.Close())
	}
	return k, nil
}

// partKey returns the key of a part. Some writers use backslashes.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

func (k *book) Close() error {
	if k.strings.file == nil {
		return nil
	}
	return k.strings.file.Close()
}

// read reads the parts that describe the sheets.
func (k *book) read() {
	root, _ := k.relations("")
	main := cmp.Or(root["officeDocument"], "xl/workbook.xml")
	parts, worksheets := k.relations(main)
	switch {
	case k.err != nil:
	case strings.HasSuffix(main, ".bin"):
		k.err = herb.Invalidf("the file is a binary workbook (.xlsb); save it as .xlsx or CSV")
	case k.parts[partKey(main)] == nil:
		k.err = herb.Invalidf("the file is not a workbook: it has no part %s; save it as .xlsx or CSV", rows.Clip(main))
	}
	k.readSheets(main, worksheets)
	k.readStyles(parts["styles"])
	k.readStrings(parts["sharedStrings"])
}

// relations reads the references of a part to others, by type, and those to worksheets by ID. An
// empty name means the references of the workbook file.
func (k *book) relations(of string) (parts, worksheets map[string]string) {
	parts, worksheets = map[string]string{}, map[string]string{}
	dir, base := path.Split(of)
	k.visit(dir+"_rels/"+base+".rels", maxPart, func(x *part) {
		if string(x.path) != "/Relationships/Relationship" || x.attr("TargetMode") == "External" {
			return
		}
		target := strings.ReplaceAll(x.attr("Target"), `\`, "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		kind := path.Base(x.attr("Type"))
		parts[kind] = strings.TrimPrefix(path.Clean(target), "/")
		if kind == "worksheet" {
			worksheets[x.attr("Id")] = parts[kind]
		}
	})
	return parts, worksheets
}

func (k *book) readSheets(main string, worksheets map[string]string) {
	k.visit(main, maxPart, func(x *part) {
		switch string(x.path) {
		case "/workbook/workbookPr":
			k.date1904 = slices.Contains([]string{"1", "true", "on"}, x.attr("date1904"))
		case "/workbook/sheets/sheet":
			name := worksheets[x.attr("id")]
			if name == "" {
				return // a chart
			}
			sheet := rows.Table{Name: x.attr("name")}
			if state := x.attr("state"); state == "hidden" || state == "veryHidden" {
				sheet.Skipped = "hidden"
			}
			k.sheets, k.sheetParts = append(k.sheets, sheet), append(k.sheetParts, name)
		}
	})
}

func (k *book) readStyles(name string) {
	formats, parsed := builtinStyles(), 0 // number formats of the workbook
	k.visit(name, maxPart, func(x *part) {
		id, err := strconv.Atoi(x.attr("numFmtId"))
		switch string(x.path) {
		case "/styleSheet/numFmts/numFmt":
			parsed++
			if err == nil {
				formats[id] = parseStyle(x.attr("formatCode"))
			}
		case "/styleSheet/cellXfs/xf":
			k.styles = append(k.styles, formats[id])
		}
		if max(parsed, len(k.styles)) > maxFormats {
			x.err = x.locate(herb.Invalidf("the workbook has more than %d number formats or cell formats; save the "+
				"data as CSV", maxFormats))
		}
	})
}

const (
	maxMemory  = 24 << 20 // bytes of shared strings in memory
	maxStrings = 1 << 23
)

// sharedStrings is the table of strings that cells refer to by number. A large table is in a
// temporary file.
type sharedStrings struct {
	ends   []int64 // of each string, after a zero
	memory []byte  // what is not in the file
	file   *os.File
}

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

func (t *sharedStrings) spill(b *rows.Budget) (err error) {
	if t.file == nil {
		t.file, err = b.TempFile()
		if err != nil {
			return err
		}
	}
	_, err = t.file.Write(t.memory)
	t.memory = nil
	return err
}

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

// unescapeControls replaces the escapes of characters that XML cannot hold, such as _x000D_. A pair
// of escapes may be one character. A regular expression would take ten times as long.
func unescapeControls(b []byte) []byte {
	i := bytes.Index(b, []byte("_x"))
	if i < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for ; i >= 0; i = bytes.Index(b, []byte("_x")) {
		out, b = append(out, b[:i]...), b[i:]
		c, n := decodeEscape(b)
		if second, m := decodeEscape(b[n:]); n > 0 && utf16.DecodeRune(c, second) != utf8.RuneError {
			c, n = utf16.DecodeRune(c, second), n+m
		}
		if n > 0 && !utf16.IsSurrogate(c) {
			out, b = utf8.AppendRune(out, c), b[n:]
		} else {
			out, b = append(out, '_'), b[1:]
		}
	}
	return append(out, b...)
}

// decodeEscape returns the UTF-16 code unit of the escape at the start of b and the length of the
// escape, 0 if there is none.
func decodeEscape(b []byte) (unit rune, length int) {
	const size = len("_x000D_")
	if len(b) < size || b[0] != '_' || b[1] != 'x' || b[size-1] != '_' {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:size-1]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(v), size
}
