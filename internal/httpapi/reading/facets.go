package reading

import (
	"net/http"

	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// facetsBody is the response to a facet request.
type facetsBody struct {
	Data []facet `json:"data"`
	Meta struct {
		Total    int               `json:"total"`
		Resolved map[string]string `json:"resolved,omitempty"`
		Words    query.Words       `json:"words,omitempty"`
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

func (h *Handlers) Facets(w *response.Writer, r *http.Request, view gate.DatasetView) error {
	req, err := view.Query.Facets(view.Fields)
	if err != nil || w.NotModified(r, response.EntityTag(w.Path, "?"+req.Request.ResultKey(), view.Version,
		response.ContentJSON)) {
		return err
	}
	found, release, err := operations.Facets(r.Context(), &view.View, req)
	if err != nil {
		return err
	}
	defer release()
	rendered := renderFacets(found, req)
	rendered.Meta.Words, err = view.Words(req.Request)
	if err != nil {
		return err
	}
	body, err := w.EncodeJSON(r.Context(), rendered)
	defer body.Free()
	release()
	if err == nil {
		w.Send(r, http.StatusOK, response.ContentJSON, body.Bytes())
	}
	return err
}

func renderFacets(found query.Facets, req *query.FacetRequest) facetsBody {
	body := facetsBody{Data: make([]facet, len(found.Fields))}
	body.Meta.Total, body.Meta.Resolved = found.Total, req.Request.Resolved()
	for i, f := range found.Fields {
		body.Data[i] = facet{Field: f.Field, Type: f.Type, Total: f.Total, Empty: f.Empty, Distinct: f.Distinct,
			Values: orEmpty(f.Values)}
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
