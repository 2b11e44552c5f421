package source

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// ParseReading returns the format and the options that a user has set, apart from the table. prefix
// begins the names of settings in messages: "--" of flags, "_" of parameters.
func ParseReading(formats []rows.Format, r herb.Reading, prefix string) (format string, o rows.Options, err error) {
	if r.Format != "" {
		if format, err = ParseFormat(formats, r.Format); err != nil {
			return "", o, err
		}
	}
	if r.Encoding != "" {
		if err = charset.CheckEncoding(r.Encoding); err != nil {
			return "", o, err
		}
	}
	switch d := strings.ToLower(r.Delimiter); {
	case d == "tab" || d == `\t`:
		o.Delimiter = '\t'
	case d == "":
	case len(d) > 1 || !ValidDelimiter(d[0]):
		return "", o, herb.Invalidf("%sdelimiter is %q; expected one ASCII character that is no quote and no line end, or tab", prefix, rows.Clip(r.Delimiter))
	default:
		o.Delimiter = d[0]
	}
	switch n, err := strconv.Atoi(r.Header); {
	case r.Header == "":
	case r.Header == "none":
		o.Header = rows.HeaderNone
	case err != nil || n < 1:
		return "", o, herb.Invalidf("%sheader is %q; expected the number of a line, from 1, or none", prefix, rows.Clip(r.Header))
	default:
		o.HeaderRows = []int{n}
	}
	if r.Skip != "" {
		if o.Skip, err = strconv.Atoi(r.Skip); err != nil || o.Skip < 0 {
			return "", o, herb.Invalidf("%sskip is %q; expected a number of lines", prefix, rows.Clip(r.Skip))
		}
	}
	o.Encoding, o.Comment = r.Encoding, r.Comment
	return format, o, nil
}
