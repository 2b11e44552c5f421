package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

func newDescribe(r *runner) *cobra.Command {
	var asYAML bool
	var as, format string
	cmd := &cobra.Command{
		Use:   "describe PATH",
		Short: "Generate a Data Package descriptor from files",
		Long: `Read a file, or the files in a folder, and print a Data Package descriptor: each field with its type, its flags and a
sample. Nothing is published. Save the descriptor as datapackage.json, or with --yaml as datapackage.yaml, in the folder of
the files. Unedited, it publishes the same listings as the files themselves. Edit it to rename, hide and describe fields, and
to set the default order, the rows to include, and the access.

PATH is the same as for 'herbarium publish'. Use "-" to describe standard input, and --as to name it.`,
		Example: `  herbarium describe --yaml examples/garden/catalog.csv
  zcat prices.csv.gz | head -1000 | herbarium describe - --as shop/prices
  herbarium describe prices > prices/datapackage.json && herbarium publish prices`,
		Args: exactly(1, "one file or folder to describe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != stdinPath && as+format != "" {
				return usagef("--as and --format apply to standard input only; use - as the path")
			}
			app.LimitMemory(app.PublishMemory)
			shown := r.newProgress(args[0])
			opts := ingest.Options{Progress: shown.bytes("reading")}
			var d *ingest.Description
			var err error
			if args[0] == stdinPath {
				d, err = r.describeInput(cmd.Context(), as, format, opts)
			} else {
				d, err = ingest.Describe(cmd.Context(), args[0], opts)
			}
			shown.end()
			if d == nil {
				return err
			}
			r.notes(d.Notes)
			write := d.JSON
			if asYAML {
				write = d.YAML
			}
			b, writeErr := write()
			if writeErr == nil {
				_, writeErr = r.Out.Write(b)
			}
			return errors.Join(err, writeErr)
		},
	}
	cmd.Flags().BoolVar(&asYAML, "yaml", false, "write YAML, with comments")
	cmd.Flags().StringVar(&as, "as", "", "`namespace/dataset` of standard input")
	addFormat(cmd, &format)
	return cmd
}

// describeInput describes standard input.
func (r *runner) describeInput(ctx context.Context, as, format string, opts ingest.Options) (d *ingest.Description, err error) {
	ref, err := herb.ParseRef(cmp.Or(as, "data/records"))
	if err != nil {
		return nil, &usageError{err}
	}
	said := []ingest.Source{{}}
	if err := (publishFlags{format: format}).apply(said); err != nil {
		return nil, err
	}
	src, remove, err := r.spool(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	src.Format = said[0].Format
	return ingest.DescribeSpooled(ctx, src, opts)
}

// notes prints notes to standard error.
func (r *runner) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(r.Err, "  note: %s\n", n)
	}
}
