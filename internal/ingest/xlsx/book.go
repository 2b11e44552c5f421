package xlsx

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
)

const (
	maxPart      = 64 << 20 // bytes of a part other than sheets and shared strings
	maxSheet     = 16 << 30 // bytes of a sheet, and of the shared strings
	maxDirectory = 32 << 20 // bytes of the zip directory
	// A part that is larger than suspectPart and has more than suspectRatio times its compressed size is a zip bomb.
	suspectPart, suspectRatio = 256 << 20, 200
)

// book is an open workbook: the list of its sheets and what their cells refer to.
type book struct {
	ctx      context.Context // of Open
	src      *limitedReaderAt
	budget   *rows.Budget
	parts    map[string]*zip.File // by name in lower case, because names are compared that way
	sheets   []sheet
	date1904 bool
	styles   []style
	strings  *sharedStrings
}

// sheet is a sheet with cells.
type sheet struct {
	name, part string
	hidden     bool
}

// openBook reads everything but the sheets.
func openBook(ctx context.Context, f rows.File, b *rows.Budget) (*book, error) {
	src, size, err := f.Random()
	if err != nil {
		return nil, err
	}
	limited, head := &limitedReaderAt{src: src, left: maxDirectory}, make([]byte, 2)
	n, _ := limited.ReadAt(head, 0)
	z, err := zip.NewReader(limited, size)
	switch {
	case limited.left < 0:
		return nil, herb.Invalidf("the workbook has too many parts; save it again as .xlsx")
	case limited.failed != nil:
		return nil, limited.failed
	case size == 0:
		return nil, herb.Invalidf("the file is empty")
	case errors.Is(err, zip.ErrFormat) && !bytes.HasPrefix(head[:n], []byte("PK")):
		return nil, herb.Invalidf("the file is not a workbook; save it as .xlsx or CSV")
	case err != nil:
		return nil, rows.Damaged(err, "the workbook")
	}
	limited.left = math.MaxInt64 // parts have limits of their own
	k := &book{ctx: ctx, src: limited, budget: b, parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		k.parts[partKey(f.Name)] = f
	}
	if err := k.read(); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// partKey returns the key of a part. Some writers use backslashes.
func partKey(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// Close releases the shared strings.
func (k *book) Close() error { return k.strings.Close() }

// read reads the parts that describe the sheets.
func (k *book) read() error {
	root, err := k.relations("")
	if err != nil {
		return err
	}
	main := "xl/workbook.xml"
	for _, r := range root {
		if r.kind == "officeDocument" {
			main = r.part
		}
	}
	switch {
	case strings.HasSuffix(main, ".bin"):
		return herb.Invalidf("the file is a binary workbook (.xlsb); save it as .xlsx or CSV")
	case k.parts[partKey(main)] == nil:
		return herb.Invalidf("the file is not a workbook: it has no part %s; save it as .xlsx or CSV", rows.Clip(main))
	}
	relations, err := k.relations(main)
	if err != nil {
		return err
	}
	if err := k.readSheets(main, relations); err != nil {
		return err
	}
	for _, r := range relations {
		switch r.kind {
		case "styles":
			err = k.readStyles(r.part)
		case "sharedStrings":
			err = k.readStrings(r.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limitedReaderAt reads a limited number of bytes and remembers why reading failed.
type limitedReaderAt struct {
	src    io.ReaderAt
	left   int64
	failed error
}

// ReadAt implements io.ReaderAt.
func (l *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 || off < 0 { // the directory of a damaged file has any offset
		return 0, io.ErrUnexpectedEOF
	}
	n, err := l.src.ReadAt(p, off)
	if err != nil && err != io.EOF {
		l.failed = err
	}
	return n, err
}

// relation is a reference from one part to another.
type relation struct{ id, kind, part string }

// relations reads the references of a part; an empty name means those of the workbook file.
func (k *book) relations(of string) ([]relation, error) {
	dir, base := path.Split(of)
	x, err := k.open(dir+"_rels/"+base+".rels", maxPart)
	if x == nil || err != nil {
		return nil, err
	}
	defer x.Close()
	var found []relation
	err = x.each(func(string) error {
		if x.depth != 2 || string(x.name) != "Relationship" || x.value("TargetMode") == "External" {
			return nil
		}
		target := strings.ReplaceAll(x.value("Target"), `\`, "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		kind := x.value("Type")
		found = append(found, relation{x.value("Id"), kind[strings.LastIndexByte(kind, '/')+1:], strings.TrimPrefix(path.Clean(target), "/")})
		return nil
	})
	return found, err
}

// readSheets reads the list of sheets.
func (k *book) readSheets(part string, relations []relation) error {
	x, err := k.open(part, maxPart)
	if err != nil {
		return err
	}
	defer x.Close()
	worksheets := map[string]string{} // parts by relation
	for _, r := range relations {
		if r.kind == "worksheet" {
			worksheets[r.id] = r.part
		}
	}
	return x.each(func(section string) error {
		switch name := string(x.name); {
		case x.depth == 2 && name == "workbookPr":
			k.date1904 = isTrue(x.value("date1904"))
		case x.depth == 3 && section == "sheets" && name == "sheet":
			if part, ok := worksheets[string(x.attrIn("/relationships", "id"))]; ok {
				state := x.value("state")
				k.sheets = append(k.sheets, sheet{x.value("name"), part, state == "hidden" || state == "veryHidden"})
			}
		}
		return nil
	})
}

// readStyles reads the number formats of cells.
func (k *book) readStyles(part string) error {
	x, err := k.open(part, maxPart)
	if x == nil || err != nil {
		return err
	}
	defer x.Close()
	formats := map[int]style{}
	// Named styles (cellStyleXfs) and conditional formats (dxfs) have elements of the same names.
	return x.each(func(section string) error {
		switch name := string(x.name); {
		case x.depth != 3:
		case section == "numFmts" && name == "numFmt":
			if id, err := strconv.Atoi(x.value("numFmtId")); err == nil {
				formats[id] = parseStyle(x.value("formatCode"))
			}
		case section == "cellXfs" && name == "xf":
			id, _ := strconv.Atoi(x.value("numFmtId"))
			s, ok := formats[id]
			if !ok {
				s = builtinStyle(id)
			}
			k.styles = append(k.styles, s)
		}
		return nil
	})
}

// isTrue parses a boolean attribute.
func isTrue(s string) bool { return s == "1" || s == "true" || s == "on" }

// part is a part of a workbook that is read as XML.
type part struct {
	*scanner
	book *book
	path string // in the zip file
	file io.ReadCloser
	left int64 // bytes that the part may still have
}

// open opens a part; it returns nil if it is missing. limit is its maximum size.
func (k *book) open(name string, limit int64) (*part, error) {
	f := k.parts[partKey(name)]
	if f == nil {
		return nil, nil
	}
	switch size, packed := f.UncompressedSize64, max(f.CompressedSize64, 1); {
	case f.Flags&1 != 0:
		return nil, herb.Invalidf("the workbook is protected by a password; save it without one")
	case size > uint64(limit):
		return nil, herb.Invalidf("the part %s of the workbook has %d bytes; at most %d are possible; save the data as CSV", rows.Clip(name), size, limit)
	case size > suspectPart && size/packed > suspectRatio:
		return nil, herb.Invalidf("the part %s of the workbook expands %d-fold to %d bytes, as a zip bomb does; save the data as CSV",
			rows.Clip(name), size/packed, size)
	}
	x := &part{book: k, path: name, left: limit}
	var err error
	if x.file, err = f.Open(); err != nil {
		return nil, x.locate(err)
	}
	if x.scanner, err = newScanner(x, 4*k.budget.MaxRecord()); err != nil {
		return nil, errors.Join(x.locate(err), x.Close())
	}
	return x, nil
}

// Read implements io.Reader for the scanner.
func (x *part) Read(p []byte) (int, error) {
	n, err := x.file.Read(p)
	if x.left -= int64(n); x.left < 0 {
		return 0, herb.Invalidf("it is larger than declared, as a zip bomb is; save the data as CSV")
	}
	return n, err
}

// token reads the next token. The error is io.EOF at the end of the part, which must be complete.
func (x *part) token() error {
	err := x.next()
	if err == nil {
		err = x.book.budget.Step()
	}
	if err == nil || err == io.EOF {
		return err
	}
	return x.locate(err)
}

// locate adds the part to an error. Errors of the disk and of the context are not the fault of the file.
func (x *part) locate(err error) error {
	if ended := context.Cause(x.book.ctx); ended != nil {
		return ended
	}
	if x.book.src.failed != nil {
		return x.book.src.failed
	}
	return rows.Damaged(err, "the part "+rows.Clip(x.path)+" of the workbook")
}

// value returns an attribute; empty if it is missing.
func (x *part) value(name string) string { return string(x.attr(name)) }

// each calls visit at the start of every element. section is the name of the element at depth 2 that contains it.
func (x *part) each(visit func(section string) error) error {
	section := ""
	for {
		err := x.token()
		if err == io.EOF {
			return nil
		}
		if err == nil && x.kind == tokenStart {
			if x.depth == 2 {
				section = string(x.name)
			}
			err = visit(section)
		}
		if err != nil {
			return err
		}
	}
}

// Close implements io.Closer.
func (x *part) Close() error { return x.file.Close() }
