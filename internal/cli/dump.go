package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/migrate"
)

func newDump(r *runner) *cobra.Command {
	return &cobra.Command{
		Use:   "dump FOLDER",
		Short: "Back up everything to a folder",
		Long: `Write all plants, idempotency keys, keys and datasets with all their versions to a folder, which is created if it does not
exist. The folder contains dump.ndjson and the segment files. Servers can keep running. Run the command again with the same
folder to update the dump; files that are already there are not copied again.

The dump contains hashes of the keys, not the keys themselves. Restore a dump with 'herbarium load'.`,
		Example: `  herbarium dump /backup/herbarium
  herbarium dump /backup/herbarium --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args:              exactly(1, "a folder"),
		ValidArgsFunction: firstArg(completeFolders),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := r.config(cmd)
			if err != nil {
				return err
			}
			return r.runMigration("dump", func(o migrate.Options) (migrate.Result, error) {
				return migrate.Dump(cmd.Context(), migrate.NewPlace(c.Data, c.Database, c.Blobs), args[0], Version(), o)
			}, func(m migrate.Result, _ time.Duration) { fmt.Fprintf(r.Out, "dumped %s\n", contents(m)) })
		},
	}
}

func newLoad(r *runner) *cobra.Command {
	return &cobra.Command{
		Use:   "load FOLDER",
		Short: "Restore everything from a dump",
		Long: `Load a folder written by 'herbarium dump' into an empty installation, or into one with an earlier state of it. At the end,
everything is compared with the dump. If a load is interrupted, run the same command again to continue. If the target
contains anything that the dump does not, nothing is changed, the first difference is printed and the exit code is 3.

Stop the servers on the target first.`,
		Example:           `  herbarium load /backup/herbarium --data ./herbarium-data`,
		Args:              exactly(1, "the folder of a dump"),
		ValidArgsFunction: firstArg(completeFolders),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := r.config(cmd)
			if err != nil {
				return err
			}
			return r.runMigration("load", func(o migrate.Options) (migrate.Result, error) {
				return migrate.Load(cmd.Context(), args[0], migrate.NewPlace(c.Data, c.Database, c.Blobs), o)
			}, func(m migrate.Result, took time.Duration) {
				fmt.Fprintf(r.Out, "loaded %s\n", contents(m))
				r.printNew(m, took)
			})
		},
	}
}
