package operations

import (
	"context"
	"maps"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// Suggestion is a request with records that a client may mean whose request has none.
type Suggestion struct {
	Corrections map[string]string // by word or value of the request
	Changed     query.Params      // with their corrected values
	Params      query.Params      // of the request
	Total       int               // matching records
}

// Suggest returns what a client may mean whose request has no records: the request without typos,
// or else each misspelled parameter alone. params are the parameters of req, in any order. The
// suggestions have words of searchable fields and values of filterable ones, and depend on nothing
// but the version and the request. Mutable datasets have none, and neither has an overloaded
// server: the request is answered already.
func Suggest(
	ctx context.Context, v *library.View, req *query.Request, params query.Params,
) (suggestions []Suggestion, err error) {
	if v.Ref == herb.PlantsRef {
		return nil, nil
	}
	suggestions, err = suggest(ctx, v, req, params)
	if herb.CodeOf(err) == herb.CodeUnavailable {
		return nil, nil
	}
	return suggestions, err
}

func suggest(
	ctx context.Context, v *library.View, req *query.Request, params query.Params,
) (suggestions []Suggestion, err error) {
	forms, err := v.Words(req)
	if err != nil {
		return nil, err
	}
	c := &corrector{ctx: ctx, view: v, forms: forms, words: maxCorrectedWords, values: maxCorrectedValues}
	all := Suggestion{Corrections: map[string]string{}}
	var alone []Suggestion
	for i, p := range params {
		corrections := map[string]string{}
		corrected, err := c.correct(req, p, corrections)
		if err != nil {
			return nil, err
		}
		all.Params = append(all.Params, corrected)
		if corrected == p {
			continue
		}
		all.Changed = append(all.Changed, corrected)
		maps.Copy(all.Corrections, corrections)
		alone = append(alone, Suggestion{Corrections: corrections, Changed: query.Params{corrected},
			Params: onlySelecting(req, params, i, corrected)})
	}
	if all.Changed == nil {
		return nil, nil
	}
	err = all.count(ctx, v, req)
	if err != nil {
		return nil, err
	}
	if all.Total > 0 {
		return []Suggestion{all}, nil
	}
	if params.Get(query.ParamZone) != "" { // which may belong to a filter that is left out
		return nil, nil
	}
	for _, s := range alone {
		err := s.count(ctx, v, req)
		if err != nil {
			return nil, err
		}
		if s.Total > 0 {
			suggestions = append(suggestions, s)
		}
	}
	return suggestions, nil
}

// onlySelecting returns parameters of which one that was corrected is the only filter or search.
func onlySelecting(req *query.Request, params query.Params, at int, corrected query.Param) (only query.Params) {
	isArea := func(name string) bool {
		return slices.Contains([]string{query.ParamBox, query.ParamNear, query.ParamCoordinates}, name)
	}
	for i, p := range params {
		switch {
		case i == at:
			only = append(only, corrected)
		case isArea(p.Name) || !req.Selects(p.Name):
			only = append(only, p)
		}
	}
	return only
}

// count sets the number of records of a suggestion.
func (s *Suggestion) count(ctx context.Context, v *library.View, req *query.Request) error {
	corrected, err := req.Selection(s.Params)
	if err != nil { // the corrected request is longer than allowed
		return nil
	}
	found, err := v.Facets(ctx, &query.FacetRequest{Request: corrected})
	s.Total = found.Total
	return err
}

// Response returns the suggestion for a response. url returns the address of a request.
func (s *Suggestion) Response(url func(query.Params) string) query.Suggestion {
	return query.Suggestion{Corrections: s.Corrections, Total: s.Total, URL: url(s.Params)}
}
