package reading

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/export"
	"herbarium/internal/query"
)

// Aggregate sends the measures of groups of records as JSON.
func (h *Handlers) Aggregate(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := view.Query.Aggregate(view.Fields)
	if err != nil || isCurrent(w, r, view, req.Request) {
		return err
	}
	types, err := req.Request.Types(view)
	if err != nil {
		return err
	}
	found, err := view.Aggregate(r.Context(), req)
	if err != nil {
		return err
	}
	words, err := view.Words(req.Request)
	if err != nil {
		return err
	}
	var suggestions []query.Suggestion
	if found.Total == 0 {
		suggestions, err = h.suggest(w, r, view, req.Request)
		if err != nil {
			return err
		}
	}
	if types != nil {
		body := query.NewTypedAggregate(req, found, words, types)
		body.Meta.Suggestions = suggestions
		return w.SendJSON(r, body)
	}
	body := query.NewAggregateResponse(req, found, words)
	body.Meta.Suggestions = suggestions
	return w.SendJSON(r, body)
}

// AggregateCSV sends all groups of the same request as a CSV file, like Export.
func (h *Handlers) AggregateCSV(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := view.Query.AggregateExport(view.Fields)
	if err == nil && req.Request.Typed {
		err = query.ErrTyped("aggregate.csv")
	}
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.Request.ResultKey(), view.Version,
		export.CSV.MediaType())) {
		return err
	}
	releaseRow, err := w.Reserve(r.Context(), export.GroupMemory(&view.Dataset, req))
	if err != nil {
		return err
	}
	defer releaseRow()
	releaseGroups := func() {}
	defer func() { releaseGroups() }()
	name := view.Ref.Name + "-aggregate.csv"
	if w.Route.Page {
		name = "" // but the title of its chart
	}
	return h.sendFile(w, r, export.CSV, name, func(ctx context.Context) (writeFile, error) {
		groups, err := view.StreamGroups(ctx, req)
		if err != nil {
			return nil, err
		}
		releaseGroups = groups.Release
		w.Set("X-Total-Count", strconv.Itoa(groups.Groups))
		return func(out io.Writer) (export.Summary, error) {
			return export.WriteTable(out, req.Header(), groups.Len, cells(groups.Rows))
		}, nil
	})
}

// cells yields groups as rows of a table.
func cells(rows iter.Seq2[query.GroupRow, error]) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for row, err := range rows {
			if !yield(row.Cells(), err) {
				return
			}
		}
	}
}
