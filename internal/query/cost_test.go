package query_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func costFields() []herb.Field {
	field := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Filterable: true, Sortable: true, Searchable: t == herb.TypeText}
	}
	return []herb.Field{
		field("title", herb.TypeText), field("price", herb.TypeNumber), field("tags", herb.TypeList),
		field("a", herb.TypeText), field("b", herb.TypeText), field("c", herb.TypeText), field("d", herb.TypeText),
		field("e", herb.TypeText), field("f", herb.TypeText),
	}
}

func TestIsExpensive(t *testing.T) {
	t.Parallel()
	for raw, expensive := range map[string]bool{
		"":                                  false,
		"sort=price&order=desc&page=400":    false,
		"per_page=100&page=102":             false,
		"title=rose":                        false,
		"price[gte]=3&price[lt]=9":          false,
		"tags=3&tags[ne]=4":                 false,
		"tags[gte]=3":                       true,
		"title[prefix]=r":                   false,
		"tags[prefix]=r":                    true,
		"title[contains]=r":                 true,
		"title[match]=rose":                 true,
		"search=rose":                       false,
		"search=rosa+canina+%22dog+rose%22": false,
		"search=a+b+c+d+e":                  true,
		"search=r*":                         true,
		"search=rose+-r*":                   true,
		"search=rose&per_page=100&page=102": true,
	} {
		checkCost(t, raw, query.Parse, (*query.Request).IsExpensive, expensive)
	}
	for _, raw := range []string{
		"field=title", "field=title&price=3", "field=title&search=rose",
		"field=title&field=price&field=tags&field=a&field=b&field=c&field=d&field=e&field=f",
	} {
		checkCost(t, raw, query.ParseFacets, (*query.FacetRequest).IsExpensive, true)
	}
}

// checkCost checks the cost of a request on large and small datasets. Nothing is expensive on small ones.
func checkCost[Request any](
	t *testing.T, raw string, parse func(string, []herb.Field) (Request, error), isExpensive func(r Request, records int) bool, want bool,
) {
	t.Helper()
	r, err := parse(raw, costFields())
	if err != nil {
		t.Fatal(err)
	}
	if got := isExpensive(r, 1_000_000); got != want {
		t.Errorf("%q: expensive is %t, want %t", raw, got, want)
	}
	if isExpensive(r, 10_000) {
		t.Errorf("%q: expensive on a small dataset", raw)
	}
}
