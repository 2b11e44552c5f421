package cli

import (
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/remote"
)

// defaultDiffLimit is how many changes 'datasets diff' prints.
const defaultDiffLimit = 50

func newDatasetsDiff(r *runner) *cobra.Command {
	var rawQuery, from, to string
	var limit int
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "diff NAMESPACE/DATASET FROM [TO]",
		Short: "Show which records changed between two versions",
		Long: `Show how the records of two versions differ: their counts, the fields that were added, removed or have another type, and then
the changed records (~) with their old and new values, the added (+) and the removed ones (-). Without TO, the live version is
compared. With --to, an open dataset requires no key. A value that is empty, ambiguous or not printable is quoted, and long values are cut. With --json, all changes are
printed as they are, in the form of GET …/changes.ndjson.`,
		Example: `  herbarium datasets diff garden/catalog 20260314T092653Z-k7q2mzx4ab
  herbarium datasets diff garden/catalog 20260314T092653Z-k7q2mzx4ab 20260315T101500Z-bcdefghijk --query 'category=tree'
  herbarium datasets diff garden/catalog 20260314T092653Z-k7q2mzx4ab --limit 0 | less
  herbarium datasets diff garden/catalog 20260314T092653Z-k7q2mzx4ab --json --to https://data.example.org`,
		PreRunE: func(_ *cobra.Command, args []string) error {
			from, to = args[1], ""
			if len(args) > 2 {
				to = args[2]
			}
			if limit < 0 {
				return usagef("--limit is %d; give the number of changes to print, or 0 for all", limit)
			}
			rawQuery = strings.TrimPrefix(rawQuery, "?")
			return nil
		},
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		return r.withVersions(ctx, d, ref, from, to, rawQuery, func(lines iter.Seq2[[]byte, error]) error {
			return r.writeDiff(ref, lines, limit)
		})
	})
	cmd.Args = expectArgs(2, 3,
		"one namespace/dataset and one or two versions; 'herbarium datasets history' lists them")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset(), r.completeVersion(), r.completeVersion())
	r.addServer(cmd, remoteFlags{isKeyOptional: true}, func(ctx context.Context, c *remote.Client, ref herb.Ref) error {
		return r.writeDiff(ref, c.Changes(ctx, ref, from, to, rawQuery), limit)
	})
	stringFlag(cmd, &rawQuery, "query", "filters, search and fields: query `parameters` as in the URL of GET …/changes",
		offer())
	cmd.Flags().IntVar(&limit, "limit", defaultDiffLimit, "`number` of changes to print without --json; 0: all")
	return r.jsonFlag(cmd, ", one change per line after the counts")
}

// withVersions compares two versions and calls run with the lines of changes.ndjson.
func (r *runner) withVersions(
	ctx context.Context, d *app.Data, ref herb.Ref, from, to, rawQuery string, run func(iter.Seq2[[]byte, error]) error,
) error {
	earlier, err := d.Library.AcquireVersion(ctx, ref, from)
	if err != nil {
		return err
	}
	defer earlier.Release()
	later, err := d.Library.Acquire(ctx, ref)
	if err == nil && to != "" {
		later.Release()
		later, err = d.Library.AcquireVersion(ctx, ref, to)
	}
	if err != nil {
		return err
	}
	defer later.Release()
	req, err := query.Split(rawQuery).Changes(earlier.Fields, later.Fields, true)
	if err != nil {
		return usage(err)
	}
	comparison, release, err := d.Versions.Comparisons().Compare(ctx, earlier, later)
	if err != nil {
		return err
	}
	defer release()
	selected, err := changes.Select(ctx, comparison, earlier, later, req)
	if err != nil {
		return err
	}
	defer selected.Release()
	lines, err := selected.Stream(ctx)
	if err != nil {
		return err
	}
	return run(lines)
}
