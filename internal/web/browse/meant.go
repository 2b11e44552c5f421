package browse

import (
	"context"

	"herbarium/internal/query"
	"herbarium/internal/web/view/filters"
	"herbarium/internal/web/view/state"
)

// vocabulary is the words and values of an open version, to find what a visitor meant who got no
// rows. Whoever may read a version may know all of them: hidden columns are not stored.
type vocabulary struct {
	ctx context.Context
	v   datasetView
}

func (o vocabulary) NearestWord(word string, isPrefix bool) (string, error) {
	return o.v.Reader.NearestWord(o.ctx, word, isPrefix)
}

func (o vocabulary) ValuesWith(field int, text string) (values []string, err error) {
	const most = 20
	if !o.v.Fields[field].Filterable {
		return nil, nil
	}
	all, err := selectRows(nil, o.v.Fields)
	if err != nil {
		return nil, err
	}
	found, err := o.v.Facets(o.ctx, &query.FacetRequest{Request: all, Fields: []int{field}, Top: most,
		Containing: text})
	if err != nil {
		return nil, err
	}
	for _, v := range found.Fields[0].Values {
		values = append(values, v.Value)
	}
	return values, nil
}

// findMeant returns a listing with rows that a visitor of one without rows may have meant: the same
// without typos, or else only what was misspelled; nil if there is none. Datasets that change with
// every write have no vocabulary.
func findMeant(ctx context.Context, s *state.State, v datasetView) (*filters.Meant, error) {
	if v.Reader == nil {
		return nil, nil
	}
	whole, corrected, err := filters.Correct(s, vocabulary{ctx, v})
	if err != nil {
		return nil, err
	}
	for _, listing := range []query.Params{whole, corrected} {
		if listing == nil {
			continue
		}
		req, err := selectRows(listing, v.Fields)
		if err != nil {
			continue // the corrected words are more than a search may have
		}
		found, err := v.List(ctx, req)
		if err != nil {
			return nil, err
		}
		if found.Total > 0 {
			return filters.NewMeant(s, listing, corrected, found.Total), nil
		}
	}
	return nil, nil
}
