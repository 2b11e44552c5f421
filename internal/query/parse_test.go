package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// catalog has a field of every type, one that is neither sortable nor filterable, and names that
// need escaping.
func catalog() []herb.Field {
	all := func(name string, t herb.Type) herb.Field {
		return herb.Field{Name: name, Type: t, Searchable: true, Filterable: true, Sortable: true}
	}
	return []herb.Field{
		all("id", herb.TypeNumber), all("title", herb.TypeText), all("date", herb.TypeDate),
		all("price", herb.TypeNumber),
		all("tags", herb.TypeList),
		{Name: "notes", Type: herb.TypeText},
		all("page", herb.TypeNumber), all("x y", herb.TypeText), all("a[b]", herb.TypeText), all("été", herb.TypeText),
	}
}

// Common endings of messages.
const (
	filterableNames = "a[b], date, id, page, price, tags, title, x y, été"
	operators       = "valid operators: eq, ne, ieq, ine, gt, gte, lt, lte, in, prefix, contains, match, empty"
	parameters      = "valid parameters: page, per_page, sort, order, search, _words, _bbox, _near, _coordinates, api_key, " +
		"_fields, _filter, _any, _zone, _version, _typed, _matches, _labels; filterable fields: " + filterableNames
	pageRule    = "; it must be a whole number from 1 to 9007199254740991"
	perPageRule = "; it must be a whole number from 1 (over 100 is served as 100)"
	orderRule   = `"order" is given, so "sort" must be one field without -; leave "order" out and write - before each descending field, such as sort=`
	numberRule  = " is not a number; write it in plain decimal notation, such as -3, 25 or 12.50"
	dateRule    = " is not a date; write it YYYY-MM-DD, such as 2024-02-29"
	wordsRule   = "the search has more than 32 words, including those of [match]; give at most 32"
	percentRule = "malformed query string: a % must be followed by two hexadecimal digits; write %25 for a " +
		"percent sign"
)

func TestParse_invalid(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 61)
	clipped := strings.Repeat("é", 60) + "…"
	for _, c := range []struct{ name, raw, want string }{
		{"page zero", "page=0", `page is "0"` + pageRule},
		{"page negative", "page=-1", `page is "-1"` + pageRule},
		{"page signed", "page=%2B1", `page is "+1"` + pageRule},
		{"page with a fraction", "page=1.5", `page is "1.5"` + pageRule},
		{"page a word", "page=two", `page is "two"` + pageRule},
		{"page blank", "page=+", `page is " "` + pageRule},
		{"page with an underscore", "page=1_0", `page is "1_0"` + pageRule},
		{"page in other digits", "page=%D9%A1", `page is "١"` + pageRule},
		{"page too large", "page=9007199254740992", `page is "9007199254740992"` + pageRule},
		{"page beyond int", "page=99999999999999999999", `page is "99999999999999999999"` + pageRule},
		{"per_page zero", "per_page=0", `per_page is "0"` + perPageRule},
		{"per_page negative", "per_page=-5", `per_page is "-5"` + perPageRule},
		{"per_page a word", "per_page=all", `per_page is "all"` + perPageRule},
		{"order and a -", "sort=-id&order=desc", orderRule + "-id"},
		{"order and several sort fields", "sort=price,-id&order=asc", orderRule + "-price,-id"},
		{"_filter without a value", "_filter=price", `_filter is "price"; write field=value or field[operator]=value`},
		{"_filter by an unknown field", "_filter=prize%3D3",
			`unknown field "prize" in "_filter"; did you mean "price"? filterable fields: ` + filterableNames},
		{"_filter by a parameter that is no field", "_filter=sort%3Dprice",
			`unknown field "sort" in "_filter"; filterable fields: ` + filterableNames},
		{"_filter by a hidden field", "_filter=notes%3D3", `field "notes" is not filterable; filterable fields: ` +
			filterableNames},
		{"_filter with an unknown operator", "_filter=price%5Bover%5D%3D3",
			`unknown operator "over" in "price[over]"; ` + operators},
		{"order unknown", "order=up", `order is "up"; it must be asc or desc`},
		{"order in capitals", "sort=id&order=DESC", `order is "DESC"; it must be asc or desc`},
		{"sort unknown", "sort=colour", `unknown sort field "colour"; sortable fields: ` + filterableNames},
		{"sort mistyped", "sort=prize", `unknown sort field "prize"; did you mean "price"? sortable fields: ` +
			filterableNames},
		{"sort in capitals", "sort=Price", `unknown sort field "Price"; did you mean "price"? sortable fields: ` +
			filterableNames},
		{"sort forbidden", "sort=notes", `field "notes" is not sortable; sortable fields: ` + filterableNames},
		{"sort long", "sort=" + long, `unknown sort field "` + clipped + `"; sortable fields: ` + filterableNames},
		{"sort unknown among several", "sort=id,-prize",
			`unknown sort field "prize"; did you mean "price"? sortable fields: ` + filterableNames},
		{"sort forbidden among several", "sort=id,notes", `field "notes" is not sortable; sortable fields: ` +
			filterableNames},
		{"sort with an empty part", "sort=id,", `unknown sort field ""; sortable fields: ` + filterableNames},
		{"sort by a field twice", "sort=id,price,-id", `field "id" is given more than once in "sort"; give it once`},
		{"sort fields", "sort=" + strings.Repeat("id,", 8) + "id", `"sort" has more than 8 fields; give at most 8`},
		{"_fields with a field twice", "_fields=id,price,id",
			`field "id" is given more than once in "_fields"; give it once`},
		{"page twice", "page=1&page=1", `"page" is given more than once; give it once`},
		{"page twice, once empty", "page=&page=1", `"page" is given more than once; give it once`},
		{"per_page twice", "per_page=1&per_page=1", `"per_page" is given more than once; give it once`},
		{"sort twice by the same field", "sort=id&sort=id",
			`field "id" is given more than once in "sort"; give it once`},
		{"sort twice with order", "sort=id&sort=price&order=asc",
			`"order" is given, so "sort" must be one field without -; leave "order" out and write - before each descending field, such as sort=-id,price`},
		{"_fields twice with the same field", "_fields=id&_fields=price,id",
			`field "id" is given more than once in "_fields"; give it once`},
		{"order twice", "order=asc&order=asc", `"order" is given more than once; give it once`},
		{"search twice", "search=a&search=a", `"search" is given more than once; give it once`},
		{"unknown parameter", "colour=red", `unknown parameter "colour"; ` + parameters},
		{"unknown parameter without a value", "colour", `unknown parameter "colour"; ` + parameters},
		{"parameter without a name", "=red", `unknown parameter ""; ` + parameters},
		{"mistyped field", "prise=1", `unknown parameter "prise"; did you mean "price"? ` + parameters},
		{"mistyped parameter", "perpage=1", `unknown parameter "perpage"; did you mean "per_page"? ` + parameters},
		{"mistyped field with an operator", "prise[gt]=1", `unknown parameter "prise[gt]"; did you mean "price"? ` +
			parameters},
		{"field in capitals", "Title=a", `unknown parameter "Title"; did you mean "title"? ` + parameters},
		{"forbidden field", "notes=a", `field "notes" is not filterable; filterable fields: ` + filterableNames},
		{"forbidden field with an operator", "notes[ne]=a", `field "notes" is not filterable; filterable fields: ` +
			filterableNames},
		{"unknown operator", "price[around]=1", `unknown operator "around" in "price[around]"; ` + operators},
		{"mistyped operator", "price[get]=1",
			`unknown operator "get" in "price[get]"; did you mean "gt"? ` + operators},
		{"operator in capitals", "id[GT]=1", `unknown operator "GT" in "id[GT]"; did you mean "gt"? ` + operators},
		{"no operator", "price[]=1", `unknown operator "" in "price[]"; ` + operators},
		{"not a number", "price=cheap", `price is a number field and "cheap"` + numberRule},
		{"leading zeros", "price[gt]=007", `price is a number field and "007"` + numberRule},
		{"exponent out of range", "price[in]=1,1e401", `price is a number field and "1e401"` + numberRule},
		{"marker that does not occur", "price=NA", `price is a number field and "NA"` + numberRule},
		{"not a date", "date=yesterday", `date is a date field and "yesterday"` + dateRule},
		{"no such day", "date[gte]=2023-02-29", `date is a date field and "2023-02-29"` + dateRule},
		{"prefix of a number that is not digits", "price[prefix]=1.5",
			`price is a number field and numbers cannot begin with "1.5"; give their first digits, such as price[prefix]=12`},
		{"greater than nothing", "price[gt]=", `price[gt] needs a value; use price[empty]=true to find empty values`},
		{"contained in a number", "price[contains]=1",
			`price[contains] does not apply: "price" is a number field; use gte and lt for a range`},
		{"ieq of a number", "price[ieq]=1", `price[ieq] does not apply: "price" is a number field; use eq or ne`},
		{"contained in a date", "date[contains]=1",
			`date[contains] does not apply: "date" is a date field; use gte and lt for a range`},
		{"contains nothing", "title[contains]=",
			`title[contains] needs a value; use title[empty]=true to find empty values`},
		{"prefix nothing", "title[prefix]=", `title[prefix] needs a value; use title[empty]=true to find empty values`},
		{"empty maybe", "title[empty]=maybe", `title[empty] is "maybe"; it must be true or false`},
		{"empty without a value", "title[empty]", `title[empty] is ""; it must be true or false`},
		{"empty twice", "title[empty]=true&title[empty]=false", `"title[empty]" is given more than once; give it once`},
		{"percent", "title=100%", percentRule},
		{"percent in a name", "%zz=1", percentRule},
		{"percent in a key", "api_key=%", percentRule},
		{"not UTF-8", "title=%FF", `malformed query string: it is not UTF-8`},
		{"name not UTF-8", "%FF=1", `malformed query string: it is not UTF-8`},
		{"query too long", "title=" + strings.Repeat("a", 8<<10),
			`the query string has 8,198 bytes; at most 8 KiB are read`},
		{"filters", strings.Repeat("id=1&", 101), `the filters have more than 100 values; give at most 100`},
		{"filters in one", "id[in]=1" + strings.Repeat(",1", 100),
			`the filters have more than 100 values; give at most 100`},
		{"words", "search=" + strings.Repeat("a+", 33), wordsRule},
		{"words in one", "search=" + strings.Repeat("植", 33), wordsRule},
		{"words of search and match", "title[match]=b&search=" + strings.Repeat("a+", 30) +
			"&tags[match]=b&tags[match]=b", wordsRule},
		{"match not searchable", "notes[match]=a", `field "notes" is not searchable; searchable fields: ` +
			filterableNames},
		{"match of many", "title[match]=a" + strings.Repeat("&title[match]=!", 100),
			`the filters have more than 100 values; give at most 100`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := query.Parse(c.raw, catalog())
			if err == nil {
				t.Fatalf("accepted as %+v", r)
			}
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("the code is %q", herb.CodeOf(err))
			}
			if diff := cmp.Diff(c.want, herb.MessageOf(err)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParse_invalidBriefly checks that neither ten thousand columns nor a query of 8 KiB make the
// message long.
func TestParse_invalidBriefly(t *testing.T) {
	t.Parallel()
	fields := make([]herb.Field, 10_000)
	for i := range fields {
		fields[i] = herb.Field{Name: fmt.Sprintf("field%04d", i), Type: herb.TypeNumber, Filterable: true,
			Sortable: true}
	}
	junk := strings.Repeat("x", 8000)
	for _, raw := range []string{
		"sort=zzz", "zzz=1", "sort=" + junk, junk + "=1", "field0001[" + junk + "]=1", "field0001=" + junk,
		"page=" + junk,
		"order=" + junk, "per_page=" + junk, "field0001[empty]=" + junk,
	} {
		_, err := query.Parse(raw, fields)
		if err == nil {
			t.Errorf("%.40q is accepted", raw)
		} else if n := len(err.Error()); n > 1000 {
			t.Errorf("%.40q is rejected with a message of %d bytes", raw, n)
		}
	}
	if _, err := query.Parse("sort=a", nil); herb.MessageOf(err) != `unknown sort field "a"; sortable fields: none` {
		t.Errorf("without fields: %v", err)
	}
}

func TestParseReserved(t *testing.T) {
	t.Parallel()
	standard := query.Request{Page: 1, PerPage: 25}
	with := func(change func(*query.Request)) query.Request {
		r := standard
		change(&r)
		return r
	}
	for _, c := range []struct {
		raw  string
		want query.Request
	}{
		{"", standard},
		{"&&", standard},
		{"page=&per_page=&sort=&order=&search=", standard},
		{"page&per_page&sort&order&search&api_key", standard},
		{"search=+%09%C2%A0", standard}, // blank means no search
		{"api_key=a&api_key=b", standard},
		{"order=desc", standard}, // without a sort, it has no effect
		{"page=2", with(func(r *query.Request) { r.Page = 2 })},
		{"page=0002", with(func(r *query.Request) { r.Page = 2 })},
		{"page=9007199254740991", with(func(r *query.Request) { r.Page = 9007199254740991 })},
		{"per_page=1", with(func(r *query.Request) { r.PerPage = 1 })},
		{"per_page=100", with(func(r *query.Request) { r.PerPage = 100 })},
		{"per_page=101", with(func(r *query.Request) { r.PerPage = 100 })},
		{"per_page=" + strings.Repeat("9", 100), with(func(r *query.Request) { r.PerPage = 100 })},
		{"per_page=00000000000000000000000000007", with(func(r *query.Request) { r.PerPage = 7 })},
		{"sort=price", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 3}} })},
		{"sort=page", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 6}} })},
		{"sort=%C3%A9t%C3%A9&order=asc", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 9}} })},
		{"sort=-id", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 0, Desc: true}} })},
		{"order=&sort=-id", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 0, Desc: true}} })},
		{"sort=-price,id,-%C3%A9t%C3%A9", with(func(r *query.Request) {
			r.Sort = []query.SortField{{Field: 3, Desc: true}, {Field: 0}, {Field: 9, Desc: true}}
		})},
		{"sort=price%2Cid&order=", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 3}, {Field: 0}} })},
		{"_fields=price,id", with(func(r *query.Request) { r.Selected = []int{3, 0} })},
		{"_fields=id,price", with(func(r *query.Request) { r.Selected = []int{0, 3} })},
		{"_fields=id,title,date,price,tags,notes,page,x+y,a[b],%C3%A9t%C3%A9", standard}, // all in their order
		{"order=desc&sort=id", with(func(r *query.Request) { r.Sort = []query.SortField{{Field: 0, Desc: true}} })},
	} {
		got, err := query.Parse(c.raw, catalog())
		if err != nil {
			t.Errorf("%q: %v", c.raw, err)
			continue
		}
		if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(query.Request{}),
			cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.raw, diff)
		}
	}
}

func TestParseConditions(t *testing.T) {
	t.Parallel()
	number := func(s string) query.Operand {
		key, _ := text.Key(herb.TypeNumber, s)
		return query.Operand{Text: s, Key: key}
	}
	plain := func(values ...string) []query.Operand {
		var out []query.Operand
		for _, v := range values {
			out = append(out, query.Operand{Text: v})
		}
		return out
	}
	match := func(canonical string, clauses ...query.Clause) query.Operand {
		return query.Operand{Text: canonical, Search: &query.Search{Clauses: clauses}}
	}
	rose := query.Clause{Words: []string{"rose"}}
	type cs = []query.Condition
	for _, c := range []struct {
		raw  string
		want cs
	}{
		{"title=Rose", cs{{1, query.OpEq, plain("Rose")}}},
		{"title=", cs{{1, query.OpEq, plain("")}}},
		{"title", cs{{1, query.OpEq, plain("")}}},
		{"title[eq]=a", cs{{1, query.OpEq, plain("a")}}},
		{"title=b&title=a&title[eq]=b", cs{{1, query.OpEq, plain("a", "b")}}},
		{"title[in]=b,a,&title=c", cs{{1, query.OpEq, plain("", "a", "b", "c")}}},
		{"title[in]=", cs{{1, query.OpEq, plain("")}}},
		{"title[empty]=true", cs{{1, query.OpEq, plain("")}}},
		{"title[empty]=false&title[ne]=a", cs{{1, query.OpNe, plain("", "a")}}},
		{"title[prefix]=Ro", cs{{1, query.OpPrefix, []query.Operand{{Text: "Ro", Key: text.PrimaryKey("Ro")}}}}},
		{"title[ieq]=r\u00f3&title[ieq]=RO&title[ine]=", cs{
			{1, query.OpIEq, []query.Operand{{Text: "RO", Key: text.PrimaryKey("ro")}}}, {1, query.OpINe, plain("")},
		}},
		{"title[contains]=\u00d6s&tags[contains]=os", cs{
			{1, query.OpContains, []query.Operand{{Text: "\u00d6s", Key: text.PrimaryKey("os")}}},
			{4, query.OpContains, []query.Operand{{Text: "os", Key: text.PrimaryKey("os")}}},
		}},
		{"title[prefix]=r\u00f3&title[prefix]=RO",
			cs{{1, query.OpPrefix, []query.Operand{{Text: "RO", Key: text.PrimaryKey("ro")}}}}},
		{"title[gt]=a", cs{{1, query.OpGt, []query.Operand{{Text: "a", Key: "b\x00\x00\x00\x00"}}}}},
		{"title[match]=Ros%C3%A9+rose", cs{{1, query.OpMatch, []query.Operand{match("rose", rose)}}}},
		{"title[match]=ROSE&title[match]=-%22old+ro%22*&title[match]=rose", cs{{1, query.OpMatch, []query.Operand{
			match(`-"old ro"*`, query.Clause{Words: []string{"old", "ro"}, Prefix: true, Exclude: true}),
			match("rose", rose),
		}}}},
		{"title[match]=!", cs{{1, query.OpMatch, []query.Operand{match("-")}}}},
		{"title[match]=+&title[match]", nil}, // blank, as a blank search
		{"title[match]=rose&title[match]=", cs{{1, query.OpMatch, []query.Operand{match("rose", rose)}}}},
		// numbers are searched by their words
		{"id[match]=rose", cs{{0, query.OpMatch, []query.Operand{match("rose", rose)}}}},
		{"price=25.0", cs{{3, query.OpEq, []query.Operand{number("25.0")}}}},
		{"price=25.0&price=25", cs{{3, query.OpEq, []query.Operand{number("25")}}}}, // equal numbers are one value
		{"price[ne]=", cs{{3, query.OpNe, plain("")}}},
		{"price[lte]=10&price[lte]=9", cs{{3, query.OpLte, []query.Operand{number("9"), number("10")}}}},
		{"date=2024-02-29", cs{{2, query.OpEq, []query.Operand{{Text: "2024-02-29", Key: "2024-02-29"}}}}},
		{"price=1e5", cs{{3, query.OpEq, []query.Operand{number("100000")}}}},
		{"date[lt]=2024-02-29", cs{{2, query.OpLt, []query.Operand{{Text: "2024-02-29", Key: "2024-02-29"}}}}},
		{"date[prefix]=2024-", cs{{2, query.OpPrefix, []query.Operand{{Text: "2024-", Key: "2024-"}}}}},
		{"tags=a,b", cs{{4, query.OpEq, plain("a,b")}}},
		// a field with the name of a reserved parameter
		{"page[eq]=3", cs{{6, query.OpEq, []query.Operand{number("3")}}}},
		{"x+y=1", cs{{7, query.OpEq, plain("1")}}},
		{"x%20y[ne]=1", cs{{7, query.OpNe, plain("1")}}},
		{"a[b]=1", cs{{8, query.OpEq, plain("1")}}},
		{"a%5Bb%5D%5Bne%5D=1", cs{{8, query.OpNe, plain("1")}}},
		{"%C3%A9t%C3%A9=1", cs{{9, query.OpEq, plain("1")}}},
		{"title=a=b", cs{{1, query.OpEq, plain("a=b")}}},
		{"title=a;b", cs{{1, query.OpEq, plain("a;b")}}},
		{"title=a%26b%00", cs{{1, query.OpEq, plain("a&b\x00")}}},
		// In the order of the fields, then of the operators.
		{"price[lt]=9&title=x&price[gt]=1&id=1", cs{
			{0, query.OpEq, []query.Operand{number("1")}},
			{1, query.OpEq, plain("x")},
			{3, query.OpGt, []query.Operand{number("1")}},
			{3, query.OpLt, []query.Operand{number("9")}},
		}},
	} {
		got, err := query.Parse(c.raw, catalog())
		if err != nil {
			t.Errorf("%q: %v", c.raw, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Conditions, cmpopts.IgnoreFields(query.Clause{}, "Forms")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.raw, diff)
		}
	}
}

// TestParse_repeatedLists checks that a list that is given several times is one list, also in the
// canonical form.
func TestParse_repeatedLists(t *testing.T) {
	t.Parallel()
	for raw, joined := range map[string]string{
		"sort=title&sort=-price":                            "sort=title,-price",
		"sort=title&page=2&sort=&sort=-price,id":            "sort=title,-price,id&page=2",
		"_fields=price&_fields=id":                          "_fields=price,id",
		"_fields=price&sort=-id&_fields=id,title&sort=date": "_fields=price,id,title&sort=-id,date",
		"sort=&sort=": "",
	} {
		got, err := query.Parse(raw, catalog())
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		want, err := query.Parse(joined, catalog())
		if err != nil || got.Canonical() != want.Canonical() || !slices.Equal(got.Sort, want.Sort) ||
			!slices.Equal(got.Selected, want.Selected) {
			t.Errorf("%q: %+v, %v; want %+v", raw, got, err, want)
		}
	}
	if err := query.Split("_fields=price&_fields=id").Check(query.KindRecord); err != nil {
		t.Errorf("fields of one record: %v", err)
	}
}

// TestParseAmbiguousNames checks fields whose names look like another field with an operator.
func TestParseAmbiguousNames(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{
		{Name: "b[ne]", Type: herb.TypeText, Filterable: true},
		{Name: "a", Type: herb.TypeText, Filterable: true},
		{Name: "a[eq]", Type: herb.TypeText, Filterable: true},
		{Name: "[eq]", Type: herb.TypeText, Filterable: true},
		{Name: "c]", Type: herb.TypeText, Filterable: true},
	}
	for raw, want := range map[string]query.Condition{
		"a[eq]=1":     {Field: 1, Op: query.OpEq}, // interpreted as an operator first
		"a[eq][eq]=1": {Field: 2, Op: query.OpEq},
		"a[eq][ne]=1": {Field: 2, Op: query.OpNe},
		"b[ne]=1":     {Field: 0, Op: query.OpEq},
		"b[ne][gt]=1": {Field: 0, Op: query.OpGt},
		"[eq]=1":      {Field: 3, Op: query.OpEq},
		"[eq][lt]=1":  {Field: 3, Op: query.OpLt},
		"c]=1":        {Field: 4, Op: query.OpEq},
	} {
		r, err := query.Parse(raw, fields)
		if err != nil {
			t.Errorf("%q: %v", raw, err)
			continue
		}
		if got := r.Conditions[0]; got.Field != want.Field || got.Op != want.Op {
			t.Errorf("%q is field %d, %s; want field %d, %s", raw, got.Field, got.Op, want.Field, want.Op)
		}
	}
}

// TestParseSort_names checks fields whose names look like a descending field or like several
// fields.
func TestParseSort_names(t *testing.T) {
	t.Parallel()
	var fields []herb.Field
	for _, name := range []string{"a", "b", "-a", "-c", "a,b", "d,e"} {
		fields = append(fields, herb.Field{Name: name, Type: herb.TypeText, Sortable: true})
	}
	for raw, want := range map[string][]query.SortField{
		"sort=-a":              {{Field: 2}},
		"sort=-a&order=desc":   {{Field: 2, Desc: true}},
		"sort=--a":             {{Field: 2, Desc: true}},
		"sort=-c":              {{Field: 3}},
		"sort=a,b":             {{Field: 4}},
		"sort=a,b&order=desc":  {{Field: 4, Desc: true}},
		"sort=-a,b":            {{Field: 4, Desc: true}},
		"sort=d,e&order=asc":   {{Field: 5}},
		"sort=b,a":             {{Field: 1}, {Field: 0}},
		"sort=b,-a":            {{Field: 1}, {Field: 0, Desc: true}},
		"sort=b,-a&order=desc": nil,
		"sort=b,-c":            nil, // means c
		"sort=d,e,a":           nil,
	} {
		got, err := query.Parse(raw, fields)
		if want == nil {
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Errorf("%q: %v; want an invalid request", raw, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Sort, want) {
			t.Errorf("%q sorts by %v, %v; want %v", raw, got, err, want)
		}
	}
}

// TestParseFields_names checks fields whose names look like several fields.
func TestParseFields_names(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "a,b"}, {Name: "a"}, {Name: "b"}, {Name: "c,d"}}
	for raw, want := range map[string][]int{"a,b": {0}, "c,d": {3}, "b,a": {2, 1}, "a": {1}, "a,c": nil} {
		got, err := query.Parse("_fields="+raw, fields)
		if (err != nil) != (want == nil) || err == nil && !slices.Equal(got.Selected, want) {
			t.Errorf("_fields=%s selects %v, %v; want %v", raw, got, err, want)
		}
	}
}

func TestParseLimits(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"query":        "title=" + strings.Repeat("a", 8<<10-len("title=")),
		"filters":      strings.Repeat("id=1&", 100),
		"list":         "id[in]=1" + strings.Repeat(",1", 99),
		"words":        "search=" + strings.Repeat("a+", 32),
		"words in one": "search=" + strings.Repeat("植", 32),
		"sort fields":  "sort=id,title,date,price,tags,page,x+y,-a[b]",
		"match":        "search=" + strings.Repeat("a+", 16) + "&title[match]=" + strings.Repeat("a+", 16),
	} {
		if _, err := query.Parse(raw, catalog()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
