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
	const published, mutable = "published", "mutable"
	tests := []struct {
		name, query string
		expensive   []string // kinds of large datasets on which it is expensive
	}{
		{"first page", "", nil},
		{"sorted page", "sort=price&order=desc&page=400", nil},
		{"deep page", "per_page=100&page=102", []string{mutable}},
		{"equality", "title=rose", []string{mutable}},
		{"range of numbers", "price[gte]=3&price[lt]=9", []string{mutable}},
		{"range of lists", "tags[gte]=3", []string{published, mutable}},
		{"prefix", "title[prefix]=r", []string{mutable}},
		{"prefix of lists", "tags[prefix]=r", []string{published, mutable}},
		{"word", "search=rose", []string{mutable}},
		{"words", "search=rosa+canina+%22dog+rose%22", []string{mutable}},
		{"many words", "search=a+b+c+d+e", []string{published, mutable}},
		{"prefix of a word", "search=r*", []string{published, mutable}},
		{"excluded prefix", "search=rose+-r*", []string{published, mutable}},
		{"deep page by relevance", "search=rose&per_page=100&page=102", []string{published, mutable}},
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
	const published, mutable = "published", "mutable"
	tests := []struct {
		name, query string
		expensive   []string
	}{
		{"one field", "field=title", []string{published, mutable}},
		{"filtered", "field=title&price=3", []string{published, mutable}},
		{"search", "field=title&search=rose", []string{published, mutable}},
		{"many fields", "field=title&field=price&field=tags&field=a&field=b&field=c&field=d&field=e&field=f", []string{published, mutable}},
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

// checkCost checks the cost on large and small datasets of both kinds. Nothing is expensive on small ones.
func checkCost(t *testing.T, isExpensive func(query.Size) bool, want []string) {
	t.Helper()
	for _, size := range []struct {
		kind  string
		size  query.Size
		large bool
	}{
		{"published", query.Size{Records: 1_000_000}, true},
		{"mutable", query.Size{Records: 100_000, Mutable: true}, true},
		{"published", query.Size{Records: 10_000}, false},
		{"mutable", query.Size{Records: 500, Mutable: true}, false},
	} {
		expected := false
		for _, kind := range want {
			expected = expected || size.large && kind == size.kind
		}
		if got := isExpensive(size.size); got != expected {
			t.Errorf("%+v: expensive is %t, want %t", size.size, got, expected)
		}
	}
}
