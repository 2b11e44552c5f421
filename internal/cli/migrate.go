package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/migrate"
	"herbarium/internal/telemetry"
)

type migrateFlags struct {
	from, to           string
	fromBlobs, toBlobs string
	check              bool
}

func newMigrate(r *runner) *cobra.Command {
	var given migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Copy everything from one machine to a cluster, or back",
		Long: `Copy all plants, idempotency keys, keys and datasets with all their versions from one place to another. A place is a data
folder, or the URL of a PostgreSQL database with --blobs for its object store. The source is only read, except that the
schema of an older version is upgraded first, unless programs of that version use it.

The target must be empty: if it has plants, keys or datasets, nothing is changed and the exit code is 3. At the end, everything in
the target is compared with the source, and the hash is printed. If a migration is interrupted, delete the folder, or drop and
create the database, and run the command again. Use --check to compare only.

A file of a version that cannot be read does not hold back anything else: the version is left out; if it is the live one, the
dataset is left out. Each is named on standard error and the exit code is 1.

Stop the servers on the source first: what they store during the migration is not copied. Then start the servers on the target.`,
		Example: `  herbarium migrate --from ./herbarium-data --to postgres://herbarium@db/herbarium --blobs s3://bucket
  herbarium migrate --from ./herbarium-data --to postgres://herbarium@db/herbarium --blobs s3://bucket --check
  herbarium migrate --from postgres://herbarium@db/herbarium --blobs s3://bucket --to ./herbarium-data`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.migrate(cmd, given) },
	}
	stringFlag(cmd, &given.from, "from", "`place` to copy from: a data folder or a postgres:// URL", offerFolders())
	stringFlag(cmd, &given.to, "to", "`place` to copy to; a folder is created if it does not exist", offerFolders())
	cmd.Flags().StringVar(&given.fromBlobs, "from-blobs", "",
		"`URL` of the object store of --from, if both are databases")
	cmd.Flags().StringVar(&given.toBlobs, "to-blobs", "", "`URL` of the object store of --to, if both are databases")
	cmd.Flags().BoolVar(&given.check, "check", false, "compare only")
	return cmd
}

// places parses source and target. The setting --blobs belongs to the one that is a database.
func (f migrateFlags) places(c app.Config, blobsGiven bool) (from, to migrate.Place, err error) {
	if f.from == "" || f.to == "" {
		return from, to, usagef("set --from and --to; each is a data folder or a postgres:// URL")
	}
	fromBlobs, toBlobs := herb.Address(f.fromBlobs), herb.Address(f.toBlobs)
	switch a, b := herb.Address(f.from).IsPostgres(), herb.Address(f.to).IsPostgres(); {
	case a && b && blobsGiven:
		return from, to, usagef(
			"both places are databases; set their object stores with --from-blobs and --to-blobs instead of --blobs")
	case !a && !b && blobsGiven:
		return from, to, usagef("both places are folders; omit --blobs, which is for databases")
	case a && !b && fromBlobs == "":
		fromBlobs = c.Blobs
	case b && !a && toBlobs == "":
		toBlobs = c.Blobs
	}
	from, err = migrate.ParsePlace(f.from, fromBlobs)
	if err != nil {
		return from, to, usagef("--from: %w", err)
	}
	to, err = migrate.ParsePlace(f.to, toBlobs)
	if err != nil {
		return from, to, usagef("--to: %w", err)
	}
	if from == to {
		return from, to, usagef("--from and --to are the same place")
	}
	return from, to, nil
}

func (r *runner) migrate(cmd *cobra.Command, given migrateFlags) error {
	c, err := r.config(cmd)
	if err != nil {
		return err
	}
	from, to, err := given.places(c, cmd.Flags().Changed("blobs"))
	if err != nil {
		return err
	}
	began := time.Now()
	m, err := r.runMigration("migrate", func(o migrate.Options) (migrate.Result, error) {
		o.Check = given.check
		return migrate.Migrate(cmd.Context(), from, to, o)
	})
	if err != nil {
		return err
	}
	if given.check {
		except := ""
		if len(m.Skipped) > 0 {
			except = ", except for what cannot be read"
		}
		fmt.Fprintf(r.Out, "source and target are equal%s: %s\n", except, contents(m))
	} else {
		fmt.Fprintf(r.Out, "migrated %s\n%s\n", contents(m), additions(m, began))
	}
	fmt.Fprintf(r.Out, "  hash of source and target: %s\n", m.Hash)
	r.printLeftOut("not copied", m)
	if len(m.Changed) > 0 {
		fmt.Fprintf(r.Err, "The source has changed during the migration (%s). Stop its servers and migrate into an "+
			"empty target.\n",
			strings.Join(m.Changed, ", "))
	}
	return skipped(m)
}

// printLeftOut names what the source has and is never copied.
func (r *runner) printLeftOut(where string, m migrate.Result) {
	if m.LeftOut == (migrate.LeftOut{}) {
		return
	}
	advice := ""
	if m.LeftOut.Webhooks > 0 {
		advice = "; add webhooks again with 'herbarium webhooks add'"
	}
	fmt.Fprintf(r.Err, "%s: %s%s\n", where, m.LeftOut, advice)
}

// skipped returns an error that names each file that could not be read, nil if there is none.
func skipped(m migrate.Result) error {
	var all []error
	for _, s := range m.Skipped {
		all = append(all, errors.New(s.String()))
	}
	if len(all) == 0 {
		return nil
	}
	return &exitError{errors.Join(all...), exitFailure}
}

// runMigration runs a migration, a backup or a restore with its progress display.
func (r *runner) runMigration(name string, run func(migrate.Options) (migrate.Result, error)) (migrate.Result, error) {
	display := r.newProgress(name)
	defer display.end()
	return run(migrate.Options{Progress: display.update, Upgraded: r.printUpgrade})
}

// contents summarizes what was copied or compared.
func contents(m migrate.Result) string {
	s := fmt.Sprintf("%s, %s, %s with %s (%s)", herb.Plural(m.Plants, "plant", "plants"),
		herb.Plural(m.Keys, "key", "keys"),
		herb.Plural(m.Datasets, "dataset", "datasets"), herb.Plural(m.Versions, "version", "versions"),
		herb.FormatBytes(m.Bytes))
	if m.Sources > 0 {
		s += ", " + herb.Plural(m.Sources, "kept source", "kept sources")
	}
	return s
}

// additions summarizes what was new in the target.
func additions(m migrate.Result, began time.Time) string {
	return fmt.Sprintf("  new: %s, %s, %s, in %s", herb.Plural(m.NewPlants, "plant", "plants"),
		herb.Plural(m.NewKeys, "key", "keys"),
		herb.Plural(m.NewFiles, "file", "files"), time.Since(began).Round(100*time.Millisecond))
}

func newBackup(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup [FILE|FOLDER|-]",
		Short: "Back up everything to a file or folder",
		Long: `Write all plants, idempotency keys, keys, the audit log and datasets with all their versions and kept sources to a backup. Servers can keep
running: the backup has everything that was acknowledged before the command started.

A FILE is a tar archive; it replaces an existing file once it is complete. The default is herbarium-<time>.tar in the current
folder. With -, the archive is written to standard output. A FOLDER (an existing one, or a path that ends with a slash)
contains the same files. Run the command again with the same folder to update the backup; files of versions that are already
there are not copied again.

A file of a version that cannot be read does not hold back anything else: the version is left out; if it is the live one, the
dataset is left out. Each is named on standard error and the exit code is 1.

The backup contains hashes of the keys, not the keys themselves. Verify it with 'herbarium restore --check' and restore it with
'herbarium restore'.`,
		Example: `  herbarium backup
  herbarium backup - | zstd > /backup/herbarium.tar.zst
  herbarium backup /backup/herbarium/
  herbarium backup cluster.tar --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args:              expectArgs(0, 1, "a file, a folder or -"),
		ValidArgsFunction: completeArgs(offerPaths()),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := r.configuredPlace(cmd)
			if err != nil {
				return err
			}
			to, archive := "herbarium-"+time.Now().UTC().Format("20060102T150405Z")+".tar", r.Out
			if len(args) == 1 {
				to = args[0]
			}
			if to == migrate.StandardStream {
				if telemetry.IsTerminal(archive) {
					return usagef("standard output is a terminal; write the backup to a file or pipe it to a command")
				}
				r.Out = r.Err
			}
			m, err := r.runMigration("backup", func(o migrate.Options) (migrate.Result, error) {
				return migrate.Backup(herb.WithActor(cmd.Context(), commandLineActor()), from, to, archive,
					Version(), o)
			})
			if err != nil {
				return err
			}
			if m.Unrecorded != nil {
				fmt.Fprintf(r.Err, "warning: the backup is complete, but it cannot be recorded in the audit log; "+
					"metrics report the age of an earlier one: %v\n", m.Unrecorded)
			}
			r.printLeftOut("not in the backup", m)
			return cmp.Or(r.print(backupResult{to, m}, "backed up %s\n  to %s", contents(m), to), skipped(m))
		},
	}
	return r.jsonFlag(cmd, "; with -, on standard error")
}

// rebuilds says how many versions of a backup another release has published.
func rebuilds(m migrate.Result) string {
	if m.Rebuilds == 0 {
		return ""
	}
	return fmt.Sprintf("\n  %s of another release: the server rebuilds them after the restore",
		herb.Plural(m.Rebuilds, "index", "indexes"))
}

// configuredPlace returns the place of the settings.
func (r *runner) configuredPlace(cmd *cobra.Command) (migrate.Place, error) {
	c, err := r.placedConfig(cmd)
	return migrate.Place{Folder: c.Data, Database: c.Database, Blobs: c.Blobs}, err
}

// backupResult is the JSON of a backup or restore.
type backupResult struct {
	Path string `json:"path"`
	migrate.Result
}

func newRestore(r *runner) *cobra.Command {
	var check, replace bool
	var dataset string
	cmd := &cobra.Command{
		Use:   "restore FILE|FOLDER|-",
		Short: "Restore everything from a backup",
		Long: `Restore a backup written by 'herbarium backup' into an empty data folder. Everything is restored beside the content of the
folder first, compared with the backup, and takes effect at the end in one step: a restore that fails or is killed changes
nothing. If the data folder has data, the command changes nothing and exits with code 3; --replace replaces that data, and
requires that servers on it are stopped. Use --check to verify the backup only: it reports what a restore would do.

A file of the backup that is damaged or missing does not hold back anything else: its version is left out; if it is the live one,
the dataset is left out. Each is named on standard error and the exit code is 1. Nothing is restored if the list of entries,
backup.ndjson, is damaged.

With --database and --blobs, the backup is restored into an empty database: if it has plants, keys or datasets, nothing is
changed and the exit code is 3. If such a restore is interrupted, drop and create the database and run the command again.

With --dataset, only that dataset is restored, with all its versions, beside the data that is there; servers can keep running.
If it exists, nothing is changed and the exit code is 3: remove it first.`,
		Example: `  herbarium restore herbarium.tar --data ./herbarium-data
  herbarium restore --check herbarium.tar
  herbarium restore herbarium.tar --dataset shop/prices
  zstdcat /backup/herbarium.tar.zst | herbarium restore -
  herbarium restore /backup/herbarium/ --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args:              expectArgs(1, 1, "a backup: a file, a folder or -"),
		ValidArgsFunction: completeArgs(offerPaths()),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := r.configuredPlace(cmd)
			if err != nil {
				return err
			}
			if dataset != "" {
				return r.restoreDataset(cmd.Context(), args[0], to, dataset, check || replace)
			}
			if replace && to.Database != "" {
				return usagef("--replace is for a data folder; restore into an empty database")
			}
			began := time.Now()
			m, err := r.runMigration("restore", func(o migrate.Options) (migrate.Result, error) {
				o.Check, o.Replace = check, replace
				return migrate.Restore(cmd.Context(), args[0], r.In, to, o)
			})
			switch {
			case err != nil:
				return err
			case check && len(m.Skipped) > 0:
				err = r.print(backupResult{args[0], m}, "the backup is damaged; it can be restored in part: %s%s",
					contents(m), rebuilds(m))
			case check:
				err = r.print(backupResult{args[0], m}, "the backup is complete: %s%s", contents(m), rebuilds(m))
			default:
				err = r.print(backupResult{args[0], m}, "restored %s\n%s%s", contents(m), additions(m, began),
					rebuilds(m))
			}
			r.printLeftOut("not in the backup", m)
			if replace && !check {
				fmt.Fprintln(r.Err, "Webhooks and drafts of the replaced data are gone; add webhooks again.")
			}
			return cmp.Or(err, skipped(m))
		},
	}
	cmd.Flags().StringVar(&dataset, "dataset", "", "restore only this `dataset`")
	cmd.Flags().BoolVar(&check, "check", false, "verify the backup only")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the data in the data folder")
	return r.jsonFlag(cmd, "")
}

// restoreDataset restores one dataset of a backup. other reports whether a flag was given that is
// about the whole backup.
func (r *runner) restoreDataset(ctx context.Context, path string, to migrate.Place, dataset string, other bool) error {
	ref, err := herb.ParseRef(dataset)
	switch {
	case err != nil:
		return usage(err)
	case other:
		return usagef("--check and --replace are about the whole backup; omit them with --dataset")
	case path == migrate.StandardStream:
		return usagef("--dataset needs a file or a folder, which is read twice")
	}
	began := time.Now()
	m, err := r.runMigration("restore", func(o migrate.Options) (migrate.Result, error) {
		return migrate.RestoreDataset(herb.WithActor(ctx, commandLineActor()), path, to, ref, o)
	})
	if err != nil {
		return err
	}
	return cmp.Or(r.print(backupResult{path, m}, "restored %s with %s (%s) in %s", ref,
		herb.Plural(m.Versions, "version", "versions"),
		herb.FormatBytes(m.Bytes), time.Since(began).Round(100*time.Millisecond)), skipped(m))
}
