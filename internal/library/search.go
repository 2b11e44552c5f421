package library

import (
	"context"
	"slices"
	"strings"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/text"
)

// wordsStatus is the state of reading the words of the catalogue.
type wordsStatus struct {
	sync.Mutex       // held while reading
	generation int64 // of the catalogue whose words were read; negative: none were
}

// loadWords reads the words of the datasets that changed since the last call. The first search reads all of them.
func (l *Library) loadWords(ctx context.Context) error {
	l.words.Lock()
	defer l.words.Unlock()
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
	if e := l.entries[ref]; e != nil && e.Version == version {
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
	words, keywordWords := text.AppendWords(nil, search), text.AppendWords(nil, keyword)
	if len(words) == 0 && strings.TrimSpace(search) != "" {
		return nil, nil
	}
	err = l.loadWords(ctx)
	if err != nil && (!l.shared() || herb.CodeOf(err) != herb.CodeUnavailable) { // a node reads its copies of descriptions instead
		return nil, err
	}
	matches := make(map[herb.Ref]bool, len(live))
	var unknown []herb.LiveVersion
	l.mu.RLock()
	for _, v := range live {
		var known store.SearchWords
		if e := l.entries[v.Ref]; e != nil && e.Version == v.Version {
			known = e.words
		}
		switch {
		case known != "" && !(known.Match(words) && known.Match(keywordWords)):
		case known == "", keyword != "" && !known.HasKeywords():
			unknown = append(unknown, v)
		default:
			matches[v.Ref] = keyword == "" || known.HasKeyword(keyword)
		}
	}
	l.mu.RUnlock()
	// The catalogue has no words of mutable datasets and of versions of earlier releases.
	for chunk := range slices.Chunk(unknown, 100) {
		datasets, err := l.Datasets(ctx, chunk, true)
		if err != nil {
			return nil, err
		}
		for i, d := range datasets {
			described := store.NewSearchWords(d)
			matches[d.Ref] = described.Match(words) && (keyword == "" || described.HasKeyword(keyword))
			if !d.Unavailable && d.Version == chunk[i].Version {
				l.setWords(d.Ref, d.Version, described)
			}
		}
	}
	return slices.DeleteFunc(live, func(v herb.LiveVersion) bool { return !matches[v.Ref] }), nil
}
