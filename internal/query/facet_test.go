package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestParseFacets(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ raw, want string }{
		{"field=title", "field=title&top=10&buckets=20"},
		{"field=title&field=id&field=", "field=title&field=id&top=10&buckets=20"},
		{"field=id&field=title&top=&buckets=&search=+", "field=id&field=title&top=10&buckets=20"},
		{"field=id&top=0&buckets=0&api_key=secret", "field=id&top=0&buckets=0"},
		{"field=id&top=100&buckets=100", "field=id&top=100&buckets=100"},
		{"buckets=02&field=id&page=&sort=&order=&per_page=", "field=id&top=10&buckets=2"},
		{"title=b&field=id&title=a&search=Rose", "title%5Beq%5D=a&title%5Beq%5D=b&search=rose&field=id&top=10&buckets=20"},
		{"field=id&_offset=0&_values=&_scale=&_edges=&_own_filter=", "field=id&top=10&buckets=20"},
		{"field=id&_scale=linear&_edges=matching&_own_filter=apply", "field=id&top=10&buckets=20"},
		{"_own_filter=ignore&_values=R%C3%B6+s&_edges=all&_scale=auto&field=id&_offset=10000",
			"field=id&top=10&_offset=10000&_values=R%C3%B6+s&buckets=20&_scale=auto&_edges=all&_own_filter=ignore"},
		{"field=id&_filter=title%3Db&_filter=&title=a", "title%5Beq%5D=a&title%5Beq%5D=b&field=id&top=10&buckets=20"},
		{"field=page&page[eq]=3", "page%5Beq%5D=3&field=page&top=10&buckets=20"},
	} {
		want, err := query.ParseFacets(tt.want, catalog())
		got, err2 := query.ParseFacets(tt.raw, catalog())
		if diff := diffRequests(want, got); err != nil || err2 != nil || diff != "" {
			t.Errorf("%q: %v, %v, not the same as %q:\n%s", tt.raw, err2, err, tt.want, diff)
		}
	}
}

func TestParseFacets_invalid(t *testing.T) {
	t.Parallel()
	many := make([]herb.Field, query.MaxFacetFields+1)
	var all []string
	for i := range many {
		many[i] = herb.Field{Name: strings.Repeat("x", i+1), Type: herb.TypeText, Filterable: true}
		all = append(all, "field="+many[i].Name)
	}
	for _, tt := range []struct {
		raw    string
		fields []herb.Field
		want   string
	}{
		{"", catalog(), `no "field" is given; name the fields to count the values of, as in field=id; filterable fields: ` + filterableNames},
		{"field=", nil, `no "field" is given; name the fields to count the values of, as in field=category; filterable fields: none`},
		{"field=titel", catalog(), `unknown field "titel"; did you mean "title"? filterable fields: ` + filterableNames},
		{"field=notes", catalog(), `field "notes" is not filterable, so its values are not counted; filterable fields: ` + filterableNames},
		{"field=id&field=id", catalog(), `field "id" is given more than once; give it once`},
		{strings.Join(all, "&"), many, "more than 32 fields are given; give at most 32"},
		{"field=id&top=101", catalog(), `top is "101"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=-1", catalog(), `top is "-1"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=+5", catalog(), `top is " 5"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=1&top=2", catalog(), `"top" is given more than once; give it once`},
		{"field=id&buckets=1", catalog(), `buckets is "1"; it must be 0 (no histogram) or a whole number from 2 to 100`},
		{"field=id&buckets=many", catalog(), `buckets is "many"; it must be 0 (no histogram) or a whole number from 2 to 100`},
		{"field=id&_offset=10001", catalog(), `_offset is "10001"; it must be a whole number from 0 to 10000; to find other values, use _values`},
		{"field=id&_scale=Log", catalog(), `_scale is "Log"; it must be linear, log or auto`},
		{"field=id&_edges=some", catalog(), `_edges is "some"; it must be matching or all`},
		{"field=id&_own_filter=1", catalog(), `_own_filter is "1"; it must be apply or ignore`},
		{"field=id&_edges=all&_edges=all", catalog(), `"_edges" is given more than once; give it once`},
		{"field=id&page=1", catalog(), `"page" is given, but facets count all records that meet the filters and the search, in no order ` +
			`and without pages; leave "page" out`},
		{"field=id&top=999999999999999999999", catalog(), `top is "999999999999999999999"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&feild=2", catalog(), `unknown parameter "feild"; did you mean "field"? valid parameters: field, top, _offset, _values, buckets, _scale, ` +
			`_edges, _own_filter, search, api_key, _filter, _version; ` +
			`filterable fields: ` + filterableNames},
		{"field=id&price=cheap", catalog(), "price is a number field and \"cheap\" is not a number; write it in plain decimal notation, such as -3, 25 or 12.50"},
		{"field=%zz", catalog(), "malformed query string: a % must be followed by two hexadecimal digits; write %25 for a percent sign"},
		{"field=" + strings.Repeat("x", query.MaxQueryBytes), catalog(), "the query string has 8198 bytes; at most 8192 are read"},
	} {
		_, err := query.ParseFacets(tt.raw, tt.fields)
		if herb.CodeOf(err) != herb.CodeInvalid || err.Error() != tt.want {
			t.Errorf("%.60q:\n got %v\nwant %s", tt.raw, err, tt.want)
		}
	}
	for _, name := range []string{"per_page", "sort", "order"} {
		if _, err := query.ParseFacets("field=id&"+name+"=x", catalog()); err == nil || !strings.HasPrefix(err.Error(), `"`+name+`" is given`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseFacets(f *testing.F) {
	for _, raw := range []string{
		"field=id", "field=title&field=price&top=5&buckets=7", "field=field&field[eq]=x&top[in]=1,2",
		"field=date&date[gte]=2024-01-01&search=%22old+rose%22+-x", "field=x+y&page=1", "field=&field=été&top=&buckets=0",
		"field=id&field=id", "field=id&title[match]=ros*+-x", "field=tags&tags=&tags[ne]=a&api_key=k", "field=a%5Bb%5D&buckets=1&top=101", "%ff=&field=%00",
		"field=id&_offset=7&_values=%C3%A9&_scale=auto&_edges=all&_own_filter=ignore", "field=id&_scale=log&_edges=matching&_offset=-1",
	} {
		f.Add(raw)
	}
	fields := append(catalog(),
		herb.Field{Name: "field", Type: herb.TypeText, Filterable: true},
		herb.Field{Name: "top", Type: herb.TypeNumber, Filterable: true},
		herb.Field{Name: "field[eq]", Type: herb.TypeList, Filterable: true},
		herb.Field{Name: "q\"&=%\x00", Type: herb.TypeText, Filterable: true},
	)
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := query.ParseFacets(raw, fields)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid || err.Error() == "" {
				t.Errorf("%q: %#v", raw, err)
			}
			return
		}
		if len(r.Fields) == 0 || len(r.Fields) > query.MaxFacetFields || r.Top < 0 || r.Top > query.MaxTop ||
			r.Buckets != 0 && r.Buckets < query.MinBuckets || r.Buckets > query.MaxBuckets {
			t.Errorf("%q is %+v", raw, r)
		}
		if encoded := encodeAgain(t, raw); len(encoded) <= query.MaxQueryBytes { // escaping can exceed the maximum length
			again, err := query.ParseFacets(encoded, fields)
			if diff := diffRequests(r, again); err != nil || diff != "" {
				t.Errorf("%q is not the same as %q: %v\n%s", raw, encoded, err, diff)
			}
		}
	})
}
