package cli

import (
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/migrate"
	"herbarium/internal/telemetry"
)

func newBackup(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup [FILE|FOLDER|-]",
		Short: "Back up everything to a file or folder",
		Long: `Write all plants, idempotency keys, keys, the audit log and datasets with all their versions to a backup. Servers can keep
running: the backup has everything that was acknowledged before the command started.

A FILE is a tar archive; it replaces an existing file once it is complete. The default is herbarium-<time>.tar in the current
folder. With -, the archive is written to standard output. A FOLDER (an existing one, or a path that ends with a slash)
contains the same files. Run the command again with the same folder to update the backup; segment files that are already
there are not copied again.

The backup contains hashes of the keys, not the keys themselves. Verify it with 'herbarium restore --check' and restore it with
'herbarium restore'.`,
		Example: `  herbarium backup
  herbarium backup - | zstd > /backup/herbarium.tar.zst
  herbarium backup /backup/herbarium/
  herbarium backup cluster.tar --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args:              expectArgs(0, 1, "a file, a folder or -"),
		ValidArgsFunction: completeArgs(offerPaths()),
		RunE: func(cmd *cobra.Command, args []string) error {
			to := "herbarium-" + time.Now().UTC().Format("20060102T150405Z") + ".tar"
			if len(args) == 1 {
				to = args[0]
			}
			return r.backUp(cmd, to)
		},
	}
	return r.jsonFlag(cmd, "; with -, on standard error")
}

func (r *runner) backUp(cmd *cobra.Command, to string) error {
	c, err := r.placedConfig(cmd)
	if err != nil {
		return err
	}
	archive := r.Out
	if to == migrate.StandardStream {
		if telemetry.IsTerminal(archive) {
			return usagef("standard output is a terminal; write the backup to a file or pipe it to a command")
		}
		r.Out = r.Err
	}
	m, err := r.runMigration("backup", func(o migrate.Options) (migrate.Result, error) {
		return migrate.Backup(cmd.Context(), migrate.Place{Folder: c.Data, Database: c.Database, Blobs: c.Blobs}, to, archive, Version(), o)
	})
	if err != nil {
		return err
	}
	return r.print(backupResult{to, m}, "backed up %s\n  to %s", contents(m), to)
}

// backupResult is the JSON of a backup or restore.
type backupResult struct {
	Path string `json:"path"`
	migrate.Result
}

func newRestore(r *runner) *cobra.Command {
	var check, replace bool
	cmd := &cobra.Command{
		Use:   "restore FILE|FOLDER|-",
		Short: "Restore everything from a backup",
		Long: `Restore a backup written by 'herbarium backup' into an empty data folder. Everything is restored beside the content of the
folder first, compared with the backup, and takes effect at the end in one step: a restore that fails or is killed changes
nothing. If the data folder has data, the command changes nothing and exits with code 3; --replace replaces that data, and
requires that servers on it are stopped. Use --check to verify the backup only.

With --database and --blobs, the backup is restored into an empty database, or into one with an earlier state of the
backup. If such a restore is interrupted, run the same command again to continue. If the target contains anything that the
backup does not, nothing is changed, the first difference is printed and the exit code is 3. Stop its servers first.`,
		Example: `  herbarium restore herbarium.tar --data ./herbarium-data
  herbarium restore --check herbarium.tar
  zstdcat /backup/herbarium.tar.zst | herbarium restore -
  herbarium restore /backup/herbarium/ --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args:              expectArgs(1, 1, "a backup: a file, a folder or -"),
		ValidArgsFunction: completeArgs(offerPaths()),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := r.placedConfig(cmd)
			if err != nil {
				return err
			}
			to := migrate.Place{Folder: c.Data, Database: c.Database, Blobs: c.Blobs}
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
			case check:
				return r.print(backupResult{args[0], m}, "the backup is complete: %s", contents(m))
			}
			return r.print(backupResult{args[0], m}, "restored %s\n%s", contents(m), additions(m, began))
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "verify the backup only")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace the data in the data folder")
	return r.jsonFlag(cmd, "")
}
