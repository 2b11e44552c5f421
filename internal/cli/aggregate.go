package cli

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/export"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/telemetry"
	"herbarium/internal/typed"
)

func newAggregate(r *runner) *cobra.Command {
	var by, measures, having []string
	var sort, top, fill, zone, rawQuery, format string
	cmd := datasetCommand(r, &cobra.Command{
		Use:   "aggregate NAMESPACE/DATASET",
		Short: "Count, sum and average groups of records",
		Long: `Compute measures of groups of records, as GET …/aggregate does: counts, exact sums, means, standard deviations,
medians, percentiles, minimums, maximums and ratios of sums. On a terminal, the command prints a table with a bar for the first measure; otherwise it writes CSV.
It reads the data folder directly, whether a server is running or not.`,
		Example: `  herbarium aggregate garden/catalog --by category
  herbarium aggregate garden/catalog --by date:year --measure mean:price --query 'category=tree'
  herbarium aggregate garden/catalog --by author --measure count --measure sum:price --sort=-sum:price --top 10 --json`,
	}, func(ctx context.Context, d *app.Data, ref herb.Ref) error {
		params, err := query.ParseParams(strings.TrimPrefix(rawQuery, "?"))
		if err != nil {
			return usage(err)
		}
		for _, p := range []struct {
			name   string
			values []string
		}{
			{query.ParamBy, by}, {query.ParamMeasure, measures}, {query.ParamHaving, having},
			{query.ParamGroupSort, []string{sort}},
			{query.ParamTopGroups, []string{top}}, {query.ParamFill, []string{fill}}, {query.ParamZone, []string{zone}},
		} {
			for _, value := range p.values {
				params = params.WithValue(p.name, value)
			}
		}
		return r.aggregate(ctx, d, ref, params.Encode(), format)
	})
	cmd.Flags().StringArrayVar(&by, "by", nil,
		"`field` to group by, such as category, date:month, date:weekday or price:10; repeat it for a second one")
	cmd.Flags().StringArrayVar(&measures, "measure", nil,
		"`measure` to compute, such as sum:price or ratio:price/weight; repeat it for more (default count)")
	cmd.Flags().StringArrayVar(&having, "having", nil,
		"`condition` on a measure, such as count[gte]=10; repeat it for more")
	stringFlag(cmd, &sort, "sort", "`labels and measures` to sort by, such as -sum:price or by2,by1", offer())
	stringFlag(cmd, &top, "top", fmt.Sprintf("`number` of groups to print, up to %d (default %d)",
		query.MaxGroupsReturned, query.DefaultGroups), offer())
	stringFlag(cmd, &fill, "fill", "`zero` adds empty intervals and combinations", offer("zero"))
	stringFlag(cmd, &zone, "zone", "time `zone` of datetimes that have one, such as Europe/Berlin (default UTC)",
		offer())
	stringFlag(cmd, &rawQuery, "query", "filters and search: query `parameters` as in a listing URL", offer())
	stringFlag(cmd, &format, "format", "`format`: table or csv (default: table on a terminal, else csv)",
		offer("table", "csv"))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains([]string{"", "table", "csv"}, format) {
			return usage(herb.Invalidf("unknown format %q; choose table or csv", format))
		}
		return nil
	}
	return r.jsonFlag(cmd, "")
}

func (r *runner) aggregate(ctx context.Context, d *app.Data, ref herb.Ref, rawQuery, format string) error {
	var req *query.AggregateRequest
	var found query.Aggregate
	var words query.Words
	var types []typed.Column
	parse := func(s query.String, fields []herb.Field, _ herb.Order) (*query.AggregateRequest, error) {
		return s.Aggregate(fields)
	}
	err := withListing(ctx, d, ref, rawQuery, parse,
		func(view library.View, parsed *query.AggregateRequest) (err error) {
			req = parsed
			if req.Request.Typed && !r.asJSON {
				return usage(query.ErrTyped("tables"))
			}
			types, err = req.Request.Types(view)
			if err != nil {
				return err
			}
			found, err = view.Aggregate(ctx, req)
			if err != nil {
				return err
			}
			words, err = view.Words(req.Request)
			return err
		})
	if err != nil {
		return err
	}
	if format == "" && telemetry.IsTerminal(r.Out) {
		format = "table"
	}
	header, rows := req.Table(found)
	switch {
	case r.asJSON && types != nil:
		return writeJSON(r.Out, query.NewTypedAggregate(req, found, words, types))
	case r.asJSON:
		return writeJSON(r.Out, query.NewAggregateResponse(req, found, words))
	case format == "table":
		return writeBars(r.Out, header, rows, len(req.By))
	default:
		_, err := export.WriteTable(r.Out, header, len(rows), func(yield func([]string, error) bool) {
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		})
		return err
	}
}

// writeBars writes an aligned table with a bar for the first measure, which follows the labels.
func writeBars(w io.Writer, header []string, rows [][]string, labels int) error {
	const longest = 32
	greatest := new(big.Rat)
	for _, row := range rows {
		if v, ok := new(big.Rat).SetString(row[labels]); ok && v.Cmp(greatest) > 0 {
			greatest = v
		}
	}
	all := append([][]string{header}, rows...)
	widths := make([]int, len(header))
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(printable(cell)))
		}
	}
	for i, row := range all {
		var line strings.Builder
		for k, cell := range row {
			cell = printable(cell)
			blanks := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(cell))
			if k < labels {
				line.WriteString(cell + blanks + "  ")
			} else {
				line.WriteString(blanks + cell + "  ")
			}
		}
		if i > 0 && greatest.Sign() > 0 {
			if v, ok := new(big.Rat).SetString(row[labels]); ok && v.Sign() > 0 {
				share, _ := v.Quo(v, greatest).Float64()
				line.WriteString(strings.Repeat("█", max(1, int(share*longest+0.5))))
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
