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
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Aggregate sends the measures of groups of records as JSON.
func (h *Handlers) Aggregate(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := parseAggregate(w, r, view, response.ContentJSON, query.String.Aggregate)
	if req == nil {
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
	if types != nil {
		return w.SendJSON(r, query.NewTypedAggregate(req, found, words, types))
	}
	return w.SendJSON(r, query.NewAggregateResponse(req, found, words))
}

// AggregateCSV sends all groups of the same request as a CSV file, like Export.
func (h *Handlers) AggregateCSV(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := parseAggregate(w, r, view, export.CSV.MediaType(), query.String.AggregateExport)
	if req == nil {
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

// parseAggregate parses the request. Without an error, the request is nil if the client has the
// response already.
func parseAggregate(
	w *response.Writer, r *http.Request, view gate.DatasetView, mediaType string,
	parse func(query.String, []herb.Field) (*query.AggregateRequest, error),
) (*query.AggregateRequest, error) {
	req, err := parse(view.Query, view.Fields)
	if err == nil && req.Request.Typed && mediaType != response.ContentJSON {
		err = query.ErrTyped("aggregate.csv")
	}
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.Request.ResultKey(), view.Version, mediaType)) {
		return nil, err
	}
	return req, nil
}
