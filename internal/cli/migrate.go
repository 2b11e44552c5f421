package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

// migrateFlags are the two sides of a move as a command line says them.
type migrateFlags struct {
	from, to           string
	fromBlobs, toBlobs string
	check              bool
}

func newMigrate(r *runner) *cobra.Command {
	var given migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Move everything from one machine to many, or back",
		Long: `Copies all plants, idempotency keys, keys and datasets with all their versions from one place to another. A place is a data
folder, or the address of a PostgreSQL database with --blobs for the object store beside it. The source is only read, once
its tables are up to date with this program.

Everything is compared at the end, byte by byte, and the hash of it is printed. A move that was interrupted, however that
came about, goes on where it was when it is run again. What the target has already is compared first: if it holds anything
else than the source, the move is refused, nothing of it is changed, and the first difference is named (exit code 3).
--check only compares.

The source may be in use while most of it is copied; run the same command again and it catches up. Before the last run,
stop the servers on the source, or they go on creating plants that nobody moves. Start those on the target afterwards.`,
		Example: `  herbarium migrate --from ./herbarium-data --to postgres://herbarium@db/herbarium --blobs s3://bucket
  herbarium migrate --from ./herbarium-data --to postgres://herbarium@db/herbarium --blobs s3://bucket --check
  herbarium migrate --from postgres://herbarium@db/herbarium --blobs s3://bucket --to ./herbarium-data`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.migrate(cmd, given) },
	}
	cmd.Flags().StringVar(&given.from, "from", "", "`place` to copy from: a data folder or a postgres:// address")
	cmd.Flags().StringVar(&given.to, "to", "", "`place` to copy to; a folder that is not there is made")
	cmd.Flags().StringVar(&given.fromBlobs, "from-blobs", "", "`URL` of the object store beside --from, where both are databases")
	cmd.Flags().StringVar(&given.toBlobs, "to-blobs", "", "`URL` of the object store beside --to, where both are databases")
	cmd.Flags().BoolVar(&given.check, "check", false, "only compare")
	return cmd
}

// places reads both sides. The setting --blobs, wherever it was made, belongs to the one that is a database.
func (f migrateFlags) places(c app.Config, blobsGiven bool) (from, to app.Place, err error) {
	if f.from == "" || f.to == "" {
		return from, to, usagef("say what is moved with --from and --to: each is a data folder or a postgres:// address")
	}
	fromBlobs, toBlobs := app.Address(f.fromBlobs), app.Address(f.toBlobs)
	switch a, b := app.IsDatabase(f.from), app.IsDatabase(f.to); {
	case a && b && blobsGiven:
		return from, to, usagef("both sides are databases; say which object store is whose with --from-blobs and --to-blobs")
	case !a && !b && blobsGiven:
		return from, to, usagef("--blobs belongs to a database, and both sides are folders; leave it out")
	case a && !b && fromBlobs == "":
		fromBlobs = c.Blobs
	case b && !a && toBlobs == "":
		toBlobs = c.Blobs
	}
	if from, err = app.ParsePlace(f.from, fromBlobs); err != nil {
		return from, to, usagef("--from: %w", err)
	}
	if to, err = app.ParsePlace(f.to, toBlobs); err != nil {
		return from, to, usagef("--to: %w", err)
	}
	if from == to {
		return from, to, usagef("--from and --to are the same place")
	}
	return from, to, nil
}

func (r *runner) migrate(cmd *cobra.Command, given migrateFlags) error {
	c, _, err := r.config(cmd)
	if err != nil {
		return err
	}
	from, to, err := given.places(c, cmd.Flags().Changed("blobs"))
	if err != nil {
		return err
	}
	shown := r.newProgress("migrate")
	began := time.Now()
	moved, err := app.Move(cmd.Context(), from, to, app.MoveOptions{Check: given.check, Progress: shown.update})
	shown.end()
	if err != nil {
		if herb.CodeOf(err) == herb.CodeRefused {
			return &refusedError{err}
		}
		return err
	}
	r.tellMoved(moved, given.check, time.Since(began))
	return nil
}

// tellMoved tells what both sides have now.
func (r *runner) tellMoved(m app.Moved, check bool, took time.Duration) {
	all := fmt.Sprintf("%s plants, %s, %s with %s (%s)", herb.Count(m.Plants), count(m.Keys, "key"),
		count(m.Datasets, "dataset"), count(m.Versions, "version"), byteCount(m.Bytes))
	if check {
		fmt.Fprintf(r.Out, "source and target are the same: %s\n", all)
	} else {
		fmt.Fprintf(r.Out, "moved %s\n  new: %s plants, %s, %s, in %s\n", all, herb.Count(m.NewPlants), count(m.NewKeys, "key"),
			count(m.NewFiles, "file"), took.Round(100*time.Millisecond))
	}
	fmt.Fprintf(r.Out, "  hash on both sides: %s\n", m.Hash)
	if len(m.Behind) > 0 {
		fmt.Fprintf(r.Err, "The source has changed in the meantime (%s). Stop its servers and run this again.\n", strings.Join(m.Behind, ", "))
	}
}

// count writes a number of things.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return herb.Count(n) + " " + what
}
