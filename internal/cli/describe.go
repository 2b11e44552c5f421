package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/describe"
	"herbarium/internal/ingest/descriptor"
)

func newDescribe(r *runner) *cobra.Command {
	var asYAML bool
	var as string
	var given readFlags
	cmd := &cobra.Command{
		Use:   "describe PATH",
		Short: "Generate a Data Package descriptor from files",
		Long: `Read a file, or the files in a folder, and print a Data Package descriptor: each field with its type, its flags and a
sample. Nothing is published. Save the descriptor as datapackage.json, or with --yaml as datapackage.yaml, in the folder of
the files. Unedited, it publishes the same listings as the files themselves. Edit it to rename, hide and describe fields, and
to set the default order, the rows to include or exclude, and the access.

PATH and the flags that override detection are the same as for 'herbarium publish'. Use "-" to describe standard input, and
--as to name it.`,
		Example: `  herbarium describe --yaml examples/garden/catalog.csv
  zcat prices.csv.gz | head -1000 | herbarium describe - --as shop/prices
  herbarium describe measurements.dat --header none --yaml
  herbarium describe prices > prices/datapackage.json && herbarium publish prices`,
		Args: expectArgs(1, 1, "one file or folder to describe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != stdinPath && as != "" {
				return usagef("--as applies to standard input only; use - as the path")
			}
			finder, err := given.finder("")
			if err != nil {
				return err
			}
			app.LimitMemory(app.PublishMemory)
			display := r.newProgress(args[0])
			defer display.end()
			path, set := args[0], descriptor.Set{}
			if path == stdinPath {
				path, set, err = r.findInput(cmd.Context(), as, given)
			} else {
				set = finder.Discover(cmd.Context(), args)
			}
			if err != nil {
				return err
			}
			out, err := filesystem.TempFile("") // written at the end, so that an interrupted command writes nothing
			if err != nil {
				return err
			}
			defer out.Close()
			notes, err := describe.Write(cmd.Context(), out, path, set,
				describe.Options{YAML: asYAML, Read: ingest.Options{Progress: display.bytes("reading")}})
			display.end()
			if cmd.Context().Err() != nil {
				return err
			}
			writeNotes(r.Err, notes)
			_, copyErr := io.Copy(r.Out, io.NewSectionReader(out, 0, math.MaxInt64))
			return errors.Join(err, copyErr)
		},
	}
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "write YAML, with comments")
	cmd.Flags().StringVar(&as, "as", "", "`namespace/dataset` of standard input")
	cmd.ValidArgsFunction = offerPaths()
	given.add(cmd)
	return cmd
}

// findInput returns standard input as the only source.
func (r *runner) findInput(ctx context.Context, as string, given readFlags) (path string, set descriptor.Set,
	err error) {
	ref, err := herb.ParseRef(cmp.Or(as, "data/records"))
	if err != nil {
		return "", set, usage(err)
	}
	src, err := r.copyInput(ctx, ref, given)
	set.Sources = []descriptor.Source{src}
	return src.Path, set, err
}
