package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/charset"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readFlags are the flags that override how files are read.
type readFlags struct {
	format, delimiter, encoding, header, comment string
	skip                                         int
}

func (f *readFlags) add(cmd *cobra.Command) {
	names := source.FormatNames(ingest.Formats())
	flags := cmd.Flags()
	stringFlag(cmd, &f.format, "format", "`format` of the files: "+strings.Join(names, ", ")+" (default: detected by extension and content)", offer(names...))
	stringFlag(cmd, &f.delimiter, "delimiter", "`character` between values, or tab (default: detected)", offer(",", ";", "tab", "|"))
	stringFlag(cmd, &f.encoding, "encoding", "`encoding` of text, such as windows-1252 (default: detected)", offer("utf-8", "windows-1252", "iso-8859-1", "utf-16"))
	stringFlag(cmd, &f.header, "header", "`line` that names the columns, or none (default: detected)", offer("none", "1"))
	stringFlag(cmd, &f.comment, "comment", "`prefix` of lines that are not records, such as # (default: detected)", offer("#"))
	flags.IntVar(&f.skip, "skip", 0, "number of `lines` before the header to skip")
	setGroup(flags, groupReading, "format", "delimiter", "encoding", "header", "comment", "skip")
}

func (f readFlags) options() (format string, o rows.Options, err error) {
	if f.format != "" {
		if format, err = source.ParseFormat(ingest.Formats(), f.format); err != nil {
			return "", o, usage(err)
		}
	}
	if f.encoding != "" {
		if err = charset.CheckEncoding(f.encoding); err != nil {
			return "", o, usage(err)
		}
	}
	switch d := strings.ToLower(f.delimiter); {
	case d == "tab" || d == `\t`:
		o.Delimiter = '\t'
	case d == "":
	case len(d) > 1 || !source.ValidDelimiter(d[0]):
		return "", o, usagef("--delimiter is %q; expected one ASCII character that is no quote and no line end, or tab", f.delimiter)
	default:
		o.Delimiter = d[0]
	}
	switch n, err := strconv.Atoi(f.header); {
	case f.header == "":
	case f.header == "none":
		o.Header = rows.HeaderNone
	case err != nil || n < 1:
		return "", o, usagef("--header is %q; expected the number of a line, from 1, or none", f.header)
	default:
		o.HeaderRows = []int{n}
	}
	if f.skip < 0 {
		return "", o, usagef("--skip is %d; expected a number of lines", f.skip)
	}
	o.Encoding, o.Comment, o.Skip = f.encoding, f.comment, f.skip
	return format, o, nil
}

// finder returns a finder that applies the flags to files without a descriptor.
func (f readFlags) finder(data string) (*discover.Finder, error) {
	format, dialect, err := f.options()
	if err != nil {
		return nil, err
	}
	return discover.New(discover.Options{Formats: ingest.Formats(), Data: data, Format: format, Dialect: dialect, SkipEmptyDescriptors: data == ""}), nil
}

// check rejects the flags for sources that have a descriptor, which says how files are read.
func (f readFlags) check(sources []source.Source) error {
	for _, s := range sources {
		if s.Descriptor != nil && f != (readFlags{}) {
			return usagef("--format, --delimiter, --encoding, --header, --comment and --skip cannot be combined with a descriptor; set format, encoding or dialect in the descriptor of %s", s.Ref)
		}
	}
	return nil
}

func (r *runner) printSkipped(skipped []source.Skipped) {
	var notes []string
	for _, s := range skipped {
		notes = append(notes, "skipped "+s.String())
	}
	writeNotes(r.Err, firstOf(notes, 20, " files skipped"))
}

// stdinPath is the path that denotes standard input.
const stdinPath = "-"

// copyInput copies standard input to a temporary file, which is removed when the command has ended.
func (r *runner) copyInput(ctx context.Context, ref herb.Ref, given readFlags) (src ingest.Source, err error) {
	display := r.newProgress(ref.String())
	defer display.end()
	if src, r.removeInput, err = ingest.CopyInput(ctx, r.In, ref, ingest.Options{Progress: display.bytes("receiving standard input")}); err != nil {
		return src, err
	}
	src.Format, src.Dialect, err = given.options()
	return src, err
}
