// Package export writes complete results as files: CSV and XLSX for spreadsheets, NDJSON for
// programs, GeoJSON for maps. It streams the records of an engine; memory use does not depend on
// their number.
//
// # CSV
//
// The first line contains the field names. Lines end with CR LF and values are separated by commas,
// as specified by RFC 4180. Values are written byte for byte as published; values that look like
// formulas are not escaped. A value is quoted if it contains a comma, a quote, a CR or an LF, if it
// begins or ends with a space or a tab, which many readers trim, or if it begins with a byte order
// mark. A field name that contains another common separator is quoted too, because readers detect
// the separator there. So is the empty value of a single field, whose line would be blank.
//
// # NDJSON
//
// Each line is one record, the same JSON object as in a listing, with types if the request is
// typed, terminated by LF.
//
// # XLSX
//
// A workbook with one sheet, whose first row contains the field names. Values of number fields in
// plain notation with at most 15 digits are numbers, and dates that a cell can hold exactly are
// dates. All other values are text, so that leading zeros and long numbers remain as published.
//
// # GeoJSON
//
// A FeatureCollection as specified by RFC 7946, with one feature per line. Its properties are the
// same object as a line of NDJSON, its geometry is where the record is, and its id is the value of
// the primary key.
package export

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/typed"
)

// Format is a file format, named as the extension of its files.
type Format string

// Supported formats.
const (
	CSV     Format = "csv"
	NDJSON  Format = "ndjson"
	XLSX    Format = "xlsx"
	GeoJSON Format = "geojson"
)

// Formats returns all formats.
func Formats() []Format { return []Format{CSV, NDJSON, XLSX, GeoJSON} }

// FormatsOf returns the formats of the files of a dataset.
func FormatsOf(d *herb.Dataset) []Format {
	return slices.DeleteFunc(Formats(), func(f Format) bool { return f == GeoJSON && !d.HasCoordinates() })
}

// List joins the names of all formats, each after a prefix, with an "or".
func List(prefix string) string {
	names := make([]string, len(Formats()))
	for i, f := range Formats() {
		names[i] = prefix + string(f)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Label returns the name of the format on pages.
func (f Format) Label() string {
	if f == GeoJSON {
		return "GeoJSON"
	}
	return strings.ToUpper(string(f))
}

// Purpose says what files of the format are good for, on pages.
func (f Format) Purpose() string {
	return map[Format]string{
		CSV: "for spreadsheets and scripts", NDJSON: "one JSON object per line", XLSX: "for Excel",
		GeoJSON: "for maps, such as QGIS",
	}[f]
}

// FormatOf returns the format of a file by its extension; ok is false if it has another one.
func FormatOf(file string) (f Format, ok bool) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), "."))
	if ext == "jsonl" { // another name of the same format
		return NDJSON, true
	}
	f = Format(ext)
	return f, slices.Contains(Formats(), f)
}

// ParseFormat parses a Format.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats() {
		if string(f) == strings.ToLower(s) {
			return f, nil
		}
	}
	return "", herb.Invalidf("unknown format %q; choose %s", s, List(""))
}

// MediaType returns the media type without parameters; it is empty for an unknown format.
func (f Format) MediaType() string {
	switch f {
	case CSV:
		return "text/csv"
	case NDJSON:
		return "application/x-ndjson"
	case XLSX:
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case GeoJSON:
		return "application/geo+json"
	}
	return ""
}

// ContentType returns the media type with its parameters.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return f.MediaType()
}

// IsCompressed reports whether files of the format are compressed already.
func (f Format) IsCompressed() bool { return f == XLSX }

// Check returns an error with herb.CodeInvalid if a file of the format cannot contain a stream. It
// reads the stream only if some record may have a value that is too long.
func (f Format) Check(fields []herb.Field, s query.Stream) error {
	if f != XLSX {
		return nil
	}
	return checkSheet(fields, s)
}

// CheckRequest returns an error with herb.CodeInvalid if a file of the format cannot contain what a
// request for records of a dataset asks for.
func (f Format) CheckRequest(d *herb.Dataset, r *query.Request) error {
	if r.Typed && f == XLSX {
		return query.ErrTyped(f.Label())
	}
	if f != GeoJSON {
		return nil
	}
	_, err := geometryReader(d, r)
	return err
}

// Select returns what a file of the format contains for each record of a stream: its selected
// fields, or a feature with them. types is the result of Request.Types.
func (f Format) Select(d *herb.Dataset, r *query.Request, types []typed.Column, s query.Stream) (query.Stream, error) {
	switch f {
	case GeoJSON:
		return selectFeatures(d, r, types, s)
	case CSV:
		return r.SelectTexts(s, types), nil
	}
	return r.SelectStream(s, types), nil
}

// FileName returns the suggested file name for a dataset.
func (f Format) FileName(ref herb.Ref) string { return ref.Name + "." + string(f) }

// Summary describes what was written.
type Summary struct {
	Rows   int // records, without the header
	Bytes  int64
	Digest string // of the bytes, in the format of Digest
}

// Digest formats a SHA-256 hash as in the digest fields of RFC 9530.
func Digest(h hash.Hash) string {
	return "sha-256=:" + base64.StdEncoding.EncodeToString(h.Sum(nil)) + ":"
}

// Write writes all records of a stream, which is the result of Format.Select. It fails if their
// number differs from the total of the stream, so that a truncated result is never taken for a
// complete one.
func Write(w io.Writer, f Format, fields []herb.Field, s query.Stream) (Summary, error) {
	sent := &summingWriter{w: w, hash: sha256.New()}
	out := bufio.NewWriterSize(sent, 64<<10)
	var record func(rec []byte) error // also returns errors of earlier writes
	finish := out.Flush
	switch f {
	case CSV:
		c := csvWriter{out: out, decoder: herb.NewRecordDecoder(fields), fields: len(fields)}
		c.header(fields)
		record = c.record
	case NDJSON:
		record = func(rec []byte) error {
			_, _ = out.Write(rec)
			return out.WriteByte('\n')
		}
	case GeoJSON:
		c := collectionWriter{out: out}
		record, finish = c.feature, c.close
	case XLSX:
		sheet, err := newSheetWriter(out, fields)
		if err != nil {
			return Summary{}, err
		}
		record = sheet.record
		finish = func() error { return errors.Join(sheet.close(), out.Flush()) }
	default:
		return Summary{}, fmt.Errorf("export: unknown format %q", f)
	}
	rows := 0
	for rec, err := range s.Records {
		if err == nil && rows == s.Total {
			err = fmt.Errorf("export: stream has more than the announced %d records", s.Total)
		}
		if err == nil {
			err = record(rec)
		}
		if err != nil {
			return Summary{}, err
		}
		rows++
	}
	if rows < s.Total {
		return Summary{}, fmt.Errorf("export: stream ended after %d of %d records", rows, s.Total)
	}
	if err := finish(); err != nil {
		return Summary{}, err
	}
	return Summary{Rows: rows, Bytes: sent.bytes, Digest: Digest(sent.hash)}, nil
}

// WriteTable writes a table of texts as CSV, in the same notation as an export of records. It fails
// if the number of rows differs from total.
func WriteTable(w io.Writer, header []string, total int, rows iter.Seq2[[]string, error]) (Summary, error) {
	sent := &summingWriter{w: w, hash: sha256.New()}
	c := csvWriter{out: bufio.NewWriterSize(sent, 64<<10), fields: len(header)}
	c.names(header)
	written := 0
	for row, err := range rows {
		if err == nil {
			err = c.row(row)
		}
		if err != nil {
			return Summary{}, err
		}
		written++
	}
	if written != total {
		return Summary{}, fmt.Errorf("export: table has %d of the announced %d rows", written, total)
	}
	if err := c.out.Flush(); err != nil {
		return Summary{}, err
	}
	return Summary{Rows: written, Bytes: sent.bytes, Digest: Digest(sent.hash)}, nil
}

// AppendHeader appends the line of a CSV table that names its columns, in the notation of
// WriteTable, but ended by a line feed.
func AppendHeader(dst *bytes.Buffer, header []string) {
	c := csvWriter{out: bufio.NewWriter(dst), fields: len(header), lineEnd: "\n"}
	c.names(header)
	_ = c.out.Flush() // a bytes.Buffer does not fail
}

// AppendRow appends a line of a CSV table, like AppendHeader.
func AppendRow(dst *bytes.Buffer, row []string) {
	c := csvWriter{out: bufio.NewWriter(dst), fields: len(row), lineEnd: "\n"}
	_ = c.row(row)
	_ = c.out.Flush()
}

// summingWriter counts and hashes the bytes that it writes.
type summingWriter struct {
	w     io.Writer
	hash  hash.Hash
	bytes int64
}

// Write implements io.Writer.
func (s *summingWriter) Write(p []byte) (n int, err error) {
	n, err = s.w.Write(p)
	s.hash.Write(p[:n])
	s.bytes += int64(n)
	return n, err
}

// csvWriter converts records to CSV lines. The package encoding/csv would need strings, and quotes
// fewer values.
type csvWriter struct {
	out     *bufio.Writer // its errors are sticky
	decoder *herb.RecordDecoder
	fields  int
	written int    // values of the line
	lineEnd string // empty: CR LF
}

// names writes the header of a table that is not made of records.
func (c *csvWriter) names(header []string) {
	fields := make([]herb.Field, len(header))
	for i, name := range header {
		fields[i].Name = name
	}
	c.header(fields)
}

func (c *csvWriter) row(values []string) error {
	for _, value := range values {
		c.write([]byte(value), false)
	}
	return c.endLine()
}

func (c *csvWriter) header(fields []herb.Field) {
	for _, f := range fields {
		c.write([]byte(f.Name), strings.ContainsAny(f.Name, ";|\t"))
	}
	_ = c.endLine()
}

func (c *csvWriter) record(rec []byte) error {
	if err := c.decoder.Decode(rec, func(value []byte) { c.write(value, false) }); err != nil {
		return err
	}
	return c.endLine()
}

func (c *csvWriter) endLine() error {
	c.written = 0
	_, err := c.out.WriteString(cmp.Or(c.lineEnd, "\r\n"))
	return err
}

// write writes a value, in quotes if it needs them or if quote is set.
func (c *csvWriter) write(value []byte, quote bool) {
	c.written++
	if c.written > 1 {
		_ = c.out.WriteByte(',')
	}
	if !quote && !c.needsQuotes(value) {
		_, _ = c.out.Write(value)
		return
	}
	_ = c.out.WriteByte('"')
	for i := bytes.IndexByte(value, '"'); i >= 0; i = bytes.IndexByte(value, '"') {
		_, _ = c.out.Write(value[:i+1])
		_ = c.out.WriteByte('"')
		value = value[i+1:]
	}
	_, _ = c.out.Write(value)
	_ = c.out.WriteByte('"')
}

func (c *csvWriter) needsQuotes(value []byte) bool {
	if len(value) == 0 {
		return c.fields == 1 // the line must not be blank
	}
	return isBlank(value[0]) || isBlank(value[len(value)-1]) || bytes.HasPrefix(value, []byte("\uFEFF")) ||
		bytes.IndexByte(value, ',') >= 0 || bytes.IndexByte(value, '"') >= 0 || bytes.IndexByte(value, '\n') >= 0 ||
		bytes.IndexByte(value, '\r') >= 0
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }
