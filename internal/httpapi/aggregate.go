package httpapi

import (
	"net/http"
	"slices"

	"herbarium/internal/export"
	"herbarium/internal/query"
)

// aggregate sends the measures of groups of records as JSON.
func (a *API) aggregate(w *response, r *http.Request) error {
	view, req, err := a.openAggregate(w, r, contentJSON)
	if req == nil {
		return err
	}
	defer view.Release()
	found, err := view.Aggregate(r.Context(), req)
	if err != nil {
		return err
	}
	return w.sendJSON(r, query.NewAggregateResponse(req, found))
}

// aggregateCSV sends the same table as CSV.
func (a *API) aggregateCSV(w *response, r *http.Request) error {
	contentType := export.CSV.ContentType()
	view, req, err := a.openAggregate(w, r, contentType)
	if req == nil {
		return err
	}
	defer view.Release()
	found, err := view.Aggregate(r.Context(), req)
	if err != nil {
		return err
	}
	header, rows := req.Table(found)
	buf := w.newBuffer(r.Context())
	defer buf.free()
	err = export.WriteTable(buf, header, slices.Values(rows))
	if err != nil {
		return err
	}
	disposition := "attachment" // a page names the file by the title of its chart
	if !w.route.page {
		disposition += `; filename="` + view.Ref.Name + `-aggregate.csv"`
	}
	w.set("Content-Disposition", disposition)
	w.send(r, http.StatusOK, contentType, buf.Bytes())
	return nil
}

// openAggregate opens the dataset and parses the request. Without an error, the request is nil if
// the client has the response already; otherwise the caller must release the view.
func (a *API) openAggregate(w *response, r *http.Request, contentType string) (DatasetView, *query.AggregateRequest, error) {
	view, err := a.openDataset(w, r)
	if err != nil {
		return view, nil, err
	}
	req, err := view.Query.Aggregate(view.Fields)
	if err != nil || w.notModified(r, entityTag(w.path, req.Request.Canonical(), view.Version, contentType)) {
		view.Release()
		return view, nil, err
	}
	return view, req, nil
}
