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

func TestRequestIsExpensive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		expensive   bool // on large datasets
	}{
		{"first page", "", false},
		{"sorted page", "sort=price&order=desc&page=400", false},
		{"deep page", "per_page=100&page=102", false},
		{"equality", "title=rose", false},
		{"range of numbers", "price[gte]=3&price[lt]=9", false},
		{"element of a list", "tags=3&tags[ne]=4", false},
		{"range of lists", "tags[gte]=3", true},
		{"prefix", "title[prefix]=r", false},
		{"prefix of lists", "tags[prefix]=r", true},
		{"match", "title[match]=rose", true},
		{"word", "search=rose", false},
		{"words", "search=rosa+canina+%22dog+rose%22", false},
		{"many words", "search=a+b+c+d+e", true},
		{"prefix of a word", "search=r*", true},
		{"excluded prefix", "search=rose+-r*", true},
		{"deep page by relevance", "search=rose&per_page=100&page=102", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := query.Parse(tt.query, costFields())
			if err != nil {
				t.Fatal(err)
			}
			checkCost(t, req.IsExpensive, tt.expensive)
		})
	}
}

func TestFacetRequestIsExpensive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		expensive   bool
	}{
		{"one field", "field=title", true},
		{"filtered", "field=title&price=3", true},
		{"search", "field=title&search=rose", true},
		{"many fields", "field=title&field=price&field=tags&field=a&field=b&field=c&field=d&field=e&field=f", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := query.ParseFacets(tt.query, costFields())
			if err != nil {
				t.Fatal(err)
			}
			checkCost(t, req.IsExpensive, tt.expensive)
		})
	}
}

// checkCost checks the cost on large and small datasets. Nothing is expensive on small ones.
func checkCost(t *testing.T, isExpensive func(records int) bool, want bool) {
	t.Helper()
	if got := isExpensive(1_000_000); got != want {
		t.Errorf("expensive is %t, want %t", got, want)
	}
	if isExpensive(10_000) {
		t.Error("expensive on a small dataset")
	}
}
