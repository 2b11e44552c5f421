package export

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Limits of spreadsheet programs.
const (
	maxSheetRows    = 1 << 20 // with the header
	maxSheetColumns = 1 << 14
	maxSheetCell    = 32767 // UTF-16 code units
)

// The parts of a workbook besides its sheet.
const (
	xmlHeader   = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
	mainSchema  = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
	officeDoc   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	packageRels = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="`
	sheetPath   = "xl/worksheets/sheet1.xml"
	stylesPath  = "xl/styles.xml"
)

func workbookParts() [][2]string {
	return [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
			`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
			`<Override PartName="/` + sheetPath +
			`" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>` +
			`<Override PartName="/` + stylesPath +
			`" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>`},
		{"_rels/.rels", packageRels + officeDoc + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + mainSchema + `" xmlns:r="` + officeDoc +
			`"><sheets><sheet name="data" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", packageRels + officeDoc +
			`/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` +
			officeDoc + `/styles" Target="styles.xml"/></Relationships>`},
		{stylesPath, stylesPart()},
	}
}

// checkSheet returns an error with herb.CodeInvalid if a sheet cannot contain a stream. It reads
// the stream only if some record may have a value that is too long for a cell.
func checkSheet(fields []herb.Field, s query.Stream) error {
	const remedy = "; export CSV or NDJSON, or narrow the query down"
	if s.Total >= maxSheetRows {
		return herb.Invalidf("the result has %d records, but a sheet has at most %d"+remedy, s.Total, maxSheetRows-1)
	}
	if len(fields) > maxSheetColumns {
		return herb.Invalidf("the result has %d fields, but a sheet has at most %d columns"+remedy, len(fields),
			maxSheetColumns)
	}
	if s.Longest > 0 && s.Longest <= maxSheetCell {
		return nil
	}
	decoder, number := herb.NewRecordDecoder(fields), 0
	for record, err := range s.Records {
		if err != nil {
			return err
		}
		number++
		if len(record) <= maxSheetCell {
			continue
		}
		column, long := 0, -1
		err = decoder.Decode(record, func(value []byte) {
			if len(value) > maxSheetCell && len(utf16.Encode(bytes.Runes(value))) > maxSheetCell {
				long = column
			}
			column++
		})
		if err != nil {
			return err
		}
		if long >= 0 {
			return herb.Invalidf("%q of record %d is longer than the %d characters of a sheet's cell"+remedy,
				fields[long].Name, number, maxSheetCell)
		}
	}
	return nil
}

// sheetWriter writes records as the only sheet of a workbook.
type sheetWriter struct {
	archive *zip.Writer
	sheet   io.Writer
	decoder *herb.RecordDecoder
	fields  []herb.Field
	buf     bytes.Buffer // of a row
	number  []byte       // buffer of a cell
	column  int
}

// newSheetWriter writes everything before the first record.
func newSheetWriter(out io.Writer, fields []herb.Field) (*sheetWriter, error) {
	w := &sheetWriter{archive: zip.NewWriter(out), decoder: herb.NewRecordDecoder(fields), fields: fields}
	for _, part := range workbookParts() {
		entry, err := w.archive.Create(part[0])
		if err == nil {
			_, err = io.WriteString(entry, xmlHeader+part[1])
		}
		if err != nil {
			return nil, err
		}
	}
	var err error
	w.sheet, err = w.archive.Create(sheetPath)
	if err != nil {
		return nil, err
	}
	w.buf.WriteString(xmlHeader + `<worksheet xmlns="` + mainSchema + `"><sheetViews><sheetView workbookViewId="0">` +
		`<pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews>` + columnsElement(fields) +
		`<sheetData><row>`)
	for _, f := range fields {
		w.text([]byte(f.Name))
	}
	return w, w.endRow()
}

func (w *sheetWriter) record(rec []byte) error {
	w.buf.WriteString("<row>")
	w.column = 0
	err := w.decoder.Decode(rec, func(value []byte) {
		w.cell(&w.fields[w.column], value)
		w.column++
	})
	if err != nil {
		return err
	}
	return w.endRow()
}

func (w *sheetWriter) cell(f *herb.Field, value []byte) {
	if len(value) == 0 {
		w.buf.WriteString("<c/>")
	} else if number, ok := w.sheetNumber(f, value); ok {
		w.buf.WriteString("<c><v>")
		w.buf.Write(number)
		w.buf.WriteString("</v></c>")
	} else if days, style, ok := sheetDate(f, value); ok {
		fmt.Fprintf(&w.buf, `<c s="%d"><v>%s</v></c>`, style, days)
	} else {
		w.text(value)
	}
}

func (w *sheetWriter) endRow() error {
	w.buf.WriteString("</row>")
	_, err := w.buf.WriteTo(w.sheet)
	return err
}

// close writes everything after the last record.
func (w *sheetWriter) close() error {
	if _, err := io.WriteString(w.sheet, "</sheetData></worksheet>"); err != nil {
		return err
	}
	return w.archive.Close()
}

func (w *sheetWriter) text(value []byte) {
	w.buf.WriteString(`<c t="inlineStr"><is><t xml:space="preserve">`)
	for len(value) > 0 {
		r, size := utf8.DecodeRune(value)
		switch {
		case r == '&':
			w.buf.WriteString("&amp;")
		case r == '<':
			w.buf.WriteString("&lt;")
		case r == '>':
			w.buf.WriteString("&gt;")
		case r < ' ' && r != '\t' && r != '\n' || r == '\uFFFE' || r == '\uFFFF': // XML forbids or changes them
			fmt.Fprintf(&w.buf, "_x%04X_", r)
		case r == '_' && escapedRune.Match(value):
			w.buf.WriteString("_x005F_")
		default:
			w.buf.Write(value[:size])
		}
		value = value[size:]
	}
	w.buf.WriteString("</t></is></c>")
}

// escapedRune matches text whose start spreadsheet programs would take for an escaped character,
// also if the next character is written as one.
var escapedRune = regexp.MustCompile("^_x[0-9A-Fa-f]{4}[_\x00-\x08\x0B-\x1F\uFFFE\uFFFF]")

// maxSheetDigits is the number of significant digits that spreadsheet programs keep.
const maxSheetDigits = 15

// sheetNumber returns a number as cells have it, whatever its notation. ok is false if a cell
// cannot hold it exactly, so that it is written as text: more digits than programs keep, a currency
// or percent sign, and leading zeros, which programs do not show. The bytes are valid until the
// next call.
func (w *sheetWriter) sheetNumber(f *herb.Field, value []byte) (number []byte, ok bool) {
	if f.Type != herb.TypeNumber || f.Notation.Affix != "" {
		return nil, false
	}
	if f.Notation.Padded {
		unpadded := *f
		unpadded.Notation.Padded = false
		f = &unpadded
	}
	var status text.Status
	w.number, status = text.AppendCanonical(w.number[:0], f, value)
	return w.number, status == text.Valid && text.DigitCount(w.number) <= maxSheetDigits
}
