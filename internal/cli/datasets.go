package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

func newDatasets(r *runner) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "datasets",
		Short: "List and manage datasets",
		Example: `  herbarium datasets
  herbarium datasets show garden/catalog
  herbarium datasets rollback garden/catalog`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error { return r.listDatasets(ctx, d, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one dataset per line")
	cmd.AddCommand(newDatasetsShow(r), newDatasetsReport(r), newDatasetsHistory(r), newDatasetsRollback(r), newDatasetsRemove(r))
	return cmd
}

func (r *runner) listDatasets(ctx context.Context, d *app.Data, asJSON bool) error {
	datasets, err := d.Library.Catalogued(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(r.Out)
		for _, ds := range datasets {
			if err := enc.Encode(describedDataset(ds)); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DATASET\tRECORDS\tFIELDS\tACCESS\tPUBLISHED\tVERSION")
	for _, ds := range datasets {
		published := "mutable"
		if !ds.Published.IsZero() {
			published = ds.Published.Format("2006-01-02 15:04")
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\n", ds.Ref, herb.Count(ds.Records), len(ds.Fields), ds.Access, published, ds.Version)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.listSourceErrors(ctx, d)
}

// listSourceErrors prints the sources that could not be published, and why.
func (r *runner) listSourceErrors(ctx context.Context, d *app.Data) error {
	sourceErrors, err := d.Store.SourceErrors(ctx)
	for _, t := range sourceErrors {
		what := t.Path
		if t.Ref != (herb.Ref{}) {
			what = t.Ref.String()
		}
		fmt.Fprintf(r.Err, "%s: not published since %s: %s\n", what, t.Since.Local().Format("2006-01-02 15:04"), t.Message)
	}
	return err
}

// describedDataset is the output of a dataset with --json.
func describedDataset(d herb.Dataset) any {
	return struct {
		herb.Ref
		Title       string       `json:"title,omitempty"`
		Description string       `json:"description,omitempty"`
		Access      herb.Access  `json:"access"`
		Records     int          `json:"records"`
		Version     string       `json:"version"`
		Published   time.Time    `json:"published_at,omitzero"`
		Fields      []herb.Field `json:"fields"`
	}{d.Ref, d.Title, d.Description, d.Access, d.Records, d.Version, d.Published, d.Fields}
}

// datasetCommand returns a command with one argument, a dataset.
func datasetCommand(r *runner, cmd *cobra.Command, run func(ctx context.Context, d *app.Data, ref herb.Ref) error) *cobra.Command {
	cmd.Args = exactly(1, "one namespace/dataset; 'herbarium datasets' lists them")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ref, err := herb.ParseRef(args[0])
		if err != nil {
			return &usageError{err}
		}
		return r.withData(cmd, func(ctx context.Context, d *app.Data) error { return run(ctx, d, ref) })
	}
	return cmd
}

func newDatasetsShow(r *runner) *cobra.Command {
	var asJSON bool
	cmd := datasetCommand(r, &cobra.Command{
		Use:     "show NAMESPACE/DATASET",
		Short:   "Show a dataset and its fields",
		Example: "  herbarium datasets show garden/catalog",
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		ds, err := d.Library.Describe(ctx, ref)
		if err != nil {
			return err
		}
		if asJSON {
			return json.NewEncoder(r.Out).Encode(describedDataset(ds))
		}
		return r.showDataset(ds)
	})
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (r *runner) showDataset(ds herb.Dataset) error {
	fmt.Fprintf(r.Out, "%s: %s records, access %s, version %s\n", ds.Ref, herb.Count(ds.Records), ds.Access, ds.Version)
	for _, line := range []string{ds.Title, ds.Description} {
		if line != "" {
			fmt.Fprintln(r.Out, line)
		}
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nFIELD\tTYPE\tSEARCH\tFILTER\tSORT\tDESCRIPTION")
	yes := map[bool]string{true: "yes", false: "-"}
	for _, f := range ds.Fields {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Name, f.Type, yes[f.Searchable], yes[f.Filterable], yes[f.Sortable], f.Description)
	}
	return w.Flush()
}

func newDatasetsReport(r *runner) *cobra.Command {
	var version string
	var asJSON bool
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "report NAMESPACE/DATASET",
		Short: "Show the import report of a version",
		Example: `  herbarium datasets report garden/catalog
  herbarium datasets report garden/catalog --version 20260314T092653Z-k7q2mzx4ab --json`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		ds, err := d.Library.Version(ctx, ref, version)
		if err != nil {
			return err
		}
		if ds.Report == nil {
			return herb.Errorf(herb.CodeNotFound, "no report for version %s of %s; publish the dataset again to create one", ds.Version, ref)
		}
		if asJSON {
			return json.NewEncoder(r.Out).Encode(ds.Report)
		}
		fmt.Fprintf(r.Out, "%s: %s records, version %s\n", ref, herb.Count(ds.Records), ds.Version)
		if err := writeReport(r.Out, ds); err != nil {
			return err
		}
		writeNotes(r.Out, ds.Report, true)
		return nil
	})
	cmd.Flags().StringVar(&version, "version", "", "`version` to show (default: the live one)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newDatasetsHistory(r *runner) *cobra.Command {
	return datasetCommand(r, &cobra.Command{
		Use:     "history NAMESPACE/DATASET",
		Short:   "List the stored versions of a dataset, newest first",
		Example: "  herbarium datasets history garden/catalog",
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		versions, err := d.Library.History(ctx, ref)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "VERSION\tPUBLISHED\tRECORDS\tLIVE")
		for _, v := range versions {
			live := ""
			if v.Live {
				live = "live"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Version, v.Published.Format("2006-01-02 15:04:05"), herb.Count(v.Records), live)
		}
		return w.Flush()
	})
}

func newDatasetsRollback(r *runner) *cobra.Command {
	var to string
	var allowBreaking bool
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "rollback NAMESPACE/DATASET",
		Short: "Restore an earlier version of a dataset",
		Example: `  herbarium datasets rollback garden/catalog
  herbarium datasets rollback garden/catalog --to 20260314T092653Z-k7q2mzx4ab`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		version, err := d.Library.Rollback(ctx, ref, to, allowBreaking)
		if err != nil {
			d.AuditFailure(ctx, herb.AuditRolledBack, ref, err)
			if herb.CodeOf(err) == herb.CodeRefused {
				return &refusedError{err}
			}
			return err
		}
		fmt.Fprintf(r.Out, "%s: version %s is live\n", ref, version)
		return nil
	})
	cmd.Flags().StringVar(&to, "to", "", "`version` to restore (default: the one before the live one)")
	cmd.Flags().BoolVar(&allowBreaking, "allow-breaking", false, "roll back even if a dataset that requires a key becomes open")
	return cmd
}

func newDatasetsRemove(r *runner) *cobra.Command {
	return datasetCommand(r, &cobra.Command{
		Use:     "remove NAMESPACE/DATASET",
		Short:   "Remove a dataset with all its versions",
		Example: "  herbarium datasets remove garden/catalog",
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		if err := d.Library.Remove(ctx, ref); err != nil {
			d.AuditFailure(ctx, herb.AuditRemoved, ref, err)
			return err
		}
		fmt.Fprintf(r.Out, "removed %s\n", ref)
		return nil
	})
}
