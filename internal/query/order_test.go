package query_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestParseOrdered(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "date", Type: herb.TypeDate, Filterable: true, Sortable: true},
		{Name: "note", Type: herb.TypeText, Searchable: true},
	}
	newest := herb.Order{Field: "date", Desc: true}
	for _, tt := range []struct {
		name, raw string
		order     herb.Order
		want      string
	}{
		{"the order of the dataset", "", newest, "sort=date&order=desc&page=1&per_page=25"},
		{"ascending", "", herb.Order{Field: "id"}, "sort=id&page=1&per_page=25"},
		{"none", "", herb.Order{}, "page=1&per_page=25"},
		{"with filters and pages", "id=1&page=2&per_page=5", newest, "id%5Beq%5D=1&sort=date&order=desc&page=2&per_page=5"},
		{"an empty sort is none", "sort=", newest, "sort=date&order=desc&page=1&per_page=25"},
		{"sort comes first", "sort=id", newest, "sort=id&page=1&per_page=25"},
		{"and has its own direction", "sort=date", newest, "sort=date&page=1&per_page=25"},
		{"order without sort has no effect", "order=asc", newest, "sort=date&order=desc&page=1&per_page=25"},
		{"best matches come first", "search=rose", newest, "search=rose&page=1&per_page=25"},
		{"a search without a word is still one", "search=-", newest, "search=-&page=1&per_page=25"},
		{"a field that is not sortable", "", herb.Order{Field: "note"}, "page=1&per_page=25"},
		{"a field that is not there", "", herb.Order{Field: "gone"}, "page=1&per_page=25"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := query.ParseOrdered(tt.raw, fields, tt.order)
			if err != nil {
				t.Fatal(err)
			}
			want, err := query.Parse(tt.want, fields)
			if diff := diffRequests(want, r); err != nil || diff != "" {
				t.Errorf("not the same as %s: %v\n%s", tt.want, err, diff)
			}
		})
	}
	if _, err := query.ParseOrdered("sort=x", fields, newest); err == nil {
		t.Error("an unknown sort field is accepted")
	}
}
