package operations

import (
	"cmp"
	"context"
	"math"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Limits of the datasets that match a part of a search.
const (
	maxRanked      = 10 // datasets of a ranking that has some with a part of the words only
	maxRankedWords = 8  // of a search that are ranked by
)

// Ranking is a page of the datasets whose metadata matches all words of a search or some of them.
type Ranking struct {
	Catalogue
	Complete int                   // datasets with all words, which are first
	IsCut    bool                  // more datasets have some words
	Words    map[herb.Ref][]string // of the datasets with some words
}

// RankDatasets lists datasets as Datasets does. If few have all words of the search, those with
// some words follow: first those with more words, then those with words that fewer datasets have.
func RankDatasets(ctx context.Context, l Library, q query.String) (r Ranking, err error) {
	r.Request, err = cataloguePage(q)
	if err != nil {
		return r, err
	}
	search := q.Get(query.ParamSearch)
	ranked, err := l.Search(ctx, search, "")
	r.Complete = len(ranked)
	if err == nil && r.Complete < maxRanked {
		var partial []herb.LiveVersion
		partial, r.Words, err = partialMatches(ctx, l, search, ranked)
		most := maxRanked - r.Complete
		r.IsCut = len(partial) > most
		ranked = append(ranked, partial[:min(most, len(partial))]...)
	}
	if err != nil {
		return r, err
	}
	r.Total = len(ranked)
	r.Datasets, err = l.Datasets(ctx, PageOf(ranked, r.Request), false)
	return r, err
}

// partialMatches returns the datasets that have some words of a search and are not complete, the
// best ones first, and these words.
func partialMatches(
	ctx context.Context, l Library, search string, complete []herb.LiveVersion,
) (partial []herb.LiveVersion, matched map[herb.Ref][]string, err error) {
	words := slices.DeleteFunc(text.AppendWords(nil, search), text.IsFunctionWord)
	slices.Sort(words)
	words = slices.Compact(words)
	matched, rarity := map[herb.Ref][]string{}, map[herb.Ref]float64{}
	for _, word := range words[:min(maxRankedWords, len(words))] {
		found, err := l.Search(ctx, word, "")
		if err != nil {
			return nil, nil, err
		}
		for _, v := range found {
			if slices.ContainsFunc(complete, func(c herb.LiveVersion) bool { return c.Ref == v.Ref }) {
				continue
			}
			if matched[v.Ref] == nil {
				partial = append(partial, v)
			}
			matched[v.Ref] = append(matched[v.Ref], word)
			rarity[v.Ref] -= math.Log(float64(len(found)))
		}
	}
	slices.SortFunc(partial, func(a, b herb.LiveVersion) int {
		return cmp.Or(cmp.Compare(len(matched[b.Ref]), len(matched[a.Ref])),
			cmp.Compare(rarity[b.Ref], rarity[a.Ref]), a.Compare(b.Ref))
	})
	return partial, matched, nil
}
