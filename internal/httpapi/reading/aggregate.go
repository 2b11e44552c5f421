package reading

import (
	"net/http"
	"slices"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/export"
	"herbarium/internal/query"
)

// Aggregate sends the measures of groups of records as JSON.
func (h *Handlers) Aggregate(w *response.Writer, r *http.Request) error {
	view, req, err := h.openAggregate(w, r, response.ContentJSON)
	if req == nil {
		return err
	}
	defer view.Release()
	types, err := req.Request.Types(view)
	if err != nil {
		return err
	}
	found, err := view.Aggregate(r.Context(), req)
	if err != nil {
		return err
	}
	if types != nil {
		return w.SendJSON(r, query.NewTypedAggregate(req, found, types))
	}
	return w.SendJSON(r, query.NewAggregateResponse(req, found))
}

// AggregateCSV sends the same table as CSV.
func (h *Handlers) AggregateCSV(w *response.Writer, r *http.Request) error {
	contentType := export.CSV.ContentType()
	view, req, err := h.openAggregate(w, r, contentType)
	if req == nil {
		return err
	}
	defer view.Release()
	found, err := view.Aggregate(r.Context(), req)
	if err != nil {
		return err
	}
	header, rows := req.Table(found)
	buf := w.NewBuffer(r.Context())
	defer buf.Free()
	err = export.WriteTable(buf, header, slices.Values(rows))
	if err != nil {
		return err
	}
	disposition := "attachment" // a page names the file by the title of its chart
	if !w.Route.Page {
		disposition += `; filename="` + view.Ref.Name + `-aggregate.csv"`
	}
	w.Set("Content-Disposition", disposition)
	w.Send(r, http.StatusOK, contentType, buf.Bytes())
	return nil
}

// openAggregate opens the dataset and parses the request. Without an error, the request is nil if
// the client has the response already; otherwise the caller must release the view.
func (h *Handlers) openAggregate(w *response.Writer, r *http.Request, contentType string) (gate.DatasetView, *query.AggregateRequest, error) {
	view, err := h.gate.OpenDataset(w, r)
	if err != nil {
		return view, nil, err
	}
	req, err := view.Query.Aggregate(view.Fields)
	if err == nil && req.Request.Typed && contentType != response.ContentJSON {
		err = query.ErrTyped("CSV")
	}
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, req.Request.Canonical(), view.Version, contentType)) {
		view.Release()
		return view, nil, err
	}
	return view, req, nil
}
