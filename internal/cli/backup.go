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
		return migrate.Backup(cmd.Context(), migrate.NewPlace(c.Data, c.Database, c.Blobs), to, archive, Version(), o)
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
