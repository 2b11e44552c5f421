package query_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// diffRequests returns how two requests differ; empty if they are the same.
func diffRequests(want, got any) string {
	return cmp.Diff(want, got, cmpopts.IgnoreUnexported(query.Request{}), cmpopts.EquateEmpty())
}

// encodeAgain returns a query with its parameters encoded as this package encodes them.
func encodeAgain(t *testing.T, raw string) string {
	t.Helper()
	ps, err := query.ParseParams(raw)
	if err != nil {
		t.Fatal(err)
	}
	return ps.Encode()
}

// TestParse_spellings checks that different spellings are the same request.
func TestParse_spellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		raws       []string
	}{
		{"nothing", "page=1&per_page=25", []string{"", "&", "page=1", "per_page=25&page=", "order=desc", "api_key=secret", "search=+"}},
		{"cap", "page=1&per_page=100", []string{"per_page=100", "per_page=101", "per_page=0999"}},
		{"sort", "sort=id&page=1&per_page=25", []string{"sort=id", "order=asc&sort=id", "sort=id&order="}},
		{"desc", "sort=id&order=desc&page=2&per_page=25", []string{"page=2&order=desc&sort=id", "sort=id&order=desc&page=02", "sort=-id&page=2"}},
		{"several sort fields", "sort=-price%2Cid&page=1&per_page=25", []string{"sort=-price,id", "order=&sort=-price%2Cid"}},
		{"selected fields", "_fields=price%2Cid&page=1&per_page=25", []string{"_fields=price,id"}},
		{"filters", "title%5Beq%5D=a&title%5Beq%5D=b&page=1&per_page=25", []string{
			"title=a&title=b", "title=b&title=a", "title[in]=b,a", "title[eq]=a&title=b&title=a",
			"%74itle=b&title[in]=a,b,a", "_filter=title%3Db&_filter=title%5Beq%5D%3Da", "title=b&_filter=title%5Bin%5D%3Da&_filter=",
		}},
		{"empty", "title%5Beq%5D=&page=1&per_page=25", []string{"title=", "title", "title[empty]=true", "title[in]="}},
		{"not empty", "title%5Bne%5D=&page=1&per_page=25", []string{"title[ne]=", "title[empty]=false"}},
		{"fields in order", "id%5Beq%5D=1&x+y%5Beq%5D=2&page=1&per_page=25", []string{"x+y=2&id=1", "id=1&x%20y=2"}},
		{"search", "search=%22old+rose%22+lily&page=1&per_page=25", []string{
			"search=lily+%22Old+Rose%22", "search=%22old++rose%22+LILY", "search=old-rose+lily+lily",
		}},
	} {
		for _, raw := range c.raws {
			want, err := query.Parse(c.want, catalog())
			got, err2 := query.Parse(raw, catalog())
			if diff := diffRequests(want, got); err != nil || err2 != nil || diff != "" {
				t.Errorf("%s: %q: %v, %v, not the same as %q:\n%s", c.name, raw, err2, err, c.want, diff)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{
		"", "page=2&per_page=1000&sort=price&order=desc", "title=a&title=b&title[in]=c,,d",
		"price[gt]=1.50&price[lte]=-0", "date[prefix]=20&date=2024-02-29",
		"a[b]=1&a[eq]=2&a[eq][eq]=3&[eq]=4", "search=AB-12/7+%22old+ro%22*+-x+植物*", "search=%E2%80%9Cx&tags[ne]=",
		"title[match]=ros*&title[match]=-&x+y[match]=-a%22+b&id[match]=+", "page[eq]=1&%C3%A9t%C3%A9[empty]=true",
		"search=%D7%A6%D7%94%22%D7%9C+%22", "id[in]=1,1.0,2&x+y[gt]=%00",
		"sort=a,-price", "sort=-a,b&order=desc", "sort=--x", "sort=a,b,--x,-",
		"search=a%CC%81*+%F0%9F%91%A9%E2%80%8D%F0%9F%8C%BE",
	} {
		f.Add(raw)
	}
	fields := append(catalog(),
		herb.Field{Name: "a", Type: herb.TypeText, Filterable: true, Sortable: true},
		herb.Field{Name: "a,b", Type: herb.TypeText, Sortable: true},
		herb.Field{Name: "-x", Type: herb.TypeText, Sortable: true},
		herb.Field{Name: "a[eq]", Type: herb.TypeList, Filterable: true, Sortable: true},
		herb.Field{Name: "[eq]", Type: herb.TypeText, Filterable: true},
		herb.Field{Name: "search", Type: herb.TypeDate, Filterable: true, Sortable: true},
		herb.Field{Name: "q\"&=%\x00", Type: herb.TypeText, Filterable: true},
	)
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := query.Parse(raw, fields)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid || err.Error() == "" {
				t.Errorf("%q: %#v", raw, err)
			}
			return
		}
		if encoded := encodeAgain(t, raw); len(encoded) <= query.MaxQueryBytes { // escaping can exceed the maximum length
			again, err := query.Parse(encoded, fields)
			if diff := diffRequests(r, again); err != nil || diff != "" {
				t.Errorf("%q is not the same as %q: %v\n%s", raw, encoded, err, diff)
			}
		}
	})
}

func TestMeta(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, perPage, total, pages int }{
		{1, 25, 0, 0}, {2, 25, 0, 0}, {1, 25, 1, 1}, {1, 25, 25, 1}, {1, 25, 26, 2}, {2, 25, 26, 2}, {3, 25, 26, 2},
		{query.MaxPage, 100, 7, 1}, {1, 1, 3, 3}, {1, 100, math.MaxInt32, 21474837},
	} {
		r := &query.Request{Page: c.page, PerPage: c.perPage}
		want := query.Meta{
			Total: c.total, Page: c.page, PerPage: c.perPage, TotalPages: c.pages,
			HasNext: c.page < c.pages,
			HasPrev: c.page > 1 && c.total > 0,
		}
		if diff := cmp.Diff(want, r.Meta(c.total)); diff != "" {
			t.Errorf("page %d of %d (-want +got):\n%s", c.page, c.total, diff)
		}
	}
}

// TestOffset checks that pages do not overlap, leave no gaps and never overflow.
func TestOffset(t *testing.T) {
	t.Parallel()
	for perPage := 1; perPage <= query.MaxPerPage; perPage++ {
		for page := 1; page < 50; page++ {
			r := query.Request{Page: page, PerPage: perPage}
			next := query.Request{Page: page + 1, PerPage: perPage}
			if next.Offset() != r.Offset()+perPage {
				t.Fatalf("page %d of %d begins at %d, the next at %d", page, perPage, r.Offset(), next.Offset())
			}
		}
		if first := (&query.Request{Page: 1, PerPage: perPage}).Offset(); first != 0 {
			t.Fatalf("the first page begins at %d", first)
		}
		for _, page := range []int{query.MaxPage, math.MaxInt} {
			if last := (&query.Request{Page: page, PerPage: perPage}).Offset(); last < page-1 {
				t.Fatalf("page %d of %d begins at %d", page, perPage, last)
			}
		}
	}
}
