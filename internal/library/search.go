package library

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/text"
)

// searchBudget is the default time for a search across datasets.
const searchBudget = time.Second

// searchBatch is the number of datasets that are searched before more are checked for the words of
// the search. If there are no more datasets, only those are checked that would have to be opened.
const searchBatch = 200

// RecordSource provides the datasets for SearchRecords.
type RecordSource interface {
	// Live returns the live versions of all datasets, ordered by ref.
	Live(ctx context.Context) ([]herb.LiveVersion, error)
	// Acquire returns the live version of a dataset. It fails with herb.CodeNotFound if there is
	// none.
	Acquire(ctx context.Context, ref herb.Ref) (View, error)
	// ProtectedRefs returns the datasets that require a key.
	ProtectedRefs(ctx context.Context) ([]herb.Ref, error)
	// MayMatch reports whether records of a version may match a search. It reports true if it
	// cannot be checked.
	MayMatch(v herb.LiveVersion, s *query.Search) bool
	// IsClosed reports whether a version is not open on this node although everybody may read it,
	// as far as is known without reading its description.
	IsClosed(v herb.LiveVersion) bool
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

// SearchRecords counts the records that match a search in each dataset whose records the reader may
// see, the most recently published first, and as many as it can within its budget of time, which is
// one second if it is 0.
func SearchRecords(ctx context.Context, source RecordSource, search string, reader herb.Principal,
	budget time.Duration) (RecordMatches, error) {
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
	limited, cancel := context.WithTimeout(ctx, cmp.Or(budget, searchBudget))
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
		hidden := make(map[herb.Ref]bool, len(protected))
		for _, ref := range protected {
			hidden[ref] = true
		}
		live = slices.DeleteFunc(live, func(v herb.LiveVersion) bool {
			return hidden[v.Ref] && !reader.See(herb.Dataset{Ref: v.Ref, Access: herb.AccessKey}).Values
		})
	}
	for batch := range slices.Chunk(live, searchBatch) {
		if check {
			batch, err = found.checkWords(limited, source, batch, req.Search)
		} else {
			batch = found.checkClosed(limited, source, batch, req.Search)
		}
		for _, v := range batch {
			if err != nil || limited.Err() != nil {
				break
			}
			err = found.searchDataset(limited, source, v.Ref, rawQuery, reader)
			switch herb.CodeOf(err) {
			case herb.CodeUnavailable:
				found.Partial, err = true, nil
			case herb.CodeNotFound: // it was removed meanwhile
				err = nil
			}
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

// checkWords returns the datasets whose records may match and adds the others to those that were
// searched.
func (m *RecordMatches) checkWords(ctx context.Context, source RecordSource, batch []herb.LiveVersion,
	s *query.Search) ([]herb.LiveVersion, error) {
	const steps = 1000 // to look up the words of a dataset in its file
	var err error
	batch = slices.DeleteFunc(batch, func(v herb.LiveVersion) bool {
		if err != nil || ctx.Err() != nil {
			return false
		}
		began := time.Now()
		may := source.MayMatch(v, s)
		err = query.Yield(ctx, steps, time.Since(began))
		if may {
			return false
		}
		m.Searched++
		return true
	})
	return batch, err
}

// checkClosed returns the datasets whose records may match and adds the others to those that were
// searched. It checks only datasets that would have to be opened, which takes much longer.
// Protected datasets are not checked: the number of searched datasets would tell which words they
// contain.
func (m *RecordMatches) checkClosed(ctx context.Context, source RecordSource, batch []herb.LiveVersion,
	s *query.Search) []herb.LiveVersion {
	return slices.DeleteFunc(batch, func(v herb.LiveVersion) bool {
		if ctx.Err() != nil || !source.IsClosed(v) || source.MayMatch(v, s) {
			return false
		}
		m.Searched++
		return true
	})
}

// searchDataset adds the matching records of a dataset, unless the reader may not see them.
func (m *RecordMatches) searchDataset(ctx context.Context, source RecordSource, ref herb.Ref, rawQuery string,
	reader herb.Principal) error {
	v, err := source.Acquire(ctx, ref)
	if err != nil {
		return err
	}
	defer v.Release()
	if !reader.See(v.Dataset).Values {
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
		m.Datasets, m.Total = append(m.Datasets, DatasetMatch{Ref: ref, Title: v.Title, Total: page.Total}),
			m.Total+page.Total
	}
	return nil
}

// search finds datasets by their words: those of the metadata, which it reads from the catalogue
// once, and those of the records, which the files list.
type search struct {
	*descriptions
	readingWords *semaphore.Weighted // guards wordsRead; unlike with a mutex, waiting ends with a request
	wordsRead    int64               // generation of the catalogue whose words were read; negative: none were
}

// IsClosed implements RecordSource.
func (l *search) IsClosed(v herb.LiveVersion) bool {
	l.table.mu.RLock()
	e := l.table.entries[versionKey{ref: v.Ref}]
	isOpen := e == nil || e.open != nil
	l.table.mu.RUnlock()
	if isOpen {
		return false
	}
	d, ok := l.summaries.get(v, false)
	return ok && herb.Principal{}.See(d).Values
}

// ProtectedRefs implements RecordSource.
func (l *search) ProtectedRefs(ctx context.Context) ([]herb.Ref, error) {
	return l.catalogue.ProtectedRefs(ctx)
}

// MayMatch implements RecordSource. It reads the words of a published version without opening it.
func (l *search) MayMatch(v herb.LiveVersion, s *query.Search) bool {
	if l.IsMutable(v.Ref) {
		return true
	}
	may, err := segment.MayMatch(l.folder.publishedFile(v.Version), s)
	if err != nil { // such as an index of another release
		may, err = segment.MayMatch(l.folder.rebuiltFile(v.Version), s)
	}
	return may || err != nil
}

// loadWords reads the words of the datasets that changed since the last call. The first search
// reads all of them.
func (l *search) loadWords(ctx context.Context) error {
	if err := l.readingWords.Acquire(ctx, 1); err != nil {
		return err
	}
	defer l.readingWords.Release(1)
	since, now := l.wordsRead, l.catalogue.generation()
	if since == now {
		return nil
	}
	if now < since { // another catalogue
		since = -1
	}
	read, err := l.catalogue.Words(ctx, since)
	if err != nil {
		return err
	}
	for _, v := range read {
		l.setWords(v.Ref, v.Version, v.Words)
	}
	l.wordsRead = now
	return nil
}

// setWords sets the words of a dataset, provided that they are those of its live version.
func (l *search) setWords(ref herb.Ref, version string, words store.SearchWords) {
	l.table.mu.Lock()
	defer l.table.mu.Unlock()
	if e := l.table.entries[versionKey{ref: ref}]; e != nil && e.Version == version {
		e.words = words
	}
}

// Search returns the live versions of datasets, as Live does, in whose metadata every word of a
// search is a prefix of a word, and which have a keyword. All datasets match a blank search, and an
// empty keyword.
func (l *search) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	live, err := l.Live(ctx)
	blank := strings.TrimSpace(search) == ""
	if err != nil || blank && keyword == "" {
		return live, err
	}
	if !blank && len(text.AppendWords(nil, search)) == 0 {
		return nil, nil
	}
	err = l.loadWords(ctx)
	// a node reads its copies of descriptions instead
	if err != nil && (!l.folder.shared() || herb.CodeOf(err) != herb.CodeUnavailable) {
		return nil, err
	}
	filter := store.NewSearchFilter(search, keyword)
	var found, unknown []herb.LiveVersion
	l.table.mu.RLock()
	for _, v := range live {
		switch e := l.table.entries[versionKey{ref: v.Ref}]; {
		case e == nil || e.Version != v.Version || e.words == "":
			unknown = append(unknown, v)
		case filter.Match(e.words):
			found = append(found, v)
		}
	}
	l.table.mu.RUnlock()
	// The catalogue has no words of mutable datasets, and a node may not have read those of others.
	for chunk := range slices.Chunk(unknown, 100) {
		datasets, err := l.Datasets(ctx, chunk, true)
		if err != nil {
			return nil, err
		}
		for i, d := range datasets {
			words := store.NewSearchWords(d)
			if filter.Match(words) {
				found = append(found, chunk[i])
			}
			if !d.Unavailable && d.Version == chunk[i].Version {
				l.setWords(d.Ref, d.Version, words) // for later searches
			}
		}
	}
	slices.SortFunc(found, func(a, b herb.LiveVersion) int { return a.Compare(b.Ref) })
	return found, nil
}
