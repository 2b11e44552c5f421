package browse

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/state"
)

// buildFacets builds the values of the filters that the query names.
func buildFacets(ctx context.Context, s *state.State, v datasetView) (any, error) {
	const maxForms = 8 // that one request counts
	var forms []*filters.Filter
	for _, name := range s.Facets[:min(len(s.Facets), maxForms)] {
		if i := herb.FieldIndex(v.Fields, name); v.Fields[i].Filterable {
			form := filters.NewFilter(s, i)
			forms = append(forms, &form)
		}
	}
	return forms, countValues(ctx, s, v, forms)
}

// countValues sets the values of filters. The counts of a field ignore the filter of that field.
func countValues(ctx context.Context, s *state.State, v datasetView, forms []*filters.Filter) error {
	if len(forms) == 0 {
		return nil
	}
	req, err := selectRows(s.Listing, v.Fields)
	if err != nil {
		return err
	}
	for _, form := range forms {
		if form.Mode != columns.ModeValues {
			continue
		}
		top := filters.FilterValues
		if s.More {
			top = filters.MoreFilterValues
		}
		counted := &query.FacetRequest{
			Request: req, Fields: []int{form.Index}, Top: top, Offset: s.Offset, Containing: s.Values,
			IgnoreOwnFilter: true,
		}
		if s.Values != "" && len(form.Categories) > 0 {
			categories := form.FindCategories(s, s.Values)
			if categories == nil {
				form.SetCounts(s, query.Facet{})
				continue
			}
			counted.Containing, counted.IgnoreOwnFilter = "", false
			counted.Request, err = selectRows(s.WithoutFilters(form.Index).With(categories...), v.Fields)
			if err != nil {
				return err
			}
		}
		found, err := v.Facets(ctx, counted)
		if err != nil {
			return err
		}
		form.SetCounts(s, found.Fields[0])
	}
	return nil
}

// selectRows parses the filters and the search of a listing.
func selectRows(listing query.Params, fields []herb.Field) (*query.Request, error) {
	return query.Of(listing.Without(query.ParamPage, query.ParamPerPage, query.ParamSort,
		query.ParamOrder)).Listing(fields, herb.Order{})
}
