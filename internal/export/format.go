// Package export writes whole results as files: CSV for spreadsheets and databases, NDJSON for programs. It writes what an
// engine gives out, record by record, in memory that hangs neither on the number of records nor on their size.
//
// # CSV
//
// The first line names the fields. Lines end with CR LF, values are separated by commas, as RFC 4180 has it, and every
// value comes out byte for byte as it was published: nothing is put in front of a value that looks like a formula. A
// value is in quotes if it contains a comma, a quote, a CR or an LF, if it begins or ends with a blank or a tab, which
// readers like to trim, or if it begins with a byte order mark. So is a name that contains another character that files
// are separated by, because readers guess the separator there, and the empty value of a single field, whose line would be
// blank.
//
// # NDJSON
//
// Each record is a line, the same JSON object as in a listing, ended by LF.
package export

import (
	"strings"

	"herbarium/internal/herb"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	CSV    Format = "csv"
	NDJSON Format = "ndjson"
)

// Formats lists all of them.
func Formats() []Format { return []Format{CSV, NDJSON} }

// ParseFormat reads a Format.
func ParseFormat(s string) (Format, error) {
	for _, f := range Formats() {
		if string(f) == strings.ToLower(s) {
			return f, nil
		}
	}
	return "", herb.Invalidf("unknown format %q; choose csv or ndjson", s)
}

// MediaType is the name of the format on the web.
func (f Format) MediaType() string {
	if f == CSV {
		return "text/csv"
	}
	return "application/x-ndjson"
}

// ContentType is the media type with all that there is to say of the content.
func (f Format) ContentType() string {
	if f == CSV {
		return "text/csv; charset=utf-8; header=present"
	}
	return f.MediaType()
}

// FileName returns the name of the file that a dataset is saved as.
func (f Format) FileName(ref herb.Ref) string { return ref.Name + "." + string(f) }
