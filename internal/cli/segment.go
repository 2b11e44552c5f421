package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

func newSegment(r *runner) *cobra.Command {
	return setParent(&cobra.Command{
		Use:   "segment",
		Short: "Inspect the file of a published version",
		Long: `Inspect a segment, the file of one version of a dataset. The commands only read that file: they do not open the data folder
and change nothing, and a server can use the file at the same time.`,
		Example: `  herbarium segment verify data/versions/20260314T092653Z-k7q2mzx4ab.segment
  herbarium segment stat data/versions/20260314T092653Z-k7q2mzx4ab.segment`,
	}, newSegmentVerify(r), newSegmentDump(r), newSegmentStat(r))
}

// segmentFile is an open segment.
type segmentFile interface{ Close() error }

// segmentCommand returns a command with one argument, a segment file.
func segmentCommand[F segmentFile](cmd *cobra.Command, open func(path string) (F, error),
	run func(s F) error) *cobra.Command {
	cmd.Args = expectArgs(1, 1, "one segment file")
	cmd.ValidArgsFunction = completeArgs(offerFiles("segment"))
	cmd.RunE = func(_ *cobra.Command, args []string) (err error) {
		s, err := open(args[0])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		if err := run(s); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return nil
	}
	return cmd
}

func newSegmentVerify(r *runner) *cobra.Command {
	return segmentCommand(&cobra.Command{
		Use:   "verify FILE",
		Short: "Verify the checksums of a segment",
		Long: `Read the whole file and compare every section with its checksum. The exit code is 0 if the file is intact, else 1 with a
message that names the damaged section.`,
		Example: `  herbarium segment verify backup.segment && echo fine`,
	}, segment.OpenCore, func(s *segment.Core) error {
		if err := s.Verify(); err != nil {
			return err
		}
		index := ""
		if !s.HasCurrentIndex() {
			index = "; its index, " + s.Index() + ", is rebuilt by servers of this release"
		}
		return r.print(nil, "intact: %s, %s bytes%s", herb.Plural(s.Len(), "record", "records"),
			herb.Count(s.Size()), index)
	})
}

func newSegmentDump(r *runner) *cobra.Command {
	return segmentCommand(&cobra.Command{
		Use:   "dump FILE",
		Short: "Print the fields and sections of a segment",
		Long: `Print the contents of a segment: counts, the fields with their numbers of values, and every section with its offset,
length and checksum. Checksums are printed, not verified; use 'herbarium segment verify' for that.`,
		Example: `  herbarium segment dump backup.segment`,
	}, segment.Open, func(s *segment.Reader) error { return s.Dump(r.Out) })
}

func newSegmentStat(r *runner) *cobra.Command {
	return r.jsonFlag(segmentCommand(&cobra.Command{
		Use:   "stat FILE",
		Short: "Print the size of each kind of section",
		Example: `  herbarium segment stat backup.segment
  herbarium segment stat --json backup.segment`,
	}, segment.OpenCore, func(s *segment.Core) error {
		if r.asJSON {
			return writeJSON(r.Out, s.Stat())
		}
		return r.showStat(s.Stat())
	}), "")
}

func (r *runner) showStat(s segment.Stat) error {
	fmt.Fprintf(r.Out, "%s, %s words (%s distinct), format version %d\n\n",
		herb.Plural(s.Records, "record", "records"), herb.Count(s.Words), herb.Count(s.Terms), s.Version)
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "KIND\tSECTIONS\tBYTES\tPER RECORD\tSHARE\t")
	row := func(kind, sections string, bytes int64) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f\t%.1f %%\t\n", kind, sections, herb.Count(int(bytes)), s.PerRecord(bytes),
			100*float64(bytes)/float64(s.Bytes))
	}
	count := 0
	for _, k := range s.Sections {
		row(k.Tag, fmt.Sprint(k.Sections), k.Bytes)
		count += k.Sections
	}
	row("frame", "-", s.Frame)
	row("total", fmt.Sprint(count), s.Bytes)
	return w.Flush()
}
