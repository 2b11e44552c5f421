package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
)

func newPublish(r *runner) *cobra.Command {
	var as, access string
	cmd := &cobra.Command{
		Use:   "publish PATH…",
		Short: "Publish files as datasets",
		Long: `Publishes a CSV, TSV, JSON or NDJSON file, a Data Package descriptor, or what is in a folder. A file X/Y.csv becomes
dataset x/y unless --as says otherwise. Running servers list the new version as soon as the command has ended; until
then, and if it fails, they list the old one. A file that has not changed is not published again.`,
		Example: `  herbarium publish examples/garden/catalog.csv
  herbarium publish prices.csv --as shop/prices --access key`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("give at least one file or folder to publish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			sources, err := find(paths, as)
			skipped, failed := ingest.SplitSkipped(err)
			r.notes(skipped)
			err = errors.Join(failed...)
			if len(sources) == 0 {
				return cmp.Or(err, usagef("there is nothing to publish in %s", strings.Join(paths, ", ")))
			}
			if access != "" {
				a, err := herb.ParseAccess(access)
				if err != nil {
					return &usageError{err}
				}
				for i := range sources {
					sources[i].Access = a
				}
			}
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				return errors.Join(err, r.publish(ctx, d, sources))
			})
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "publish one file under this `namespace/dataset`")
	cmd.Flags().StringVar(&access, "access", "", "who may list it: open or key (default: as the descriptor says, else open)")
	_ = cmd.RegisterFlagCompletionFunc("access", cobra.FixedCompletions([]string{"open", "key"}, cobra.ShellCompDirectiveNoFileComp))
	addSettings(cmd.Flags(), "keep")
	return cmd
}

// find returns what there is to publish. What could not be found does not keep the rest from being published.
func find(paths []string, as string) ([]ingest.Source, error) {
	if as == "" {
		return ingest.Discover(paths)
	}
	ref, err := herb.ParseRef(as)
	if err != nil {
		return nil, &usageError{err}
	}
	if len(paths) != 1 {
		return nil, usagef("--as names one dataset; give one file with it")
	}
	s, err := ingest.As(paths[0], ref)
	if err != nil {
		return nil, err
	}
	return []ingest.Source{s}, nil
}

func (r *runner) publish(ctx context.Context, d *app.Data, sources []ingest.Source) error {
	failed := 0
	for _, s := range sources {
		p, err := d.Publish(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed++
			fmt.Fprintf(r.Err, "herbarium: %s: %v\n", s.Ref, err)
			continue
		}
		fmt.Fprintln(r.Out, describe(p))
		for _, w := range p.Warnings {
			fmt.Fprintf(r.Err, "  note: %s\n", w)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d datasets not published", failed, len(sources))
	}
	return nil
}

// describe tells in a line what came of a publish.
func describe(p app.Published) string {
	fields := make([]string, len(p.Dataset.Fields))
	for i, f := range p.Dataset.Fields {
		fields[i] = f.Name + " " + string(f.Type)
	}
	verb := "published"
	if p.Unchanged {
		verb = "unchanged"
	}
	return fmt.Sprintf("%s %s: %s records, version %s\n  fields: %s", verb, p.Dataset.Ref, thousands(p.Dataset.Records),
		p.Dataset.Version, strings.Join(fields, ", "))
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
