package xlsx

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path"
	"slices"
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
	in       *rows.Input
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
	in, err := rows.OpenInput(ctx, f)
	if err != nil {
		return nil, err
	}
	limited, head := &limitedReaderAt{in, maxDirectory}, make([]byte, 2)
	n, _ := limited.ReadAt(head, 0)
	z, err := zip.NewReader(limited, in.Size())
	switch {
	case limited.left < 0:
		return nil, herb.Invalidf("the workbook has too many parts; save it again as .xlsx")
	case in.Size() == 0:
		return nil, herb.Invalidf("the file is empty")
	case errors.Is(err, zip.ErrFormat) && n > 0 && !bytes.HasPrefix(head[:n], []byte("PK")):
		return nil, herb.Invalidf("the file is not a workbook; save it as .xlsx or CSV")
	case err != nil:
		return nil, in.Locate(err, "the workbook")
	}
	limited.left = math.MaxInt64 // parts have limits of their own
	k := &book{in: in, budget: b, parts: make(map[string]*zip.File, len(z.File))}
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

// limitedReaderAt reads a limited number of bytes.
type limitedReaderAt struct {
	*rows.Input
	left int64
}

// ReadAt implements io.ReaderAt.
func (l *limitedReaderAt) ReadAt(p []byte, off int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return l.Input.ReadAt(p, off)
}

// relation is a reference from one part to another.
type relation struct{ id, kind, part string }

// relations reads the references of a part; an empty name means those of the workbook file.
func (k *book) relations(of string) (found []relation, err error) {
	dir, base := path.Split(of)
	err = k.visit(dir+"_rels/"+base+".rels", maxPart, func(x *part, _ string) error {
		if x.depth != 2 || x.name != "Relationship" || x.attr("TargetMode") == "External" {
			return nil
		}
		target := strings.ReplaceAll(x.attr("Target"), `\`, "/")
		if !strings.HasPrefix(target, "/") {
			target = path.Join("/", dir, target)
		}
		found = append(found, relation{x.attr("Id"), path.Base(x.attr("Type")), strings.TrimPrefix(path.Clean(target), "/")})
		return nil
	})
	return found, err
}

// readSheets reads the list of sheets.
func (k *book) readSheets(main string, relations []relation) error {
	worksheets := map[string]string{} // parts by relation
	for _, r := range relations {
		if r.kind == "worksheet" {
			worksheets[r.id] = r.part
		}
	}
	return k.visit(main, maxPart, func(x *part, section string) error {
		switch {
		case x.depth == 2 && x.name == "workbookPr":
			k.date1904 = slices.Contains([]string{"1", "true", "on"}, x.attr("date1904"))
		case x.depth == 3 && section == "sheets" && x.name == "sheet":
			// The two editions of the standard have namespaces that differ in their beginning.
			i := slices.IndexFunc(x.attrs, func(a xml.Attr) bool {
				return a.Name.Local == "id" && strings.HasSuffix(a.Name.Space, "/relationships")
			})
			if i < 0 || worksheets[x.attrs[i].Value] == "" {
				return nil
			}
			state := x.attr("state")
			k.sheets = append(k.sheets, sheet{x.attr("name"), worksheets[x.attrs[i].Value], state == "hidden" || state == "veryHidden"})
		}
		return nil
	})
}

// readStyles reads the number formats of cells.
func (k *book) readStyles(name string) error {
	formats := map[int]style{}
	// Named styles (cellStyleXfs) and conditional formats (dxfs) have elements of the same names.
	return k.visit(name, maxPart, func(x *part, section string) error {
		id, err := strconv.Atoi(x.attr("numFmtId"))
		switch {
		case x.depth != 3:
		case section == "numFmts" && x.name == "numFmt" && err == nil:
			formats[id] = parseStyle(x.attr("formatCode"))
		case section == "cellXfs" && x.name == "xf":
			s, ok := formats[id]
			if !ok {
				s = builtinStyle(id)
			}
			k.styles = append(k.styles, s)
		}
		return nil
	})
}
