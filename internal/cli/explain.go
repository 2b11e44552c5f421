package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

func newExplain(r *runner) *cobra.Command {
	var asked string
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "explain NAMESPACE/DATASET QUERY",
		Short: "Show how a listing is computed, with counts and times",
		Long: `Compute a listing and print its steps in the order in which they were executed: the conditions, the cheapest first, and the
page. Each step shows how it was computed, the number of records left after it, and its time. A query has the syntax of a
listing URL; _version=VERSION selects a stored version. The command reads the data folder directly, whether a server is
running or not.`,
		Example: `  herbarium explain garden/catalog 'category=tree&sort=price'
  herbarium explain garden/catalog 'search=rose "climbing plant"&price[lt]=20&page=3'`,
		PreRun: func(_ *cobra.Command, args []string) { asked = args[1] },
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error { return r.explain(ctx, d, ref, asked) })
	cmd.Args = expectArgs(2, 2, "one namespace/dataset and a query")
	cmd.ValidArgsFunction = completeArgs(r.completeDataset(), r.completeQuery())
	return r.jsonFlag(cmd, "")
}

// explain prints the steps of a listing.
func (r *runner) explain(ctx context.Context, d *app.Data, ref herb.Ref, asked string) error {
	view, req, err := openListing(ctx, d, ref, asked)
	if err != nil {
		return err
	}
	defer view.Release()
	e, err := view.Explain(ctx, req)
	if err != nil {
		return err
	}
	if r.asJSON {
		type step struct {
			Step         string `json:"step"`
			Method       string `json:"method"`
			Records      int    `json:"records"`
			Microseconds int64  `json:"microseconds"`
		}
		out := struct {
			Total int    `json:"total"`
			Steps []step `json:"steps"`
		}{Total: e.Total}
		for _, s := range e.Steps {
			out.Steps = append(out.Steps, step{s.Name, s.Method, s.Records, s.Time.Microseconds()})
		}
		return writeJSON(r.Out, out)
	}
	total := segment.Step{Name: "total", Records: e.Total}
	for _, s := range e.Steps {
		total.Time += s.Time
	}
	return writeTable(r.Out, "STEP\tMETHOD\tRECORDS\tTIME", append(e.Steps, total), func(s segment.Step) []any {
		return []any{s.Name, s.Method, herb.Count(s.Records), s.Time.Round(time.Microsecond)}
	})
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
