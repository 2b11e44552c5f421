package source

import (
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/rows"
)

// MaxWidth is the maximum width of a column in characters.
const MaxWidth = 1_000_000

// CheckWidths returns what is wrong with the widths of columns, nil if they are valid.
func CheckWidths(widths []int) error {
	if len(widths) > rows.MaxColumns {
		return herb.Invalidf("%d columns are more than %d, the maximum", len(widths), rows.MaxColumns)
	}
	for i, w := range widths {
		if w < 1 || w > MaxWidth {
			return herb.Invalidf("width %d of column %d is not between 1 and %d characters", w, i+1, MaxWidth)
		}
	}
	return nil
}

// parseWidths parses widths with commas between them, such as 10,20,8.
func parseWidths(list string) (widths []int, err error) {
	for i, part := range strings.Split(list, ",") {
		w, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, herb.Invalidf("%q, the width of column %d, is not a number; expected numbers of characters such as 10,20,8", rows.Clip(part), i+1)
		}
		widths = append(widths, w)
	}
	return widths, CheckWidths(widths)
}

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
	if r.Widths != "" {
		if o.Widths, err = parseWidths(r.Widths); err != nil {
			return "", o, herb.Invalidf("%swidths is %q; %s", prefix, rows.Clip(r.Widths), err)
		}
		if o.Delimiter != 0 {
			return "", o, herb.Invalidf("%swidths and %sdelimiter exclude each other; columns of fixed width have no delimiter", prefix, prefix)
		}
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
