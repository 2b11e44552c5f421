package operations_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/must"
	"herbarium/internal/query"
)

// countingLibrary counts searches.
type countingLibrary struct {
	apitest.Library
	searches int
}

func (l *countingLibrary) Search(ctx context.Context, search, keyword string) ([]herb.LiveVersion, error) {
	l.searches++
	return l.Library.Search(ctx, search, keyword)
}

// TestRankDatasets checks the order of datasets with some words of a search, and their number.
func TestRankDatasets(t *testing.T) {
	t.Parallel()
	l := &countingLibrary{}
	put := func(name, title string) {
		l.Put(herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: name}, Title: title}, nil)
	}
	put("b", "Population by country")
	put("c", "Population of Kenya")
	put("d", "Offices of the state")
	put("e", "Kenya, Tanzania and Uganda")
	for i := range 12 {
		put(fmt.Sprintf("price-%02d", i), "Prices in 2023")
	}
	for search, want := range map[string]string{
		"population of Kenya 2023":  "0/10+: c(kenya population) b(population) e(kenya) price-00(2023) price-01(2023) price-02(2023) price-03(2023) price-04(2023) price-05(2023) price-06(2023)",
		"Kenya population":          "1/3: c() b(population) e(kenya)",
		"kenya kenya and the":       "0/2: c(kenya) e(kenya)",
		"the offices of the":        "1/1: d()",
		"of":                        "2/2: c() d()",
		"of von the":                "0/0:",
		"price":                     "12/12: price-00() price-01() price-02() price-03() price-04() price-05() price-06() price-07() price-08() price-09() price-10() price-11()",
		"nothing at all":            "0/0:",
		"!!!":                       "0/0:",
		"x1 x2 x3 x4 x5 x6 x7 x8 z": "0/0:",
	} {
		l.searches = 0
		q := query.Of(query.Params{{Name: query.ParamSearch, Value: search}})
		found, err := operations.RankDatasets(t.Context(), l, q)
		must.NoError(t, err)
		got := fmt.Sprintf("%d/%d", found.Complete, found.Total)
		if found.IsCut {
			got += "+"
		}
		got += ":"
		for _, d := range found.Datasets {
			got += fmt.Sprintf(" %s(%s)", d.Name, strings.Join(found.Words[d.Ref], " "))
		}
		if got != want || l.searches > 9 {
			t.Errorf("%s: %s with %d searches; want %s", search, got, l.searches, want)
		}
	}
	page, err := operations.RankDatasets(t.Context(), l, query.Split("search=population+of+Kenya+2023&per_page=2&page=2"))
	must.NoError(t, err)
	if len(page.Datasets) != 2 || page.Datasets[0].Name != "e" || page.Total != 10 {
		t.Errorf("page 2 has %v", page.Datasets)
	}
}
