package ingest

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"

	"herbarium/internal/herb"
)

// The limits of a workbook.
const (
	maxBookPart  = 64 << 20 // bytes of a part that is read whole, and of one row or text of the others
	maxSheetPart = 16 << 30 // bytes of a sheet, and of the texts of all sheets
	maxDirectory = 32 << 20 // bytes of the list of parts
	// A part that is larger than this and grows more than so many times when it is unpacked is a zip bomb.
	suspectPart, suspectGrowth = 256 << 20, 200
)

// xlsxBook is an open workbook: the list of its sheets, and what their cells refer to.
type xlsxBook struct {
	parts    map[string]*zip.File // by name in lower case, as names of parts are compared
	sheets   []xlsxSheet
	date1904 bool
	styles   []xlsxStyle
	texts    *xlsxTexts
}

// xlsxSheet is a sheet with cells.
type xlsxSheet struct {
	name, part string
	hidden     bool
}

// openBook reads everything but the sheets.
func openBook(src io.ReaderAt, size int64) (*xlsxBook, error) {
	if err := checkBook(src, size); err != nil {
		return nil, err
	}
	limited := &limitedAt{src: src, left: maxDirectory}
	z, err := zip.NewReader(limited, size)
	if limited.left < 0 {
		return nil, herb.Invalidf("the workbook has too many parts; save it again as .xlsx")
	}
	if err != nil {
		return nil, damaged(err, "the workbook")
	}
	limited.left = 1<<63 - 1 // the parts have limits of their own
	b := &xlsxBook{parts: make(map[string]*zip.File, len(z.File))}
	for _, f := range z.File {
		b.parts[strings.ToLower(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return b, b.read()
}

// read reads the parts that describe the sheets.
func (b *xlsxBook) read() error {
	root, err := b.relations("")
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
	case b.parts["content.xml"] != nil && b.parts["mimetype"] != nil:
		return herb.Invalidf("the file is an OpenDocument spreadsheet; save it as .xlsx or CSV")
	case strings.HasSuffix(main, ".bin"):
		return herb.Invalidf("the file is a binary workbook (.xlsb); save it as .xlsx or CSV")
	case b.parts[strings.ToLower(main)] == nil:
		return herb.Invalidf("the file is no workbook: it has no part %s; save it as .xlsx or CSV", main)
	}
	relations, err := b.relations(main)
	if err != nil {
		return err
	}
	if err := b.readSheets(main, relations); err != nil {
		return err
	}
	for _, r := range relations {
		switch r.kind {
		case "styles":
			err = b.readStyles(r.part)
		case "sharedStrings":
			err = b.readTexts(r.part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBook tells by its first bytes what a file is that is no workbook.
func checkBook(src io.ReaderAt, size int64) error {
	head := make([]byte, 8)
	if n, err := src.ReadAt(head, 0); err != nil && err != io.EOF {
		return err
	} else if n == 0 {
		return herb.Invalidf("the file is empty")
	}
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		return nil
	case string(head) != "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1":
		return herb.Invalidf("the file is no workbook; save it as .xlsx or CSV")
	}
	// An encrypted workbook is wrapped in the container of the older format, in which names are in UTF-16.
	var name []byte
	for _, c := range []byte("EncryptedPackage") {
		name = append(name, c, 0)
	}
	found, err := contains(io.NewSectionReader(src, 0, size), name)
	switch {
	case err != nil:
		return err
	case found:
		return herb.Invalidf("the workbook is protected by a password; save it without one")
	default:
		return errOldBook()
	}
}

func errOldBook() error {
	return herb.Invalidf("the file is a workbook in the format of Excel 97 (.xls); save it as .xlsx or CSV")
}

// contains reports whether bytes occur in what is read.
func contains(r io.Reader, what []byte) (bool, error) {
	buf, kept := make([]byte, windowBytes), 0
	for {
		n, err := r.Read(buf[kept:])
		if bytes.Contains(buf[:kept+n], what) {
			return true, nil
		}
		if err != nil {
			return false, ignoreEOF(err)
		}
		kept = copy(buf, buf[max(kept+n-len(what), 0):kept+n])
	}
}

// limitedAt reads no more than some bytes in all.
type limitedAt struct {
	src  io.ReaderAt
	left int64
}

func (l *limitedAt) ReadAt(p []byte, off int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return l.src.ReadAt(p, off)
}

// xlsxRelation says which part another refers to, and as what.
type xlsxRelation struct{ id, kind, part string }

// relations reads what a part refers to; the empty one is the workbook as a whole.
func (b *xlsxBook) relations(of string) ([]xlsxRelation, error) {
	dir, base := path.Split(of)
	x, err := b.open(dir+"_rels/"+base+".rels", maxBookPart)
	if x == nil || err != nil {
		return nil, err
	}
	defer x.Close()
	var found []xlsxRelation
	err = x.each(func(string) error {
		if x.depth != 2 || string(x.name) != "Relationship" || x.value("TargetMode") == "External" {
			return nil
		}
		target := x.value("Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		kind := x.value("Type")
		found = append(found, xlsxRelation{x.value("Id"), kind[strings.LastIndexByte(kind, '/')+1:], strings.TrimPrefix(path.Clean(target), "/")})
		return nil
	})
	return found, err
}

// readSheets reads the list of sheets.
func (b *xlsxBook) readSheets(part string, relations []xlsxRelation) error {
	x, err := b.open(part, maxBookPart)
	if err != nil {
		return err
	}
	defer x.Close()
	return x.each(func(section string) error {
		switch name := string(x.name); {
		case x.depth == 2 && name == "workbookPr":
			b.date1904 = isTrue(x.value("date1904"))
		case x.depth == 3 && section == "sheets" && name == "sheet":
			id := string(x.attrIn("/relationships", "id"))
			for _, r := range relations {
				if r.id == id && r.kind == "worksheet" {
					state := x.value("state")
					b.sheets = append(b.sheets, xlsxSheet{x.value("name"), r.part, state == "hidden" || state == "veryHidden"})
				}
			}
		}
		return nil
	})
}

// readStyles reads how cells show numbers.
func (b *xlsxBook) readStyles(part string) error {
	x, err := b.open(part, maxBookPart)
	if x == nil || err != nil {
		return err
	}
	defer x.Close()
	formats := map[int]xlsxStyle{}
	// Named styles (cellStyleXfs) and conditional formats (dxfs) have elements of the same names.
	return x.each(func(section string) error {
		switch name := string(x.name); {
		case x.depth != 3:
		case section == "numFmts" && name == "numFmt":
			if id, err := strconv.Atoi(x.value("numFmtId")); err == nil {
				formats[id] = styleOf(x.value("formatCode"))
			}
		case section == "cellXfs" && name == "xf":
			id, _ := strconv.Atoi(x.value("numFmtId"))
			s, ok := formats[id]
			if !ok {
				s = builtinStyle(id)
			}
			b.styles = append(b.styles, s)
		}
		return nil
	})
}

// isTrue reads a boolean attribute.
func isTrue(s string) bool { return s == "1" || s == "true" || s == "on" }

// xlsxPart is a part of a workbook that is read as XML.
type xlsxPart struct {
	*xmlScanner
	part   string
	file   io.ReadCloser
	budget int64 // bytes that may be read before it is renewed
	left   int64 // bytes that the part may still have
}

// open opens a part; there may be none, which is no error. limit is how large it may be.
func (b *xlsxBook) open(name string, limit int64) (*xlsxPart, error) {
	f := b.parts[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	switch size, packed := f.UncompressedSize64, max(f.CompressedSize64, 1); {
	case f.Flags&1 != 0:
		return nil, herb.Invalidf("the workbook is protected by a password; save it without one")
	case size > uint64(limit):
		return nil, herb.Invalidf("the part %s of the workbook has %d bytes, and can have %d; save the data as CSV", clip(name), size, limit)
	case size > suspectPart && size/packed > suspectGrowth:
		return nil, herb.Invalidf("the part %s of the workbook grows %d-fold to %d bytes when it is unpacked, as a zip bomb does; "+
			"save the data as CSV", clip(name), size/packed, size)
	}
	r, err := f.Open()
	if err != nil {
		return nil, damaged(err, "the part "+clip(name)+" of the workbook")
	}
	x := &xlsxPart{part: name, file: r, budget: maxBookPart, left: limit}
	if x.xmlScanner, err = newXMLScanner(x, maxBookPart); err != nil {
		return nil, errors.Join(x.damaged(err), r.Close())
	}
	return x, nil
}

// Read implements io.Reader for the scanner, under the limits.
func (x *xlsxPart) Read(p []byte) (int, error) {
	n, err := x.file.Read(p)
	if x.left -= int64(n); x.left < 0 {
		return 0, herb.Invalidf("it is larger than it says, as a zip bomb is; save the data as CSV")
	}
	if x.budget -= int64(n); x.budget < 0 {
		return 0, herb.Invalidf("there is a row or a text of more than %d bytes, which is the most that one may have", maxBookPart)
	}
	return n, err
}

// token reads the next token. At the end of the part, which must be complete, the error is io.EOF.
func (x *xlsxPart) token() error {
	err := x.next()
	if err == nil || err == io.EOF {
		return err
	}
	return x.damaged(err)
}

func (x *xlsxPart) damaged(err error) error {
	return damaged(err, "the part "+clip(x.part)+" of the workbook")
}

// value returns an attribute; empty if there is none.
func (x *xlsxPart) value(name string) string { return string(x.attr(name)) }

// each calls a function at the start of every element. section is the name of the element at depth 2 that it is in.
func (x *xlsxPart) each(do func(section string) error) error {
	section := ""
	for {
		err := x.token()
		if err == io.EOF {
			return nil
		}
		if err == nil && x.kind == xmlStart {
			if x.depth == 2 {
				section = string(x.name)
			}
			err = do(section)
		}
		if err != nil {
			return err
		}
	}
}

// Close implements io.Closer.
func (x *xlsxPart) Close() error { return x.file.Close() }
