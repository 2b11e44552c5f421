package httpapi

import (
	"fmt"
	"net/http"

	"herbarium/internal/herb"
	"herbarium/internal/library"
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

// facets handles facet requests.
func (a *API) facets(w *response, r *http.Request) error {
	return sendCounts(a, w, r, facetsPattern, query.ParseFacets, func(view library.View, req *query.FacetRequest) (any, error) {
		found, err := view.Facets(r.Context(), req)
		return renderFacets(found, req), err
	})
}

// sendCounts sends counts of the records that a request selects, as JSON. pattern is the route.
func sendCounts[R fmt.Stringer](
	a *API, w *response, r *http.Request, pattern string,
	parse func(raw string, fields []herb.Field) (R, error), count func(library.View, R) (any, error),
) error {
	view, raw, err := a.openDataset(w, r, r.URL.RawQuery)
	if err != nil {
		return err
	}
	defer view.Release()
	req, err := parse(raw, view.Fields)
	if err != nil {
		return err
	}
	if w.notModified(r, a.entityTag(view.Ref.Namespace, view.Ref.Name, view.Version, pattern, req.String())) {
		return nil
	}
	counts, err := count(view, req)
	if err != nil {
		return err
	}
	body, err := encodeJSON(counts)
	if err != nil {
		return err
	}
	w.send(r, http.StatusOK, contentJSON, body)
	return nil
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
