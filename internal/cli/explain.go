package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

func newExplain(r *runner) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain NAMESPACE/DATASET QUERY",
		Short: "Show how a listing is computed, with counts and times",
		Long: `Compute a listing and print its steps in the order in which they were executed: the conditions, the cheapest first, and the
page. Each step shows how it was computed, the number of records left after it, and its time. A query has the syntax of a
listing URL; _version=VERSION selects a stored version. The command reads the data folder directly, whether a server is
running or not.`,
		Example: `  herbarium explain garden/catalog 'category=tree&sort=price'
  herbarium explain garden/catalog 'search=rose "climbing plant"&price[lt]=20&page=3'`,
		Args: expectArgs(2, 2, "one namespace/dataset and a query"),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return r.completeDataset()(cmd, args, typed)
			case 1:
				return r.completeQuery()(cmd, args, typed)
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ref, err := herb.ParseRef(args[0])
		if err != nil {
			return usage(err)
		}
		return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
			return checkDataset(ctx, d, ref, r.explain(ctx, d, ref, args[1], asJSON))
		})
	}
	jsonFlag(cmd, &asJSON, "")
	return cmd
}

// explain prints the steps of a listing.
func (r *runner) explain(ctx context.Context, d *app.Data, ref herb.Ref, asked string, asJSON bool) error {
	view, req, err := openListing(ctx, d, ref, asked)
	if err != nil {
		return err
	}
	defer view.Release()
	e, err := view.Explain(ctx, req)
	if err != nil {
		return err
	}
	if asJSON {
		return writeExplanation(r.Out, e)
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "STEP\tMETHOD\tRECORDS\tTIME")
	sum := time.Duration(0)
	for _, s := range e.Steps {
		sum += s.Time
		fmt.Fprintf(w, "%s\t%s\t%s\t%v\n", s.Name, s.Method, herb.Count(s.Records), s.Time.Round(time.Microsecond))
	}
	fmt.Fprintf(w, "total\t\t%s\t%v\n", herb.Count(e.Total), sum.Round(time.Microsecond))
	return w.Flush()
}

// openListing opens a dataset in the version that a query names, or in the live one, and parses the query. The caller must
// release the view.
func openListing(ctx context.Context, d *app.Data, ref herb.Ref, asked string) (view library.View, req *query.Request, err error) {
	version, rest, err := query.CutVersion(strings.TrimPrefix(asked, "?"))
	if err != nil {
		return view, nil, usage(err)
	}
	if version == "" {
		view, err = d.Library.Acquire(ctx, ref)
	} else {
		view, err = d.Library.AcquireVersion(ctx, ref, version)
	}
	if err != nil {
		return view, nil, err
	}
	if req, err = query.ParseOrdered(rest, view.Fields, view.Order); err != nil {
		view.Release()
		return view, nil, usage(err)
	}
	return view, req, nil
}

// writeExplanation writes the output of explain with --json.
func writeExplanation(w io.Writer, e segment.Explanation) error {
	type step struct {
		Step         string `json:"step"`
		Method       string `json:"method"`
		Records      int    `json:"records"`
		Microseconds int64  `json:"microseconds"`
	}
	var steps []step
	for _, s := range e.Steps {
		steps = append(steps, step{s.Name, s.Method, s.Records, s.Time.Microseconds()})
	}
	return writeJSON(w, struct {
		Total int    `json:"total"`
		Steps []step `json:"steps"`
	}{e.Total, steps})
}
