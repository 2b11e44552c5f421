package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/library"
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
		writeReport(r.Out, ds.Report, ds.PrimaryKey, ds.InferredKey)
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
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
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
	write := func(list versions.SummaryList) error {
		asIs := func(v versions.Summary) versions.Summary { return v }
		err := printList(r, list.Versions, asIs,
			"VERSION\tPUBLISHED\tRECORDS\tSTATE\tBYTES\tAPI CHANGES\tRECORD CHANGES\tLABELS\tMESSAGE",
			func(v versions.Summary) []any {
				return []any{
					v.Version, formatTime(v.Published, time.DateTime, "mutable"), herb.Count(v.Records), v.State,
					herb.Count(int(v.Bytes)), countChanges(v.Changes),
					countRecords(v.Counts), strings.Join(v.Labels, ", "), printable(v.Message),
				}
			})
		if err != nil {
			return err
		}
		for _, w := range list.Withdrawn {
			if err := r.print(w, "%s was withdrawn on %s", w.Version,
				formatTime(w.Since, time.DateTime, "")); err != nil {
				return err
			}
		}
		return nil
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:     "history NAMESPACE/DATASET",
		Aliases: []string{"versions"},
		Short:   "List the versions of a dataset, newest first",
		Long: `List the stored versions of a dataset, newest first: whether it is live, was live before the live one (previous) or was rolled back
(STATE), the size of the source, how many changes users of the API may notice since the version published before it (API CHANGES),
how many records were added (+), removed (-) and changed (~) since the version that it replaced (RECORD CHANGES), its labels and its
message. Versions that were withdrawn follow. With --json, each version has its changes, and the file that is kept with it;
a withdrawn version has withdrawn_at. 'datasets versions' is the same command.`,
		Example: `  herbarium datasets history garden/catalog
  herbarium datasets history garden/catalog --json
  herbarium datasets history garden/catalog --to https://data.example.org`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		list, err := d.Versions.Summaries(ctx, ref)
		if err != nil {
			return err
		}
		return write(list)
	})
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		list, _, err := c.History(ctx, ref)
		if err != nil {
			return err
		}
		return write(list)
	})
	return r.jsonFlag(cmd, ", one version per line")
}

// countRecords returns how many records were added, removed and changed; empty if it is unknown.
func countRecords(c *library.Counts) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("+%s -%s ~%s", herb.Count(c.Added), herb.Count(c.Removed), herb.Count(c.Changed))
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
		Long: `Make an earlier version of a dataset live again: the one that 'datasets history' lists as previous, or the one that --version
names. The previous version was live before the live one was published; a version that was rolled back is never the previous one.`,
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
	stringFlag(cmd, &version, "version", "`version` to restore (default: the one that was live before)",
		r.completeVersion())
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		live, err := c.Rollback(ctx, ref, version, consents()...)
		if err != nil {
			return err
		}
		return write(ref, live)
	})
	consents = addConsents(cmd.Flags(), "roll back", versions.RollbackConsents())
	return r.jsonFlag(cmd, "")
}

func newDatasetsLabel(r *runner) *cobra.Command {
	var version, label string
	var remove bool
	type labeled struct {
		herb.Ref
		Version string `json:"version"`
		Label   string `json:"label"`
		Removed bool   `json:"removed,omitempty"`
	}
	write := func(ref herb.Ref, version string) error {
		if remove {
			return r.print(labeled{ref, version, label, true}, "%s: version %s does not have the label %s", ref,
				version, label)
		}
		return r.print(labeled{ref, version, label, false}, "%s: version %s has the label %s", ref, version, label)
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "label NAMESPACE/DATASET VERSION LABEL",
		Short: "Name a version of a dataset, which keeps it",
		Long: `Name a version of a dataset. The label is accepted wherever a version is, such as in _version=2026-Q1, and the version is kept
until its labels are removed. VERSION is the name of a version or another label. A label has up to 64 letters (A-Z, a-z), digits,
'.', '_' and '-', and begins with a letter or digit; another version must not have it.`,
		Example: `  herbarium datasets label garden/catalog 20260314T092653Z-k7q2mzx4ab 2026-Q1
  herbarium datasets label garden/catalog 2026-Q1 final --to https://data.example.org
  herbarium datasets label garden/catalog 2026-Q1 final --remove`,
		PreRunE: func(_ *cobra.Command, args []string) error {
			version, label = args[1], args[2]
			_, err := herb.ParseLabel(label)
			return usage(err)
		},
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		change := d.Publisher.Label
		if remove {
			change = d.Publisher.Unlabel
		}
		named, err := change(ctx, ref, version, label)
		if err != nil {
			return err
		}
		return write(ref, named)
	})
	cmd.Args = expectArgs(3, 3,
		"one namespace/dataset, a version and a label; 'herbarium datasets history' lists the versions")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset(), r.completeVersion())
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) (err error) {
		if remove {
			err = c.Unlabel(ctx, ref, version, label)
		} else {
			version, err = c.Label(ctx, ref, version, label)
		}
		if err != nil {
			return err
		}
		return write(ref, version)
	})
	cmd.Flags().BoolVar(&remove, "remove", false, "remove the label from the version")
	return r.jsonFlag(cmd, "")
}

func newDatasetsPurge(r *runner) *cobra.Command {
	var version string
	var yes bool
	type withdrawn struct {
		herb.Ref
		Version   string `json:"version"`
		Withdrawn bool   `json:"withdrawn"`
	}
	write := func(ref herb.Ref) error {
		return r.print(withdrawn{ref, version, true}, "%s: version %s was withdrawn", ref, version)
	}
	confirm := func(ref herb.Ref, where string) error {
		if yes {
			return nil
		}
		return r.confirm(fmt.Sprintf("Delete version %s of %s%s, so that nobody can read it any more? This cannot be "+
			"undone.", version, ref, where))
	}
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "purge NAMESPACE/DATASET VERSION",
		Short: "Delete a version that must not be read any more",
		Long: `Delete a version that must not be read any more, with its source, on this machine, in the object store and on all nodes. Requests
for it fail, and say that it was withdrawn. It cannot be restored; backups that were made before still have it. The live version
cannot be deleted: publish another version or roll back first. The command asks for confirmation; --yes skips the question and is
required if standard input is not a terminal.`,
		Example: `  herbarium datasets purge garden/catalog 20260314T092653Z-k7q2mzx4ab
  herbarium datasets purge garden/catalog 20260314T092653Z-k7q2mzx4ab --yes --to https://data.example.org`,
		PreRunE: func(_ *cobra.Command, args []string) error {
			version = args[1]
			return nil
		},
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		if err := confirm(ref, ""); err != nil {
			return err
		}
		if err := d.Publisher.Withdraw(ctx, ref, version); err != nil {
			return err
		}
		return write(ref)
	})
	cmd.Args = expectArgs(2, 2, "one namespace/dataset and one version; 'herbarium datasets history' lists them")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset(), r.completeVersion())
	r.addServer(cmd, remoteFlags{}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		_, live, err := c.History(ctx, ref)
		if err != nil {
			return err
		}
		if err := confirm(ref, " on the server"); err != nil {
			return err
		}
		if err := c.Withdraw(ctx, ref, version, live); err != nil {
			return err
		}
		return write(ref)
	})
	addYes(cmd, &yes)
	return r.jsonFlag(cmd, "")
}

// addYes adds the flag that skips the confirmation of a command.
func addYes(cmd *cobra.Command, yes *bool) {
	cmd.Flags().BoolVarP(yes, "yes", "y", false,
		"do not ask for confirmation; required if standard input is not a terminal")
}
