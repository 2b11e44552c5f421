package library

import (
	"cmp"
	"context"
	"slices"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// searchBudget is the default time for a search across datasets.
const searchBudget = time.Second

// searchBatch is the number of datasets that are searched before more are checked for the words of the search. If there are no more
// datasets, all are opened.
const searchBatch = 200

// SearchOptions configures a search across datasets.
type SearchOptions struct {
	MayRead func(herb.Ref) bool // permits datasets that require a key; nil permits none
	Budget  time.Duration       // 0 means one second
	// Admit waits until a search of many datasets may use the processor, and returns a function to call afterwards. nil disables
	// waiting.
	Admit func(context.Context) (release func(), err error)
}

// mayRead reports whether a dataset that requires a key is permitted.
func (o SearchOptions) mayRead(ref herb.Ref) bool { return o.MayRead != nil && o.MayRead(ref) }

// RecordSource provides the datasets for SearchRecords.
type RecordSource interface {
	// Live returns the live versions of all datasets, ordered by ref.
	Live(ctx context.Context) ([]herb.LiveVersion, error)
	// Acquire returns the live version of a dataset. It fails with herb.CodeNotFound if there is none.
	Acquire(ctx context.Context, ref herb.Ref) (View, error)
	// ProtectedRefs returns the datasets that require a key.
	ProtectedRefs(ctx context.Context) ([]herb.Ref, error)
	// MayMatch reports whether records of a version may match a search. It reports true if it cannot be checked.
	MayMatch(v herb.LiveVersion, s *query.Search) bool
}

// RecordMatches is the result of a search across datasets.
type RecordMatches struct {
	Datasets []DatasetMatch // with matching records, the most matches first
	Total    int            // matching records
	Searched int            // datasets that were searched
	Partial  bool           // some datasets were not searched: they are unavailable, or it took too long
}

// DatasetMatch is a dataset with the number of its records that match a search.
type DatasetMatch struct {
	herb.Ref
	Title string
	Total int
}

// SearchRecords counts the records that match a search in each dataset that is open or permitted, the most recently published
// first, and as many as it can within its budget of time.
func SearchRecords(ctx context.Context, source RecordSource, search string, opts SearchOptions) (RecordMatches, error) {
	var found RecordMatches
	rawQuery := query.Params{{Name: query.ParamSearch, Value: search}, {Name: query.ParamPerPage, Value: "1"}}.Encode()
	req, err := query.Parse(rawQuery, nil)
	if err != nil || req.Search == nil {
		return found, err
	}
	live, err := source.Live(ctx)
	if err != nil {
		return found, err
	}
	slices.SortStableFunc(live, func(a, b herb.LiveVersion) int { return b.Published.Compare(a.Published) })
	limited, cancel := context.WithTimeout(ctx, cmp.Or(opts.Budget, searchBudget))
	defer cancel()
	check := len(live) > searchBatch
	if check {
		protected, err := source.ProtectedRefs(limited)
		switch {
		case herb.CodeOf(err) == herb.CodeUnavailable: // each dataset says whether it requires a key
			check = false
		case err != nil && limited.Err() == nil:
			return found, err
		}
		hidden := newSet(protected)
		live = slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return hidden[v.Ref] && !opts.mayRead(v.Ref) })
	}
	for batch := range slices.Chunk(live, searchBatch) {
		if check {
			batch, err = found.checkWords(limited, source, batch, req.Search, opts)
		}
		if err == nil {
			err = found.searchDatasets(limited, source, batch, rawQuery, opts)
		}
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if limited.Err() != nil {
			found.Partial = true
			break
		}
		if err != nil {
			return found, err
		}
	}
	slices.SortStableFunc(found.Datasets, func(a, b DatasetMatch) int { return b.Total - a.Total })
	return found, nil
}

// checkWords returns the datasets whose records may match and adds the others to those that were searched.
func (m *RecordMatches) checkWords(
	ctx context.Context, source RecordSource, batch []herb.LiveVersion, s *query.Search, opts SearchOptions,
) ([]herb.LiveVersion, error) {
	if opts.Admit != nil {
		release, err := opts.Admit(ctx)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return slices.DeleteFunc(batch, func(v herb.LiveVersion) bool {
		if ctx.Err() != nil || source.MayMatch(v, s) {
			return false
		}
		m.Searched++
		return true
	}), nil
}

// ProtectedRefs implements RecordSource.
func (l *Library) ProtectedRefs(ctx context.Context) ([]herb.Ref, error) {
	return l.catalogue.ProtectedRefs(ctx)
}

// MayMatch implements RecordSource. It reads the words of a published version without opening it.
func (l *Library) MayMatch(v herb.LiveVersion, s *query.Search) bool {
	if l.isPlants(v.Ref) {
		return true
	}
	may, err := segment.MayMatch(l.file(v.Version), s)
	return may || err != nil
}

// searchDatasets adds the matching records of datasets until ctx is done.
func (m *RecordMatches) searchDatasets(ctx context.Context, source RecordSource, batch []herb.LiveVersion, rawQuery string, opts SearchOptions) error {
	for _, v := range batch {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err := m.searchDataset(ctx, source, v.Ref, rawQuery, opts)
		switch code := herb.CodeOf(err); {
		case code == herb.CodeUnavailable:
			m.Partial = true
		case err != nil && code != herb.CodeNotFound: // it may be removed meanwhile
			return err
		}
	}
	return nil
}

// searchDataset adds the matching records of a dataset, unless it requires a key that the reader lacks.
func (m *RecordMatches) searchDataset(ctx context.Context, source RecordSource, ref herb.Ref, rawQuery string, opts SearchOptions) error {
	v, err := source.Acquire(ctx, ref)
	if err != nil {
		return err
	}
	defer v.Release()
	if v.Access == herb.AccessKey && !opts.mayRead(ref) {
		return nil
	}
	req, err := query.Parse(rawQuery, v.Fields)
	if err != nil {
		return err
	}
	page, err := v.List(ctx, req)
	if err != nil {
		return err
	}
	m.Searched++
	if page.Total > 0 {
		m.Datasets, m.Total = append(m.Datasets, DatasetMatch{Ref: ref, Title: v.Title, Total: page.Total}), m.Total+page.Total
	}
	return nil
}
