package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/remote"
	"herbarium/internal/versions"
)

func newDatasetsReport(r *runner) *cobra.Command {
	var version string
	write := func(ds herb.Dataset) error {
		if r.asJSON {
			return writeJSON(r.Out, ds.Report)
		}
		fmt.Fprintf(r.Out, "%s: %s, version %s\n", ds.Ref, herb.Plural(ds.Records, "record", "records"), ds.Version)
		writeReport(r.Out, ds.Report, ds.PrimaryKey)
		writeNotes(r.Out, reportNotes(ds.Report))
		return nil
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "report NAMESPACE/DATASET",
		Short: "Show the import report of a version",
		Example: `  herbarium datasets report garden/catalog
  herbarium datasets report garden/catalog --version 20260314T092653Z-k7q2mzx4ab --json`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		ds, err := d.Versions.Version(ctx, ref, version)
		if err != nil {
			return err
		}
		if err := versions.CheckReport(ds); err != nil {
			return err
		}
		return write(ds)
	})
	r.addServer(cmd, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		ds, err := c.Report(ctx, ref, version)
		if err != nil {
			return err
		}
		return write(ds)
	})
	stringFlag(cmd, &version, "version", "`version` to show (default: the live one)", r.completeVersion())
	return r.jsonFlag(cmd, "")
}

func newDatasetsHistory(r *runner) *cobra.Command {
	write := func(history []versions.Summary) error {
		live := map[bool]string{true: "live"}
		asIs := func(v versions.Summary) versions.Summary { return v }
		return printList(r, history, asIs, "VERSION\tPUBLISHED\tRECORDS\tLIVE\tBYTES\tCHANGES", func(v versions.Summary) []any {
			return []any{
				v.Version, formatTime(v.Published, time.DateTime, "mutable"), herb.Count(v.Records), live[v.Live], herb.Count(int(v.Bytes)), countChanges(v.Changes),
			}
		})
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "history NAMESPACE/DATASET",
		Short: "List the stored versions of a dataset, newest first",
		Long: `List the stored versions of a dataset, newest first: the size of the source, and how many changes consumers may notice since the
previous version. With --json, each version has its changes, and the file that is kept with it.`,
		Example: `  herbarium datasets history garden/catalog
  herbarium datasets history garden/catalog --json
  herbarium datasets history garden/catalog --to https://data.example.org`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		history, err := d.Versions.History(ctx, ref)
		if err != nil {
			return err
		}
		return write(versions.Summaries(history))
	})
	r.addServer(cmd, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		history, _, err := c.History(ctx, ref)
		if err != nil {
			return err
		}
		return write(history)
	})
	return r.jsonFlag(cmd, ", one version per line")
}

// countChanges returns the number of changes since the previous version; empty if that is not kept.
func countChanges(changes []versions.Change) string {
	if changes == nil {
		return ""
	}
	breaking := 0
	for _, c := range changes {
		if c.Breaking {
			breaking++
		}
	}
	if breaking == 0 {
		return herb.Count(len(changes))
	}
	return fmt.Sprintf("%s (%s breaking)", herb.Count(len(changes)), herb.Count(breaking))
}

func newDatasetsRollback(r *runner) *cobra.Command {
	var version string
	var consents func() []herb.Consent
	type restored struct {
		herb.Ref
		Version string `json:"version"`
	}
	write := func(ref herb.Ref, live string) error {
		return r.print(restored{ref, live}, "%s: version %s is live", ref, live)
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "rollback NAMESPACE/DATASET",
		Short: "Restore an earlier version of a dataset",
		Example: `  herbarium datasets rollback garden/catalog
  herbarium datasets rollback garden/catalog --version 20260314T092653Z-k7q2mzx4ab
  herbarium datasets rollback garden/catalog --to https://data.example.org`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		live, err := d.Publisher.Rollback(ctx, ref, "", version, consents()...)
		if err != nil {
			return err
		}
		return write(ref, live)
	})
	stringFlag(cmd, &version, "version", "`version` to restore (default: the one before the live one)", r.completeVersion())
	r.addServer(cmd, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		live, err := c.Rollback(ctx, ref, version, consents()...)
		if err != nil {
			return err
		}
		return write(ref, live)
	})
	consents = addConsents(cmd.Flags(), "roll back", versions.RollbackConsents())
	return r.jsonFlag(cmd, "")
}
