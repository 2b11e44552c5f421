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

// checkSame checks that two queries are the same request.
func checkSame[Request any](t *testing.T, parse func(string, []herb.Field) (Request, error), fields []herb.Field, raw,
	want string) {
	t.Helper()
	wanted, err := parse(want, fields)
	got, err2 := parse(raw, fields)
	if diff := diffRequests(wanted, got); err != nil || err2 != nil || diff != "" {
		t.Errorf("%q: %v, %v, not the same as %q:\n%s", raw, err2, err, want, diff)
	}
}

// fuzzRequests checks that a query is rejected with a message, or meets check and is the same
// request with its parameters encoded as this package encodes them.
func fuzzRequests[Request any](f *testing.F, fields []herb.Field, parse func(string, []herb.Field) (Request, error),
	check func(Request) bool) {
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := parse(raw, fields)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid || err.Error() == "" {
				t.Errorf("%q: %#v", raw, err)
			}
			return
		}
		if !check(r) {
			t.Errorf("%q is %+v", raw, r)
		}
		ps, err := query.ParseParams(raw)
		if err != nil {
			t.Fatal(err)
		}
		if encoded := ps.Encode(); len(encoded) <= query.MaxQueryBytes { // escaping can exceed the maximum length
			checkSame(t, parse, fields, encoded, raw)
		}
	})
}

// TestParse_spellings checks that different spellings are the same request.
func TestParse_spellings(t *testing.T) {
	t.Parallel()
	for want, raws := range map[string][]string{
		"page=1&per_page=25": {"", "&", "page=1", "per_page=25&page=", "order=desc",
			"api_key=secret", "search=+"},
		"page=1&per_page=100":        {"per_page=100", "per_page=101", "per_page=0999"},
		"sort=id&page=1&per_page=25": {"sort=id", "order=asc&sort=id", "sort=id&order="},
		"sort=id&order=desc&page=2&per_page=25": {"page=2&order=desc&sort=id", "sort=id&order=desc&page=02",
			"sort=-id&page=2"},
		"sort=-price%2Cid&page=1&per_page=25":   {"sort=-price,id", "order=&sort=-price%2Cid"},
		"_fields=price%2Cid&page=1&per_page=25": {"_fields=price,id"},
		"title%5Beq%5D=a&title%5Beq%5D=b&page=1&per_page=25": {
			"title=a&title=b", "title=b&title=a", "title[in]=b,a", "title[eq]=a&title=b&title=a",
			"%74itle=b&title[in]=a,b,a", "_filter=title%3Db&_filter=title%5Beq%5D%3Da",
			"title=b&_filter=title%5Bin%5D%3Da&_filter=",
		},
		"title%5Beq%5D=&page=1&per_page=25":             {"title=", "title", "title[empty]=true", "title[in]="},
		"title%5Bne%5D=&page=1&per_page=25":             {"title[ne]=", "title[empty]=false"},
		"id%5Beq%5D=1&x+y%5Beq%5D=2&page=1&per_page=25": {"x+y=2&id=1", "id=1&x%20y=2"},
		"search=%22old+rose%22+lily&page=1&per_page=25": {
			"search=lily+%22Old+Rose%22", "search=%22old++rose%22+LILY", "search=old-rose+lily+lily",
		},
	} {
		for _, raw := range raws {
			checkSame(t, query.Parse, catalog(), raw, want)
		}
	}
}

// TestParse_notations checks that equivalent spellings of operands are the same request.
func TestParse_notations(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "price", Type: herb.TypeNumber, Filterable: true,
			Notation: herb.Notation{Group: ".", Decimal: ",", Missing: []string{"--", "NA"}}},
		{Name: "day", Type: herb.TypeDate, Filterable: true, Notation: herb.Notation{DateFormat: "%d/%m/%Y"}},
		{Name: "at", Type: herb.TypeDateTime, Filterable: true},
		{Name: "ok", Type: herb.TypeBoolean, Filterable: true},
	}
	for raw, want := range map[string]string{
		"price[gt]=1.234,50":             "price[gt]=1234,50",
		"price[gt]=12.5":                 "price[gt]=12,5",
		"price=NA":                       "price[eq]=NA",
		"price=+NA+":                     "price[eq]=NA",
		"price=":                         "price[eq]=",
		"price[empty]=true":              "price[eq]=&price[eq]=--&price[eq]=NA",
		"price[empty]=false":             "price[ne]=&price[ne]=--&price[ne]=NA",
		"day[lt]=29/2/2024":              "day[lt]=2024-02-29",
		"day=29/2/2024&day=2024-02-29":   "day[eq]=2024-02-29",
		"at=2024-02-29T11:00:00%2B01:00": "at[eq]=2024-02-29T10:00:00.000000000Z",
		"at[gte]=2024-02-29":             "at[gte]=2024-02-29T00:00:00.000000000Z",
		"ok=YES":                         "ok[eq]=true",
		"ok=yes&ok=True":                 "ok[eq]=true",
	} {
		checkSame(t, query.Parse, fields, raw, want)
	}
	for _, raw := range []string{"price[gt]=NA", "price=x", "day=2/29/2024", "at=10:00", "ok=1", "ok[prefix]=t",
		"price[lt]=--"} {
		if _, err := query.Parse(raw, fields); herb.CodeOf(err) != herb.CodeInvalid {
			t.Errorf("%q: %v; want an invalid request", raw, err)
		}
	}
}

func TestString_Listing(t *testing.T) {
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
		{"with filters and pages", "id=1&page=2&per_page=5", newest,
			"id%5Beq%5D=1&sort=date&order=desc&page=2&per_page=5"},
		{"an empty sort is none", "sort=", newest, "sort=date&order=desc&page=1&per_page=25"},
		{"sort comes first", "sort=id", newest, "sort=id&page=1&per_page=25"},
		{"and has its own direction", "sort=date", newest, "sort=date&page=1&per_page=25"},
		{"order without sort has no effect", "order=asc", newest, "sort=date&order=desc&page=1&per_page=25"},
		{"best matches come first", "search=rose", newest, "search=rose&page=1&per_page=25"},
		{"a search without a word is still one", "search=-", newest, "search=-&page=1&per_page=25"},
		{"a field that is not sortable", "", herb.Order{Field: "note"}, "page=1&per_page=25"},
		{"a field that is not there", "", herb.Order{Field: "gone"}, "page=1&per_page=25"},
	} {
		got, err := query.Split(tt.raw).Listing(fields, tt.order)
		want, err2 := query.Parse(tt.want, fields)
		if diff := diffRequests(want, got); err != nil || err2 != nil || diff != "" {
			t.Errorf("%s: %v, %v, not the same as %s:\n%s", tt.name, err, err2, tt.want, diff)
		}
	}
	if _, err := query.Split("sort=x").Listing(fields, newest); err == nil {
		t.Error("an unknown sort field is accepted")
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
	fuzzRequests(f, fields, query.Parse, func(*query.Request) bool { return true })
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

func TestRequest_SelectsAll(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "name", Type: herb.TypeText, Filterable: true, Sortable: true, Searchable: true},
		{Name: "lat", Type: herb.TypeNumber, Filterable: true}, {Name: "lon", Type: herb.TypeNumber, Filterable: true},
	}
	for raw, want := range map[string]bool{
		"": true, "sort=name&page=2": true, "name=a": false, "search=a": false, "_bbox=1,2,3,4": false,
	} {
		r, err := query.Split(raw).Listing(fields, herb.Order{})
		if err != nil || r.SelectsAll() != want {
			t.Errorf("%q: %v; want %v", raw, err, want)
		}
	}
}
