package reading

import (
	"encoding/json"
	"net/http"
	"strconv"

	"herbarium/internal/httpapi/response"

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

func (h *Handlers) Facets(w *response.Writer, r *http.Request) error {
	view, err := h.gate.OpenDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := view.Query.Facets(view.Fields)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, "?"+req.Request.Canonical(), view.Version, response.ContentJSON)) {
		return err
	}
	release, err := w.Reserve(r.Context(), req.MaxBytes())
	if err != nil {
		return err
	}
	defer release()
	found, err := view.Facets(r.Context(), req)
	if err != nil {
		return err
	}
	body, err := w.EncodeJSON(r.Context(), renderFacets(found, req))
	defer body.Free()
	release()
	if err == nil {
		w.Send(r, http.StatusOK, response.ContentJSON, body.Bytes())
	}
	return err
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

func (h *Handlers) Grid(w *response.Writer, r *http.Request) error {
	view, err := h.gate.OpenDataset(w, r)
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := view.Query.Grid(view.Fields)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, "?"+req.Request.Canonical(), view.Version, response.ContentJSON)) {
		return err
	}
	release, err := w.Reserve(r.Context(), req.MaxBytes())
	if err != nil {
		return err
	}
	defer release()
	found, err := view.Grid(r.Context(), req)
	if err != nil {
		return err
	}
	body := w.NewBuffer(r.Context())
	defer body.Free()
	if err := writeGrid(body, found, req); err != nil {
		return err
	}
	release()
	w.Send(r, http.StatusOK, response.ContentJSON, body.Bytes())
	return nil
}

// gridMeta is the member meta of the response to a grid request.
type gridMeta struct {
	Total   int        `json:"total"`
	Inside  int        `json:"inside"`
	Columns int        `json:"columns"`
	Rows    int        `json:"rows"`
	Bounds  [4]float64 `json:"bounds"`
}

// writeGrid writes the response to a grid request: column, row and count of each cell that is not
// empty, and meta. There may be tens of thousands of cells, so they are not encoded as a whole.
func writeGrid(out *response.Buffer, found query.Grid, req *query.GridRequest) error {
	b := req.Bounds
	meta, err := json.Marshal(gridMeta{found.Total, found.Inside, req.Columns, req.Rows, [4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY}})
	if err == nil {
		_, err = out.WriteString(`{"data":[`)
	}
	var cell []byte
	for i, c := range found.Cells {
		if cell = cell[:0]; i > 0 {
			cell = append(cell, ',')
		}
		cell = strconv.AppendInt(append(cell, '['), int64(c.Column), 10)
		cell = strconv.AppendInt(append(cell, ','), int64(c.Row), 10)
		cell = append(strconv.AppendInt(append(cell, ','), int64(c.Count), 10), ']')
		if err == nil {
			_, err = out.Write(cell)
		}
	}
	if err == nil {
		_, err = out.WriteString(`],"meta":`)
	}
	if err == nil {
		_, err = out.Write(append(meta, '}'))
	}
	return err
}
