package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/telemetry"
)

func newExplain(r *runner) *cobra.Command {
	var rawQuery string
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "explain NAMESPACE/DATASET QUERY",
		Short: "Show how a listing is computed, with counts and times",
		Long: `Compute a listing and print its steps in the order in which they were executed: the conditions, the cheapest first, and the
page. Each step shows how it was computed, the number of records left after it, and its time. A query has the syntax of a
listing URL; _version=VERSION selects a stored version. The command reads the data folder directly, whether a server is
running or not.`,
		Example: `  herbarium explain garden/catalog 'category=tree&sort=price'
  herbarium explain garden/catalog 'search=rose "climbing plant"&price[lt]=20&page=3'`,
		PreRun: func(_ *cobra.Command, args []string) { rawQuery = args[1] },
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error { return r.explain(ctx, d, ref, rawQuery) })
	cmd.Args = expectArgs(2, 2, "one namespace/dataset and a query")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset())
	return r.jsonFlag(cmd, "")
}

func (r *runner) explain(ctx context.Context, d *app.Data, ref herb.Ref, rawQuery string) error {
	var e segment.Explanation
	err := withListing(ctx, d, ref, rawQuery, query.String.Listing,
		func(view library.View, req *query.Request) (err error) {
			e, err = view.Explain(ctx, req)
			return err
		})
	if err != nil {
		return err
	}
	if r.asJSON {
		type step struct {
			Step         string `json:"step"`
			Method       string `json:"method"`
			Records      int    `json:"records"`
			Microseconds int64  `json:"microseconds"`
		}
		out := struct {
			Total int    `json:"total"`
			Steps []step `json:"steps"`
		}{Total: e.Total}
		for _, s := range e.Stages {
			out.Steps = append(out.Steps, step{s.Name, s.Method, s.Records, s.Time.Microseconds()})
		}
		return writeJSON(r.Out, out)
	}
	total := segment.Stage{Name: "total", Records: e.Total}
	for _, s := range e.Stages {
		total.Time += s.Time
	}
	return writeTable(r.Out, "STEP\tMETHOD\tRECORDS\tTIME", append(e.Stages, total), func(s segment.Stage) []any {
		return []any{s.Name, s.Method, herb.Count(s.Records), s.Time.Round(time.Microsecond)}
	})
}

// withListing opens a dataset in the version that a query names, or in the live one, parses the
// query and calls run with both.
func withListing[Request any](ctx context.Context, d *app.Data, ref herb.Ref, rawQuery string,
	parse func(query.String, []herb.Field, herb.Order) (Request, error), run func(library.View, Request) error,
) error {
	version, rest, err := query.Split(strings.TrimPrefix(rawQuery, "?")).CutVersion()
	if err != nil {
		return usage(err)
	}
	var view library.View
	if version == "" {
		view, err = d.Library.Acquire(ctx, ref)
	} else {
		view, err = d.Library.AcquireVersion(ctx, ref, version)
	}
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := parse(rest, view.Fields, view.Order)
	if err != nil {
		return usage(err)
	}
	return run(view, req)
}

func newExport(r *runner) *cobra.Command {
	var format, rawQuery, file string
	var chosen export.Format
	var formats []string
	for _, f := range export.Formats() {
		formats = append(formats, string(f))
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "export NAMESPACE/DATASET",
		Short: "Export all records of a dataset, or of a query, as CSV, NDJSON, XLSX or GeoJSON",
		Long: `Write the whole result of a query, in its order. A query has the syntax of a listing URL, without page and per_page;
_version=VERSION selects a stored version. Values are written byte for byte as published. The command reads the data folder
directly, whether a server is running or not. All records come from one version, even if another one is published meanwhile.
GeoJSON needs coordinates: fields that say where a record is.

With --output, the file is created only when it is complete, and not at all if the export fails.`,
		Example: `  herbarium export garden/catalog > catalog.csv
  herbarium export garden/catalog --query 'category=tree&sort=price' -o trees.csv
  herbarium export garden/catalog --format ndjson | jq .title`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		if file == "" || file == "-" {
			return r.export(ctx, d, ref, rawQuery, chosen, r.Out)
		}
		return writeFile(file, func(w io.Writer) error { return r.export(ctx, d, ref, rawQuery, chosen, w) })
	})
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		chosen, err = exportFormat(format, file)
		return usage(err)
	}
	stringFlag(cmd, &format, "format", "`format`: "+export.List("")+
		" (default: by the extension of the output file, else csv)", offer(formats...))
	stringFlag(cmd, &rawQuery, "query", "filters, search and order: query `parameters` as in a listing URL", offer())
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` (default: standard output)")
	completeFlag(cmd, "output", offerPaths())
	return cmd
}

// exportFormat returns the requested format, or else the one of the file's extension.
func exportFormat(format, file string) (export.Format, error) {
	if format != "" {
		return export.ParseFormat(format)
	}
	if f, ok := export.FormatOf(file); ok {
		return f, nil
	}
	switch strings.ToLower(filepath.Ext(file)) {
	case ".json", ".parquet", ".db", ".sqlite", ".gz", ".zst":
		return "", herb.Invalidf("%s: unsupported export format; use %s, or set --format", file, export.List("."))
	}
	return export.CSV, nil
}

func (r *runner) export(ctx context.Context, d *app.Data, ref herb.Ref, rawQuery string, f export.Format,
	w io.Writer) error {
	return withListing(ctx, d, ref, rawQuery, query.String.Export, func(view library.View, req *query.Request) error {
		if err := f.CheckRequest(&view.Dataset, req); err != nil {
			return usage(err)
		}
		types, err := req.Types(view)
		if err != nil {
			return err
		}
		stream, err := view.Stream(ctx, req)
		if err != nil {
			return err
		}
		selected, err := f.Select(&view.Dataset, req, types, stream)
		if err != nil {
			return err
		}
		if err := f.Check(req.Fields(), selected); err != nil {
			return err
		}
		if !telemetry.IsTerminal(w) { // on a terminal the records show the progress
			display := r.newProgress(ref.String())
			defer display.end()
			selected = display.records("exporting", selected)
		}
		sum, err := export.Write(w, f, req.Fields(), selected)
		if err != nil {
			return fmt.Errorf("exporting %s: %w", ref, err)
		}
		if telemetry.IsTerminal(r.Err) {
			fmt.Fprintf(r.Err, "%s: %s, %s bytes\n", ref, herb.Plural(sum.Rows, "record", "records"),
				herb.Count(int(sum.Bytes)))
		}
		return nil
	})
}
