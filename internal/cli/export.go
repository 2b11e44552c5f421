package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/telemetry"
)

func newExport(r *runner) *cobra.Command {
	var format, asked, file string
	var chosen export.Format
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "export NAMESPACE/DATASET",
		Short: "Export all records of a dataset, or of a query, as CSV, NDJSON or XLSX",
		Long: `Write the whole result of a query, in its order. A query has the syntax of a listing URL, without page and per_page;
_version=VERSION selects a stored version. Values are written byte for byte as published. The command reads the data folder
directly, whether a server is running or not. All records come from one version, even if another one is published meanwhile.

With --output, the file is created only when it is complete, and not at all if the export fails.`,
		Example: `  herbarium export garden/catalog > catalog.csv
  herbarium export garden/catalog --query 'category=tree&sort=price' -o trees.csv
  herbarium export garden/catalog --format ndjson | jq .title`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		if file == "" || file == "-" {
			return r.export(ctx, d, ref, asked, chosen, r.Out)
		}
		return writeFile(file, func(w io.Writer) error { return r.export(ctx, d, ref, asked, chosen, w) })
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		chosen, err = exportFormat(format, file)
		return usage(err)
	}
	stringFlag(cmd, &format, "format", "`format`: csv, ndjson or xlsx (default: by the extension of the output file, else csv)", offer("csv", "ndjson", "xlsx"))
	stringFlag(cmd, &asked, "query", "filters, search and order: query `parameters` as in a listing URL", r.completeQuery())
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` (default: standard output)")
	completeFlag(cmd, "output", offerPaths())
	return cmd
}

// exportFormat returns the requested format, or else the one of the file's extension.
func exportFormat(format, file string) (export.Format, error) {
	if format != "" {
		return export.ParseFormat(format)
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".ndjson", ".jsonl":
		return export.NDJSON, nil
	case ".xlsx":
		return export.XLSX, nil
	case ".json", ".parquet", ".db", ".sqlite", ".gz", ".zst":
		return "", herb.Invalidf("%s: unsupported export format; use .csv, .ndjson or .xlsx, or set --format", file)
	default:
		return export.CSV, nil
	}
}

// export writes the result of a query.
func (r *runner) export(ctx context.Context, d *app.Data, ref herb.Ref, asked string, f export.Format, w io.Writer) error {
	if err := query.RejectPagination(strings.TrimPrefix(asked, "?")); err != nil {
		return usage(err)
	}
	view, req, err := openListing(ctx, d, ref, asked)
	if err != nil {
		return err
	}
	defer view.Release()
	stream, err := view.Stream(ctx, req)
	if err != nil {
		return err
	}
	if f == export.XLSX {
		if err := export.CheckLimits(req.Fields(), req.SelectStream(stream)); err != nil {
			return err
		}
	}
	if !telemetry.IsTerminal(w) { // on a terminal the records show the progress
		shown := r.newProgress(ref.String())
		defer shown.end()
		stream = shown.records("exporting", stream)
	}
	sum, err := export.Write(w, f, req.Fields(), req.SelectStream(stream))
	if err != nil {
		return fmt.Errorf("exporting %s: %w", ref, err)
	}
	if telemetry.IsTerminal(r.Err) {
		fmt.Fprintf(r.Err, "%s: %s records, %s bytes\n", ref, herb.Count(sum.Rows), herb.Count(int(sum.Bytes)))
	}
	return nil
}
