package library

import (
	"context"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/text"
)

// wordsStatus is the state of reading the words of the catalogue.
type wordsStatus struct {
	reading    chan struct{} // has an element while they are read, which guards generation; a mutex would not end with a request
	generation int64         // of the catalogue whose words were read; negative: none were
}

// loadWords reads the words of the datasets that changed since the last call. The first search reads all of them.
func (l *Library) loadWords(ctx context.Context) error {
	select {
	case l.words.reading <- struct{}{}:
		defer func() { <-l.words.reading }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	since, now := l.words.generation, l.status.Load().generation
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
	l.words.generation = now
	return nil
}

// setWords sets the words of a dataset, provided that they are those of its live version.
func (l *Library) setWords(ref herb.Ref, version string, words store.SearchWords) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[versionKey{ref: ref}]; e != nil && e.Version == version {
		e.words = words
	}
}

// Search returns the live versions of datasets, as Live does, in whose metadata every word of a search is a prefix of a word, and
// which have a keyword. All datasets match a blank search, and an empty keyword.
func (l *Library) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	live, err := l.Live(ctx)
	blank := strings.TrimSpace(search) == ""
	if err != nil || blank && keyword == "" {
		return live, err
	}
	if !blank && len(text.AppendWords(nil, search)) == 0 {
		return nil, nil
	}
	err = l.loadWords(ctx)
	if err != nil && (!l.shared() || herb.CodeOf(err) != herb.CodeUnavailable) { // a node reads its copies of descriptions instead
		return nil, err
	}
	filter := store.NewSearchFilter(search, keyword)
	var found, unknown []herb.LiveVersion
	l.mu.RLock()
	for _, v := range live {
		switch e := l.entries[versionKey{ref: v.Ref}]; {
		case e == nil || e.Version != v.Version || e.words == "":
			unknown = append(unknown, v)
		case filter.Match(e.words):
			found = append(found, v)
		}
	}
	l.mu.RUnlock()
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
