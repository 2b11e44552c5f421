package httpapi

import (
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// facetsBody is the response to a facet request.
type facetsBody struct {
	Data []facet `json:"data"`
	Meta struct {
		Total int `json:"total"`
	} `json:"meta"`
}

type facet struct {
	Field    string             `json:"field"`
	Type     herb.Type          `json:"type"`
	Total    int                `json:"total"`
	Empty    int                `json:"empty"`
	Distinct int                `json:"distinct"`
	Matching *int               `json:"matching,omitempty"` // if values are searched for
	Values   []query.ValueCount `json:"values"`
	*facetRange
}

// facetRange is the additional members of number and date facets.
type facetRange struct {
	Min       string         `json:"min"`
	Max       string         `json:"max"`
	Scale     query.Scale    `json:"scale"`
	Histogram []query.Bucket `json:"histogram"`
}

func (a *API) facets(w *response, r *http.Request) error {
	view, raw, err := a.openDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := query.ParseFacets(raw, view.Fields)
	if err != nil || w.notModified(r, a.entityTag(w.path, raw, view.Version, contentJSON)) {
		return err
	}
	found, err := view.Facets(r.Context(), req)
	if err != nil {
		return err
	}
	return w.sendJSON(r, renderFacets(found, req))
}

func renderFacets(found query.Facets, req *query.FacetRequest) facetsBody {
	body := facetsBody{Data: make([]facet, len(found.Fields))}
	body.Meta.Total = found.Total
	for i, f := range found.Fields {
		body.Data[i] = facet{Field: f.Field, Type: f.Type, Total: f.Total, Empty: f.Empty, Distinct: f.Distinct, Values: orEmpty(f.Values)}
		if req.Containing != "" {
			body.Data[i].Matching = &f.Matching
		}
		if query.HasRange(f.Type) {
			body.Data[i].facetRange = &facetRange{f.Min, f.Max, f.Scale, orEmpty(f.Histogram)}
		}
	}
	return body
}

// orEmpty returns list, or an empty list if it is nil, so that JSON has [] instead of null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// gridBody is the response to a grid request.
type gridBody struct {
	Data [][3]int `json:"data"` // column, row and count of each cell that is not empty
	Meta gridMeta `json:"meta"`
}

type gridMeta struct {
	Total   int        `json:"total"`
	Inside  int        `json:"inside"`
	Columns int        `json:"columns"`
	Rows    int        `json:"rows"`
	Bounds  [4]float64 `json:"bounds"`
}

func (a *API) grid(w *response, r *http.Request) error {
	view, raw, err := a.openDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := query.ParseGrid(raw, view.Fields)
	if err != nil || w.notModified(r, a.entityTag(w.path, raw, view.Version, contentJSON)) {
		return err
	}
	found, err := view.Grid(r.Context(), req)
	if err != nil {
		return err
	}
	b := req.Bounds
	body := gridBody{
		Data: make([][3]int, len(found.Cells)),
		Meta: gridMeta{found.Total, found.Inside, req.Columns, req.Rows, [4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY}},
	}
	for i, c := range found.Cells {
		body.Data[i] = [3]int{c.Column, c.Row, c.Count}
	}
	return w.sendJSON(r, body)
}
