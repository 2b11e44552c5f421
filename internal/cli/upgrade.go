package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/progress"
)

// phaseRebuild is the phase of an upgrade.
const phaseRebuild = "rebuilding indexes"

func newUpgrade(r *runner) *cobra.Command {
	var kept bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Rebuild indexes for this release before its server starts",
		Long: `Upgrade the schema of the database, and rebuild the indexes of all live versions that another release has published, so that a
server of this release finds everything done. The server does the same in the background after its start, and each version
when it is requested; this command only does it earlier.

Servers of the other release can keep running: the new files are stored beside theirs, and nothing is replaced. The command can
be interrupted and run again. Versions keep their names, records and history.

The exit code is 1 if a version cannot be read; the others are rebuilt nevertheless.`,
		Example: `  herbarium upgrade
  herbarium upgrade --kept
  herbarium upgrade --database postgres://herbarium@db/herbarium --blobs s3://bucket`,
		Args: expectArgs(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.openData(cmd, false, false, func(ctx context.Context, d *app.Data) error {
				display := r.newProgress("upgrade")
				defer display.end()
				steps := progress.New(display.update, phaseRebuild)
				u, err := d.Library.Upgrade(ctx, kept, func(done, total int) {
					steps.Update(phaseRebuild, func(p *progress.Progress) {
						p.Done, p.Total = int64(done),
							int64(total)
					})
				})
				if err != nil && u.Failed == 0 {
					return err
				}
				display.end()
				summary := fmt.Sprintf("%s checked, %s rebuilt", herb.Plural(u.Versions, "version", "versions"),
					herb.Count(u.Rebuilt))
				if u.Failed > 0 {
					summary += fmt.Sprintf(", %s cannot be read", herb.Count(u.Failed))
				}
				if printed := r.print(u, "%s", summary); printed != nil {
					return printed
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&kept, "kept", false, "also rebuild the indexes of versions that are kept, but not live")
	return r.jsonFlag(cmd, "")
}
