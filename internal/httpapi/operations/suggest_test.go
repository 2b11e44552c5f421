package operations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// indexed returns an indexed version with words, categories, names, codes and a field that cannot
// be filtered.
func indexed(t *testing.T, more ...herb.Record) *library.View {
	t.Helper()
	fields := []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "title", Type: herb.TypeText, Filterable: true, Searchable: true},
		{Name: "status", Type: herb.TypeText, Filterable: true},
		{Name: "sku", Type: herb.TypeText, Filterable: true, Searchable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true, Searchable: true},
		{Name: "note", Type: herb.TypeText, Searchable: true},
		{Name: "date", Type: herb.TypeDate, Filterable: true},
	}
	records := append([]herb.Record{
		{"1", "French marigold", "published", "ABCD", "annual, sun", "aphids", "2024-01-01"},
		{"2", "Pot marigold", "published", "AB-12", "annual, sun", "snails", "2024-01-02"},
		{"3", "Ostrich fern", "Draft", "AB-13", "shade", "wisteria", "2024-01-03"},
		{"4", "Royal fern", "draft", "ABCE", "shade", "", "2024-01-04"},
		{"5", "Male fern", "draft", "ABCF", "Été", "", "2024-01-05"},
	}, more...)
	r, err := segment.InMemory(t.Context(), fields, records)
	must.NoError(t, err)
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Fields: fields}
	d.PrimaryKey = []string{"sku"}
	return &library.View{Dataset: d, Engine: r, Reader: r}
}

// suggest returns the suggestions for a listing, each as its request, its number of records and its
// corrections.
func suggest(t *testing.T, v *library.View, params string) string {
	t.Helper()
	req, err := query.Parse(params, v.Fields)
	must.NoError(t, err)
	page, err := v.List(t.Context(), req)
	must.NoError(t, err)
	if page.Total > 0 {
		t.Errorf("%s has records", params)
	}
	given, err := query.ParseParams(params)
	must.NoError(t, err)
	found, err := operations.Suggest(t.Context(), v, req, given)
	must.NoError(t, err)
	var all []string
	for _, s := range found {
		var listing []string
		for _, p := range s.Params {
			listing = append(listing, p.Name+"="+p.Value)
		}
		all = append(all, fmt.Sprintf("%s: %d %v", strings.Join(listing, "&"), s.Total, s.Corrections))
		corrected, err := query.Parse(s.Params.Encode(), v.Fields)
		must.NoError(t, err)
		page, err := v.List(t.Context(), corrected)
		must.NoError(t, err)
		if page.Total != s.Total {
			t.Errorf("%s: %s has %d records", params, all[len(all)-1], page.Total)
		}
	}
	return strings.Join(all, "; ")
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	v := indexed(t)
	for _, tt := range []struct{ params, want string }{
		// words
		{"search=marigodl&sort=-id&page=2", "search=marigold&sort=-id&page=2: 2 map[marigodl:marigold]"},
		{`search=frnch+%22marigodl%22`, `search=french "marigold": 1 map[frnch:french marigodl:marigold]`},
		{"search=marigodl*+-sun", "search=marigold -sun: 0"},
		{"search=Marigodl+-shade", "search=marigold -shade: 2 map[marigodl:marigold]"},
		{"search=zzzzzzz", ""},
		{"search=fern+marigold", ""},
		{"title[match]=fren&search=royal", "title[match]=fern&search=royal: 1 map[fren:fern]"},
		{"title[contains]=Ostrihc", "title[contains]=ostrich: 1 map[ostrihc:ostrich]"},
		{"title[prefix]=Ostrihc", "title[prefix]=ostrich: 1 map[ostrihc:ostrich]"},
		{"search=wisterai", "search=wisteria: 1 map[wisterai:wisteria]"}, // searchable, so that listings find it
		// case and accents, of the most frequent value
		{"status=Published", "status=published: 2 map[Published:published]"},
		{"status=DRAFT&_fields=id", "status=draft&_fields=id: 2 map[DRAFT:draft]"},
		{"status[in]=DRAFT,nothing", "status[in]=draft,nothing: 2 map[DRAFT:draft]"},
		{"_filter=status=PUBLISHED", "_filter=status=published: 2 map[PUBLISHED:published]"},
		{"_filter=status[eq]=PUBLISHED", "_filter=status[eq]=published: 2 map[PUBLISHED:published]"},
		{"tags=ete", "tags=Été: 1 map[ete:Été]"},
		{"sku=ab-12", "sku=AB-12: 1 map[ab-12:AB-12]"},
		{"status=Draft&id=1", ""}, // the value occurs
		// letters
		{"status=publishd", "status=published: 2 map[publishd:published]"},
		{"status[ieq]=Publishd", "status[ieq]=published: 2 map[Publishd:published]"},
		{"tags=anual", "tags=annual: 2 map[anual:annual]"},
		{"title=ostrich+ferm", "title=Ostrich fern: 1 map[ostrich ferm:Ostrich fern]"},
		// codes and digits
		{"sku=AB-14", ""}, {"sku=ABCG", ""}, {"sku[contains]=ABCG", ""}, {"status=publ1shed", ""}, {"search=AB-14", ""},
		{"search=marigo1d", ""}, {"id=7", ""}, {"date=2025-01-01", ""}, {"tags=sum", ""},
		// several, and those alone if they have no records together
		{"status=Published&title=ostrich+ferm", "status=published: 2 map[Published:published]; " +
			"title=Ostrich fern: 1 map[ostrich ferm:Ostrich fern]"},
		{"search=marigodl&sku=nosuch&sort=id", "search=marigold&sort=id: 2 map[marigodl:marigold]"},
		{"status=Published&tags=Sun", "status=published&tags=sun: 2 map[Published:published Sun:sun]"},
		{"status=Published&tags=Shade&_any=status,tags", "status=published&tags=shade&_any=status,tags: 4 " +
			"map[Published:published Shade:shade]"},
		{"status=Published&tags=shade", "status=published: 2 map[Published:published]"},
		// what is no typo
		{"status[ne]=published&status=Published", "status=published: 2 map[Published:published]"},
		{"status[empty]=true", ""}, {"search=!!!", ""}, {"title=+", ""},
	} {
		want := tt.want
		if strings.HasSuffix(want, ": 0") {
			want = ""
		}
		if got := suggest(t, v, tt.params); got != want {
			t.Errorf("%s:\n%s; want\n%s", tt.params, got, want)
		}
	}
}

// TestSuggest_limits checks requests and records of any size: what is corrected is bounded, and a
// suggestion is a request that the API takes.
func TestSuggest_limits(t *testing.T) {
	t.Parallel()
	var more []herb.Record
	for i := range 300 {
		state := fmt.Sprintf("state %c%c", 'a'+i/26, 'a'+i%26)
		more = append(more, herb.Record{fmt.Sprint(i), "x", state, "", "", "", ""})
	}
	long := herb.Record{"", strings.Repeat("Z", 2<<20), "", "", "", strings.Repeat("y ", 1<<20), ""}
	v := indexed(t, append(more, long)...)
	repeat := func(param string, n int) string { return strings.Repeat(param+"&", n-1) + param }
	const excluded = query.MaxSearchWords - 1
	for _, tt := range []struct{ params, want string }{
		{"title=" + strings.Repeat("z", 4<<10), ""},
		{"title[contains]=" + strings.Repeat("zq", 2<<10), ""},
		{"search=" + strings.Repeat("marigodl+", 30), ""},
		{"search=%00%01marigodl%F0%9F%8C%B9", ""},
		{"search=marigodl%22%3Cscript%3E", ""},
		{repeat("status=PUBLISH", 100), repeat("status=published", 4) + "&" + repeat("status=PUBLISH", 96) +
			": 2 map[PUBLISH:published]"},
		{repeat("status=nothing", 98) + "&tags=Sun&tags=moon", ""},
		{"status=nothing&status=PUBLISHED&status=neither&tags=sun",
			"status=nothing&status=published&status=neither&tags=sun: 2 map[PUBLISHED:published]"},
		{"search=" + strings.Repeat("-a+", excluded) + "marigodl",
			"search=" + strings.Repeat("-a ", excluded) + "marigold: 2 map[marigodl:marigold]"},
		{"search=marigodl&_filter=status=x&_filter=status=&status=draft", "search=marigold: 2 map[marigodl:marigold]"},
	} {
		if got := suggest(t, v, tt.params); got != tt.want {
			t.Errorf("%.200s:\n%.200s; want\n%.200s", tt.params, got, tt.want)
		}
	}
}

// TestSuggest_none checks that mutable datasets and overloaded servers suggest nothing, that
// versions without an index suggest values, and that other errors are returned.
func TestSuggest_none(t *testing.T) {
	t.Parallel()
	v := indexed(t)
	parse := func(params string) (*query.Request, query.Params) {
		req, err := query.Parse(params, v.Fields)
		must.NoError(t, err)
		given, err := query.ParseParams(params)
		must.NoError(t, err)
		return req, given
	}
	req, params := parse("status=Published")
	plants, oracle := *v, *v
	plants.Ref = herb.PlantsRef
	found, err := operations.Suggest(t.Context(), &plants, req, params)
	if found != nil || err != nil {
		t.Errorf("plants: %v, %v", found, err)
	}
	records := []herb.Record{{"", "", "published", "", "", "", ""}}
	oracle.Reader, oracle.Engine = nil, segmenttest.NewOracle(v.Fields, records)
	found, err = operations.Suggest(t.Context(), &oracle, req, params)
	if len(found) != 1 || found[0].Total != 1 || err != nil {
		t.Errorf("without an index: %v, %v", found, err)
	}
	for _, failure := range []error{herb.Errorf(herb.CodeUnavailable, "overloaded"), errors.New("disk")} {
		ctx := query.WithPacer(t.Context(), &segmenttest.Pacer{Full: failure})
		found, err = operations.Suggest(ctx, v, req, params)
		if found != nil || errors.Is(err, failure) == (herb.CodeOf(failure) == herb.CodeUnavailable) {
			t.Errorf("%v: %v, %v", failure, found, err)
		}
	}
}
