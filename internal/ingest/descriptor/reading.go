package descriptor

import (
	"cmp"
	"slices"
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
			return nil, herb.Invalidf(
				"%q, the width of column %d, is not a number; expected numbers of characters such as 10,20,8",
				rows.Clip(part), i+1)
		}
		widths = append(widths, w)
	}
	return widths, CheckWidths(widths)
}

// Reading is how the user says that a file is written, checked.
type Reading struct {
	Written herb.Reading
	Format  string       // name of a format
	Dialect rows.Options // without the table
}

// ParseReading checks how the user says that a file is written. prefix begins the names of settings
// in messages: "--" of flags, "_" of parameters.
func ParseReading(formats []rows.Format, written herb.Reading, prefix string) (Reading, error) {
	r := Reading{Written: written, Dialect: rows.Options{Encoding: written.Encoding, Comment: written.Comment}}
	o, err := &r.Dialect, error(nil)
	if written.Format != "" {
		r.Format, err = ParseFormat(formats, written.Format)
		if err != nil {
			return Reading{}, err
		}
	}
	if written.Encoding != "" {
		if err := charset.CheckEncoding(written.Encoding); err != nil {
			return Reading{}, err
		}
	}
	switch d := strings.ToLower(written.Delimiter); {
	case d == "tab" || d == `\t`:
		o.Delimiter = '\t'
	case d == "":
	case len(d) > 1 || !ValidDelimiter(d[0]):
		return Reading{}, herb.Invalidf(
			"%sdelimiter is %q; expected one ASCII character that is no quote and no line end, or tab", prefix,
			rows.Clip(written.Delimiter))
	default:
		o.Delimiter = d[0]
	}
	if written.Widths != "" {
		o.Widths, err = parseWidths(written.Widths)
		if err != nil {
			return Reading{}, herb.Invalidf("%swidths is %q; %s", prefix, rows.Clip(written.Widths), err)
		}
		if o.Delimiter != 0 {
			return Reading{}, herb.Invalidf(
				"%swidths and %sdelimiter exclude each other; columns of fixed width have no delimiter", prefix, prefix)
		}
	}
	switch n, err := strconv.Atoi(written.Header); {
	case written.Header == "":
	case written.Header == "none":
		o.Header = rows.HeaderNone
	case err != nil || n < 1:
		return Reading{}, herb.Invalidf("%sheader is %q; expected the number of a line, from 1, or none", prefix,
			rows.Clip(written.Header))
	default:
		o.HeaderRows = []int{n}
	}
	if written.Skip != "" {
		o.Skip, err = strconv.Atoi(written.Skip)
		if err != nil || o.Skip < 0 {
			return Reading{}, herb.Invalidf("%sskip is %q; expected a number of lines", prefix, rows.Clip(written.Skip))
		}
	}
	return r, nil
}

// Override returns a source whose format and dialect are those of r, or else its own. It does not
// select a table.
func (r Reading) Override(s Source) Source {
	s.Format, s.Dialect = cmp.Or(r.Format, s.Format), OverrideDialect(s.Dialect, r.Dialect)
	s.Settings.Reading = r.Written
	return s
}

// OverrideDialect returns a dialect whose options are those of given, or else its own. A delimiter
// and widths exclude each other, as do the rows of a header and its absence.
func OverrideDialect(d, given rows.Options) rows.Options {
	if given.Delimiter != 0 || len(given.Widths) > 0 {
		d.Delimiter, d.Widths = given.Delimiter, slices.Clone(given.Widths)
	}
	if given.Header != rows.HeaderDetect || len(given.HeaderRows) > 0 {
		d.Header, d.HeaderRows = given.Header, slices.Clone(given.HeaderRows)
	}
	d.Encoding, d.Comment, d.Skip = cmp.Or(given.Encoding, d.Encoding), cmp.Or(given.Comment, d.Comment),
		cmp.Or(given.Skip, d.Skip)
	return d
}
