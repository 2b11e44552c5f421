package library

import (
	"cmp"
	"context"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// The default limits of a search across datasets.
const (
	maxSearchedDatasets = 200
	searchBudget        = time.Second
)

// SearchOptions configures a search across datasets.
type SearchOptions struct {
	MayRead func(herb.Ref) bool // permits datasets that require a key; nil: none
	Budget  time.Duration       // 0: one second
}

// RecordSource provides the datasets for SearchRecords.
type RecordSource interface {
	Live(ctx context.Context) ([]herb.LiveVersion, error)
	Acquire(ctx context.Context, ref herb.Ref) (View, error)
}

// RecordMatches is the result of a search across datasets.
type RecordMatches struct {
	Datasets []DatasetMatch // with matching records, the most matches first
	Total    int            // matching records
	Searched int            // datasets that were searched
	Partial  bool           // some datasets were not searched: there are too many, they are unavailable, or it took too long
}

// DatasetMatch is a dataset with the number of its records that match a search.
type DatasetMatch struct {
	herb.Ref
	Title string
	Total int
}

// SearchRecords counts the records that match a search in each dataset that is open or permitted, the most recently published
// first. It searches at most 200 datasets, and as many as it can within its budget of time.
func SearchRecords(ctx context.Context, source RecordSource, search string, opts SearchOptions) (RecordMatches, error) {
	var found RecordMatches
	rawQuery := query.Params{{Name: query.ParamSearch, Value: search}, {Name: query.ParamPerPage, Value: "1"}}.Encode()
	if req, err := query.Parse(rawQuery, nil); err != nil || req.Search == nil {
		return found, err
	}
	live, err := source.Live(ctx)
	if err != nil {
		return found, err
	}
	slices.SortStableFunc(live, func(a, b herb.LiveVersion) int { return b.Published.Compare(a.Published) })
	if len(live) > maxSearchedDatasets {
		live, found.Partial = live[:maxSearchedDatasets], true
	}
	limited, cancel := context.WithTimeout(ctx, cmp.Or(opts.Budget, searchBudget))
	defer cancel()
	for _, v := range live {
		m, searched, err := searchDataset(limited, source, v.Ref, rawQuery, opts.MayRead)
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if limited.Err() != nil {
			found.Partial = true
			break
		}
		switch code := herb.CodeOf(err); {
		case err == nil && searched:
			found.Searched++
			if m.Total > 0 {
				found.Datasets, found.Total = append(found.Datasets, m), found.Total+m.Total
			}
		case err == nil, code == herb.CodeNotFound: // it requires a key, or was removed meanwhile
		case code == herb.CodeUnavailable:
			found.Partial = true
		default:
			return found, err
		}
	}
	slices.SortStableFunc(found.Datasets, func(a, b DatasetMatch) int { return b.Total - a.Total })
	return found, nil
}

// searchDataset counts the matching records of a dataset. searched is false if it requires a key that the reader lacks.
func searchDataset(ctx context.Context, source RecordSource, ref herb.Ref, rawQuery string, mayRead func(herb.Ref) bool) (m DatasetMatch, searched bool, err error) {
	v, err := source.Acquire(ctx, ref)
	if err != nil {
		return m, false, err
	}
	defer v.Release()
	if v.Access == herb.AccessKey && (mayRead == nil || !mayRead(ref)) {
		return m, false, nil
	}
	req, err := query.Parse(rawQuery, v.Fields)
	if err != nil {
		return m, false, err
	}
	page, err := v.List(ctx, req)
	return DatasetMatch{Ref: ref, Title: v.Title, Total: page.Total}, true, err
}
