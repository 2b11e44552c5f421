package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"herbarium/internal/ingest"
)

func newDescribe(r *runner) *cobra.Command {
	var asYAML bool
	cmd := &cobra.Command{
		Use:   "describe PATH",
		Short: "Write a descriptor of files, to edit and publish",
		Long: `Reads a file, or the files in a folder, and prints a Data Package descriptor of what is there: each field with its type,
what it can be used for, and a sample. Nothing is published. Keep it as datapackage.json, or with --yaml as
datapackage.yaml, in the folder of the files. As it is, publishing it gives the same listings as publishing the files;
edit it to rename and hide fields, to describe them, and to choose an order, the rows to include, and who may list them.`,
		Example: `  herbarium describe --yaml examples/garden/catalog.csv
  herbarium describe prices > prices/datapackage.json && herbarium publish prices`,
		Args: exactly(1, "one file or folder to describe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			shown := r.newProgress(args[0])
			d, err := ingest.Describe(cmd.Context(), args[0], ingest.Options{Progress: shown.bytes("reading")})
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
	return cmd
}

// notes tells what a publisher should know.
func (r *runner) notes(notes []string) {
	for _, n := range notes {
		fmt.Fprintf(r.Err, "  note: %s\n", n)
	}
}
