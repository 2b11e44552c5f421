package operations

import (
	"context"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
)

// Library provides the live versions of datasets.
type Library interface {
	library.RecordSource
	Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error)
	Datasets(ctx context.Context, versions []herb.LiveVersion, details bool) ([]herb.Dataset, error)
}

// Catalogue is a page of the datasets whose metadata matches a search.
type Catalogue struct {
	Request  *query.Request
	Total    int
	Datasets []herb.Dataset
}

// Datasets lists datasets.
func Datasets(ctx context.Context, l Library, q query.String) (found Catalogue, err error) {
	found.Request, err = cataloguePage(q)
	if err != nil {
		return found, err
	}
	live, err := l.Search(ctx, q.Get(query.ParamSearch), "")
	if err != nil {
		return found, err
	}
	found.Total = len(live)
	found.Datasets, err = l.Datasets(ctx, PageOf(live, found.Request), false)
	return found, err
}

// cataloguePage parses the page of a request for datasets. Unlike in a listing, it has the maximum
// size by default: most servers have fewer datasets, and clients that do not page get all of them.
func cataloguePage(q query.String) (*query.Request, error) {
	req, err := q.Without(query.ParamSearch).Listing(nil, herb.Order{})
	if err == nil && q.Get(query.ParamPerPage) == "" {
		req.PerPage = query.MaxPerPage
	}
	return req, err
}

// PageOf returns the elements of a list that are on the page of a request.
func PageOf[T any](list []T, req *query.Request) []T {
	from := min(req.Offset(), len(list))
	return list[from:min(from+req.PerPage, len(list))]
}

// Search counts the records that match a search in all datasets that a client may read.
func Search(
	ctx context.Context, l Library, q query.String, client herb.Principal, budget time.Duration,
) (found library.RecordMatches, err error) {
	search := q.Get(query.ParamSearch)
	if strings.TrimSpace(search) == "" {
		return found, herb.Invalidf("%q is missing; give the words to find", query.ParamSearch)
	}
	return library.SearchRecords(ctx, l, search, client, budget)
}
