package ingest

import (
	"cmp"
	"strconv"

	"herbarium/internal/ingest/rows"
)

// describeFormat describes how a file is written.
func describeFormat(name string, o rows.Options) string {
	if o.Delimiter != 0 {
		named := map[byte]string{',': "comma", ';': "semicolon", '\t': "tab"}
		name = "csv, " + cmp.Or(named[o.Delimiter], strconv.Quote(string(rune(o.Delimiter)))) + " between values"
	}
	if o.Encoding != "" {
		name += ", " + o.Encoding
	}
	return name
}
