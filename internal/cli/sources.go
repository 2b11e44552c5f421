package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

func newDatasetsDismiss(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dismiss SOURCE",
		Short: "Clear why a source is not published",
		Long: `Clear why the source of a dataset is not published, for a source that no server watches any more. SOURCE is its dataset or
its file, as 'herbarium datasets list' prints it. Reasons of published, removed and deleted sources are cleared without the
command. A server that watches the source records the reason again when it tries to publish it.`,
		Example: `  herbarium datasets dismiss shop/prices
  herbarium datasets dismiss /srv/data/prices.csv`,
		Args: expectArgs(1, 1,
			"one dataset or file; 'herbarium datasets list' lists those that are not published"),
		ValidArgsFunction: completeArgs(r.completeDataset()),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
			sourceErrors, err := d.Store.SourceErrors(ctx)
			if err != nil {
				return err
			}
			dismissed := slices.DeleteFunc(sourceErrors, func(e herb.SourceError) bool {
				return e.Path != args[0] &&
					e.Ref.String() != args[0]
			})
			if len(dismissed) == 0 {
				return herb.Errorf(herb.CodeNotFound,
					"no failed source %q; 'herbarium datasets list' lists all", args[0])
			}
			var failed error
			for _, e := range dismissed {
				failed = errors.Join(failed, d.Store.ClearSourceError(ctx, e.Path))
			}
			fmt.Fprintf(r.Out, "dismissed %s\n", herb.Plural(len(dismissed), "reason", "reasons"))
			return failed
		})
	}
	return cmd
}

// errFailedSources returns the error of a command that has found sources that are not published;
// nil if there are none.
func errFailedSources(n int) error {
	if n == 0 {
		return nil
	}
	return &exitError{fmt.Errorf("%s could not be published", herb.Plural(n, "source", "sources")), exitSources}
}
