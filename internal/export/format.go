// Package export writes complete results as files: CSV and XLSX for spreadsheets, NDJSON for programs. It streams
// the records of an engine; memory use does not depend on their number.
//
// # CSV
//
// The first line contains the field names. Lines end with CR LF and values are separated by commas, as specified by RFC
// 4180. Values are written byte for byte as published; values that look like formulas are not escaped. A value is
// quoted if it contains a comma, a quote, a CR or an LF, if it begins or ends with a space or a tab, which many readers
// trim, or if it begins with a byte order mark. A field name that contains another common separator is quoted too,
// because readers detect the separator there. So is the empty value of a single field, whose line would be blank.
//
// # NDJSON
//
// Each line is one record, the same JSON object as in a listing, terminated by LF.
//
// # XLSX
//
// A workbook with one sheet, whose first row contains the field names. Values of number fields in plain notation with at
// most 15 digits are numbers; all other values are text, so that leading zeros and long numbers remain as published.
package export

import (
	"strings"

	"herbarium/internal/herb"
)

// Format is a file format.
type Format string

// Supported formats.
const (
	CSV    Format = "csv"
	NDJSON Format = "ndjson"
	XLSX   Format = "xlsx"
)

// Formats returns all formats.
func Formats() []Format { return []Format{CSV, NDJSON, XLSX} }

// ParseFormat parses a Format.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats() {
		if string(f) == strings.ToLower(s) {
			return f, nil
		}
	}
	return "", herb.Invalidf("unknown format %q; choose csv, ndjson or xlsx", s)
}

// MediaType returns the media type without parameters.
func (f Format) MediaType() string {
	switch f {
	case CSV:
		return "text/csv"
	case XLSX:
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	default:
		return "application/x-ndjson"
	}
}

// ContentType returns the media type with its parameters.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return f.MediaType()
}

// FileName returns the suggested file name for a dataset.
func (f Format) FileName(ref herb.Ref) string { return ref.Name + "." + string(f) }
