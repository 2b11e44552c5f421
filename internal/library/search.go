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
	if err != nil || strings.TrimSpace(search) == "" && keyword == "" {
		return live, err
	}
	if strings.TrimSpace(search) != "" && len(text.AppendWords(nil, search)) == 0 {
		return nil, nil
	}
	err = l.loadWords(ctx)
	if err != nil && (!l.shared() || herb.CodeOf(err) != herb.CodeUnavailable) { // a node reads its copies of descriptions instead
		return nil, err
	}
	filter := store.NewSearchFilter(search, keyword)
	dropped := make([]bool, len(live))
	var unknown []int // positions in live
	l.mu.RLock()
	for i, v := range live {
		matches, known := false, false
		if e := l.entries[versionKey{ref: v.Ref}]; e != nil && e.Version == v.Version && e.words != "" {
			matches, known = filter.Match(e.words)
		}
		if dropped[i] = !matches; !known {
			unknown = append(unknown, i)
		}
	}
	l.mu.RUnlock()
	for chunk := range slices.Chunk(unknown, 100) {
		if err := l.searchDescriptions(ctx, filter, live, chunk, dropped); err != nil {
			return nil, err
		}
	}
	found := live[:0]
	for i, v := range live {
		if !dropped[i] {
			found = append(found, v)
		}
	}
	return found, nil
}

// searchDescriptions searches datasets of which the catalogue has no words, or no keywords: mutable ones, and versions of earlier
// releases. It keeps the words of versions for later searches.
func (l *Library) searchDescriptions(ctx context.Context, filter store.SearchFilter, live []herb.LiveVersion, positions []int, dropped []bool) error {
	versions := make([]herb.LiveVersion, len(positions))
	for i, at := range positions {
		versions[i] = live[at]
	}
	datasets, err := l.Datasets(ctx, versions, true)
	if err != nil {
		return err
	}
	for i, d := range datasets {
		words := store.NewSearchWords(d)
		matches, _ := filter.Match(words)
		dropped[positions[i]] = !matches
		if !d.Unavailable && d.Version == versions[i].Version {
			l.setWords(d.Ref, d.Version, words)
		}
	}
	return nil
}
