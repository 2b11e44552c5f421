package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/remote"
	"herbarium/internal/text"
)

func newDatasets(r *runner) *cobra.Command {
	cmd := datasetsLister(r, &cobra.Command{
		Use:   "datasets",
		Short: "List and manage datasets",
		Long:  "List and manage datasets. Without a subcommand, list them.",
		Example: `  herbarium datasets list
  herbarium datasets show garden/catalog
  herbarium datasets rollback garden/catalog`,
		Args: noCommand,
	})
	list := datasetsLister(r, &cobra.Command{
		Use:   "list",
		Short: "List the datasets",
		Long: `List the datasets with their live versions. Sources that are not published, because they failed or because the descriptor
of their folder does not list them, are reported on standard error, with the reason. With --json, a dataset whose source is
not published has the members source and error or skipped; a source without a dataset has a line of its own, after them.
FRESHNESS is fresh, due, overdue, unknown or historical, by the frequency that the descriptor declares as expected. A source that cannot be fetched is
reported as well; with --json, fetch has its state. The exit code is 4 if a source failed.`,
		Example: `  herbarium datasets list
  herbarium datasets list --json | jq -r .name`,
		Args: noArgs,
	})
	cmd.AddCommand(list, newDatasetsShow(r), newDatasetsReport(r), newDatasetsHistory(r), newDatasetsDiff(r),
		newDatasetsLabel(r),
		newDatasetsRollback(r), newDatasetsPurge(r), newDatasetsRemove(r), newDatasetsDismiss(r))
	return cmd
}

// datasetsLister makes a command list the datasets.
func datasetsLister(r *runner, cmd *cobra.Command) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return r.withData(cmd, r.listDatasets) }
	return r.jsonFlag(cmd, ", one dataset per line")
}

func (r *runner) listDatasets(ctx context.Context, d *app.Data) error {
	live, err := d.Library.Live(ctx)
	if err != nil {
		return err
	}
	datasets, err := d.Library.Datasets(ctx, live, false)
	if err != nil {
		return err
	}
	sourceErrors, err := d.Store.SourceErrors(ctx)
	if err != nil {
		return err
	}
	fetches, err := fetch.States(ctx, d.Store, herb.Ref{}, time.Now())
	if err != nil {
		return err
	}
	failed := 0
	for _, e := range sourceErrors {
		if !e.Skipped {
			failed++
		}
	}
	if r.asJSON {
		return errors.Join(r.writeDatasets(datasets, sourceErrors, fetches), errFailedSources(failed))
	}
	const header = "DATASET\tRECORDS\tFIELDS\tACCESS\tPUBLISHED\tFRESHNESS\tVERSION"
	err = writeTable(r.Out, header, datasets, func(ds herb.Dataset) []any {
		return []any{ds.Ref, herb.Count(ds.Records), len(ds.Fields), ds.Access,
			minute(ds.Published, "mutable"), cmp.Or(ds.FreshnessAt(time.Now()).State, herb.Unknown), ds.Version}
	})
	r.listSourceErrors(sourceErrors)
	for _, ds := range datasets {
		if s := fetches[ds.Ref]; s.Error != "" {
			fmt.Fprintf(r.Err, "%s: not fetched since %s: %s\n", ds.Ref, minute(s.Failing.Local(), ""),
				escapeText(s.Error))
		}
	}
	return errors.Join(err, errFailedSources(failed))
}

// listedDataset is a dataset in the output of 'datasets list --json'.
type listedDataset struct {
	datasetJSON
	sourceState
	Fetch *fetch.State `json:"fetch,omitempty"` // nil: it is not fetched
}

// unpublishedSource is a source without a published dataset in the output of 'datasets list
// --json'. Its dataset may be unknown.
type unpublishedSource struct {
	herb.Ref
	sourceState
}

// sourceState says why the current state of a source is not published. It is empty if it is
// published.
type sourceState struct {
	Source  string `json:"source,omitempty"`
	Error   string `json:"error,omitempty"`   // why it failed
	Skipped string `json:"skipped,omitempty"` // why it was left out
}

func (s *sourceState) set(e herb.SourceError) {
	s.Source = e.Path
	if e.Skipped {
		s.Skipped = e.Message
	} else {
		s.Error = e.Message
	}
}

// minute formats a time to the minute; none is the text for the zero time.
func minute(t time.Time, none string) string { return formatTime(t, "2006-01-02 15:04", none) }

func formatTime(t time.Time, format, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Format(format)
}

// listSourceErrors prints the sources that are not published, and why.
func (r *runner) listSourceErrors(sourceErrors []herb.SourceError) {
	for _, t := range sourceErrors {
		what, since := escapeText(t.Path)+": ", "not published since "+minute(t.Since.Local(), "")
		if t.Ref != (herb.Ref{}) {
			what = t.Ref.String() + ": "
		} else if t.Path == t.Message { // an error of the discovery
			what = ""
		}
		if t.Skipped {
			since = escapeText(t.Path) + " skipped since " + minute(t.Since.Local(), "")
		}
		fmt.Fprintf(r.Err, "%s%s: %s\n", what, since, escapeText(t.Message))
	}
}

// writeDatasets prints the datasets as JSON, each with the error of its source, and then the
// sources without a dataset.
func (r *runner) writeDatasets(datasets []herb.Dataset, sourceErrors []herb.SourceError,
	fetches map[herb.Ref]fetch.State) error {
	withError := func(d herb.Dataset) listedDataset {
		l := listedDataset{datasetJSON: newDatasetJSON(d)}
		if s, ok := fetches[d.Ref]; ok {
			l.Fetch = &s
		}
		for _, e := range sourceErrors {
			if e.Ref == d.Ref {
				l.set(e)
			}
		}
		return l
	}
	for _, d := range datasets {
		if err := writeJSON(r.Out, withError(d)); err != nil {
			return err
		}
	}
	for _, e := range sourceErrors {
		if slices.ContainsFunc(datasets, func(d herb.Dataset) bool { return d.Ref == e.Ref }) {
			continue
		}
		l := unpublishedSource{Ref: e.Ref}
		l.set(e)
		if err := writeJSON(r.Out, l); err != nil {
			return err
		}
	}
	return nil
}

// datasetJSON is the output of a dataset with --json.
type datasetJSON struct {
	herb.Ref
	Title       string         `json:"title,omitempty"`
	Description string         `json:"description,omitempty"`
	Access      herb.Access    `json:"access"`
	Records     int            `json:"records"`
	Version     string         `json:"version"`
	Published   time.Time      `json:"published_at,omitzero"`
	Freshness   herb.Freshness `json:"freshness,omitzero"`
	Fields      []herb.Field   `json:"fields"`
}

func newDatasetJSON(d herb.Dataset) datasetJSON {
	return datasetJSON{d.Ref, d.Title, d.Description, d.Access, d.Records, d.Version, d.Published,
		d.FreshnessAt(time.Now()), d.Fields}
}

// datasetCommand returns a command with one argument, a dataset.
func datasetCommand(r *runner, cmd *cobra.Command,
	run func(ctx context.Context, d *app.Data, ref herb.Ref) error) *cobra.Command {
	cmd.Args = expectArgs(1, 1, "one namespace/dataset; 'herbarium datasets list' lists them")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ref, err := herb.ParseRef(args[0])
		if err != nil {
			return usage(err)
		}
		return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
			return checkDataset(ctx, d, ref, run(ctx, d, ref))
		})
	}
	return cmd
}

// checkDataset replaces the error of the library for an unknown dataset, which names a path of the
// API.
func checkDataset(ctx context.Context, d *app.Data, ref herb.Ref, err error) error {
	if herb.CodeOf(err) != herb.CodeNotFound {
		return err
	}
	names, listErr := datasetNames(ctx, d)
	if listErr != nil || slices.Contains(names, ref.String()) {
		return err
	}
	return herb.Errorf(herb.CodeNotFound, "no such dataset %q%s 'herbarium datasets list' lists all datasets", ref,
		text.Suggestion(ref.String(), names))
}

func newDatasetsShow(r *runner) *cobra.Command {
	return r.jsonFlag(datasetCommand(r, &cobra.Command{
		Use:   "show NAMESPACE/DATASET",
		Short: "Show a dataset and its fields",
		Example: `  herbarium datasets show garden/catalog
  herbarium datasets show garden/catalog --json`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		ds, err := d.Library.Describe(ctx, ref)
		if err != nil {
			return err
		}
		if r.asJSON {
			return writeJSON(r.Out, newDatasetJSON(ds))
		}
		fmt.Fprintf(r.Out, "%s: %s, access %s, version %s\n", ds.Ref, herb.Plural(ds.Records, "record", "records"),
			ds.Access, ds.Version)
		for _, line := range []string{ds.Title, ds.Description} {
			if line != "" {
				fmt.Fprintln(r.Out, escapeText(line))
			}
		}
		fmt.Fprintln(r.Out)
		yes := map[bool]string{true: "yes", false: "-"}
		return writeTable(r.Out, "FIELD\tTYPE\tSEARCH\tFILTER\tSORT\tDESCRIPTION", ds.Fields, func(f herb.Field) []any {
			return []any{f.Name, f.Type, yes[f.Searchable], yes[f.Filterable], yes[f.Sortable], f.Description}
		})
	}), "")
}

func newDatasetsRemove(r *runner) *cobra.Command {
	var yes bool
	type removed struct {
		herb.Ref
		Removed bool `json:"removed"`
	}
	write := func(ref herb.Ref) error { return r.print(removed{ref, true}, "removed %s", ref) }
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "remove NAMESPACE/DATASET",
		Short: "Remove a dataset with all its versions",
		Long: `Remove a dataset with all its versions. They cannot be restored. The command asks for confirmation; --yes skips the
question and is required if standard input is not a terminal.`,
		Example: `  herbarium datasets remove garden/catalog
  herbarium datasets remove garden/catalog --yes`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		if !yes {
			versions, err := d.Versions.History(ctx, ref)
			if err != nil {
				return err
			}
			if err := r.confirm(fmt.Sprintf("Remove %s with %s? This cannot be undone.", ref,
				herb.Plural(len(versions), "version", "versions"))); err != nil {
				return err
			}
		}
		if err := d.Publisher.Remove(ctx, ref, ""); err != nil {
			return err
		}
		return write(ref)
	})
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		list, live, err := c.History(ctx, ref)
		if err != nil {
			return err
		}
		if !yes {
			if err := r.confirm(fmt.Sprintf("Remove %s with %s from the server? This cannot be undone.", ref,
				herb.Plural(len(list.Versions), "version", "versions"))); err != nil {
				return err
			}
		}
		if err := c.Remove(ctx, ref, live); err != nil {
			return err
		}
		return write(ref)
	})
	addYes(cmd, &yes)
	return r.jsonFlag(cmd, "")
}
