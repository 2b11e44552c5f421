package ingest

import (
	"strconv"

	"herbarium/internal/ingest/rows"
)

// describeFormat describes how a file is written.
func describeFormat(name string, o rows.Options) string {
	if o.Delimiter != 0 {
		separator := strconv.Quote(string(rune(o.Delimiter)))
		switch o.Delimiter {
		case ',':
			separator = "comma"
		case ';':
			separator = "semicolon"
		case '\t':
			separator = "tab"
		}
		name = "csv, " + separator + " between values"
	}
	if o.Encoding != "" {
		name += ", " + o.Encoding
	}
	return name
}
