package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
)

// readFlags are the flags that override how files are read.
type readFlags struct {
	format, delimiter, widths, encoding, header, comment string
	skip                                                 int
}

func (f *readFlags) add(cmd *cobra.Command) {
	names := descriptor.FormatNames(ingest.Formats())
	flags := cmd.Flags()
	stringFlag(cmd, &f.format, "format", "`format` of the files: "+strings.Join(names, ", ")+
		" (default: detected by extension and content)", offer(names...))
	stringFlag(cmd, &f.delimiter, "delimiter", "`character` between values, or tab (default: detected)",
		offer(",", ";", "tab", "|"))
	stringFlag(cmd, &f.widths, "widths", "`widths` of columns in characters, such as 10,20,8, for text of fixed width",
		cobra.NoFileCompletions)
	stringFlag(cmd, &f.encoding, "encoding", "`encoding` of text, such as windows-1252 (default: detected)",
		offer("utf-8", "windows-1252", "iso-8859-1", "utf-16"))
	stringFlag(cmd, &f.header, "header", "`line` that names the columns, or none (default: detected)",
		offer("none", "1"))
	stringFlag(cmd, &f.comment, "comment", "`prefix` of lines that are not records, such as # (default: detected)",
		offer("#"))
	flags.IntVar(&f.skip, "skip", 0, "number of `lines` before the header to skip")
	setGroup(flags, groupReading, "format", "delimiter", "widths", "encoding", "header", "comment", "skip")
}

// reading returns the flags, checked.
func (f readFlags) reading() (descriptor.Reading, error) {
	r := herb.Reading{Format: f.format, Delimiter: f.delimiter, Widths: f.widths, Encoding: f.encoding,
		Header: f.header, Comment: f.comment}
	if f.skip != 0 {
		r.Skip = strconv.Itoa(f.skip)
	}
	reading, err := descriptor.ParseReading(ingest.Formats(), r, "--")
	return reading, usage(err)
}

// finder returns a finder that applies the flags to files without a descriptor.
func (f readFlags) finder(data string) (*discover.Finder, error) {
	reading, err := f.reading()
	if err != nil {
		return nil, err
	}
	return discover.New(discover.Options{Formats: ingest.Formats(), Data: data, Reading: reading,
		SkipEmptyDescriptors: data == ""}), nil
}

// check rejects the flags for sources that have a descriptor, which says how files are read.
func (f readFlags) check(sources []descriptor.Source) error {
	for _, s := range sources {
		if s.Descriptor != nil && f != (readFlags{}) {
			return usagef("--format, --delimiter, --widths, --encoding, --header, --comment and --skip cannot be "+
				"combined with a descriptor; set format, encoding or dialect in the descriptor of %s", s.Ref)
		}
	}
	return nil
}

func (r *runner) printSkipped(skipped []descriptor.Skipped) {
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
	src, r.removeInput, err = ingest.CopyInput(ctx, r.In, ref,
		ingest.Options{Progress: display.bytes("receiving standard input")})
	if err != nil {
		return src, err
	}
	reading, err := given.reading()
	return reading.Override(src), err
}
