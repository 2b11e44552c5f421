package query_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		{"title=b&field=id&title=a&search=Rose",
			"title%5Beq%5D=a&title%5Beq%5D=b&search=rose&field=id&top=10&buckets=20"},
		{"field=id&_offset=0&_values=&_scale=&_edges=&_own_filter=", "field=id&top=10&buckets=20"},
		{"field=id&_scale=linear&_edges=matching&_own_filter=apply", "field=id&top=10&buckets=20"},
		{"_own_filter=ignore&_values=R%C3%B6+s&_edges=all&_scale=auto&field=id&_offset=10000",
			"field=id&top=10&_offset=10000&_values=R%C3%B6+s&buckets=20&_scale=auto&_edges=all&_own_filter=ignore"},
		{"field=id&_filter=title%3Db&_filter=&title=a", "title%5Beq%5D=a&title%5Beq%5D=b&field=id&top=10&buckets=20"},
		{"field=page&page[eq]=3", "page%5Beq%5D=3&field=page&top=10&buckets=20"},
	} {
		checkSame(t, query.ParseFacets, catalog(), tt.raw, tt.want)
	}
}

// TestParseFacets_parameters checks the value that every parameter sets.
func TestParseFacets_parameters(t *testing.T) {
	t.Parallel()
	got, err := query.ParseFacets(
		"field=title&field=id&top=3&_offset=4&_values=x&buckets=5&_scale=log&_edges=all&_own_filter=ignore", catalog())
	want := &query.FacetRequest{
		Request: &query.Request{Page: 1, PerPage: 25}, Fields: []int{1, 0}, Top: 3, Offset: 4, Buckets: 5,
		Scale:      query.ScaleLog,
		Containing: "x", AllEdges: true, IgnoreOwnFilter: true,
	}
	if diff := diffRequests(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
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
		{"", catalog(), `no "field" is given; name each field to count the values of, as in field=<name>; filterable fields: ` + filterableNames},
		{"field=", nil, `no "field" is given; name each field to count the values of, as in field=<name>; filterable fields: none`},
		{"field=titel", catalog(), `unknown field "titel"; did you mean "title"? filterable fields: ` +
			filterableNames},
		{"field=notes", catalog(),
			`field "notes" is not filterable, so its values are not counted; filterable fields: ` + filterableNames},
		{"field=id&field=id", catalog(), `field "id" is given more than once; give it once`},
		{strings.Join(all, "&"), many, "more than 32 fields are given; give at most 32"},
		{"field=id&top=101", catalog(), `top is "101"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=-1", catalog(), `top is "-1"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=+5", catalog(), `top is " 5"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&top=1&top=2", catalog(), `"top" is given more than once; give it once`},
		{"field=id&buckets=1", catalog(),
			`buckets is "1"; it must be 0 (no histogram) or a whole number from 2 to 100`},
		{"field=id&buckets=many", catalog(),
			`buckets is "many"; it must be 0 (no histogram) or a whole number from 2 to 100`},
		{"field=id&_offset=10001", catalog(),
			`_offset is "10001"; it must be a whole number from 0 to 10000; to find other values, use _values`},
		{"field=id&_scale=Log", catalog(), `_scale is "Log"; it must be linear, log or auto`},
		{"field=id&_edges=some", catalog(), `_edges is "some"; it must be matching or all`},
		{"field=id&_own_filter=1", catalog(), `_own_filter is "1"; it must be apply or ignore`},
		{"field=id&_edges=all&_edges=all", catalog(), `"_edges" is given more than once; give it once`},
		{"field=id&page=1", catalog(),
			`"page" is given, but facets count all records that meet the filters and the search, in no order ` +
				`and without pages; leave "page" out`},
		{"field=id&top=999999999999999999999", catalog(),
			`top is "999999999999999999999"; it must be a whole number from 0 (no values) to 100`},
		{"field=id&feild=2", catalog(),
			`unknown parameter "feild"; did you mean "field"? valid parameters: field, top, _offset, _values, buckets, _scale, ` +
				`_edges, _own_filter, search, _words, _bbox, _near, _coordinates, api_key, _filter, _any, _zone, _version; ` +
				`filterable fields: ` + filterableNames},
		{"field=id&price=cheap", catalog(),
			"price is a number field and \"cheap\" is not a number; write it in plain decimal notation, such as -3, " +
				"25 or 12.50"},
		{"field=%zz", catalog(),
			"malformed query string: a % must be followed by two hexadecimal digits; write %25 for a percent sign"},
		{"field=" + strings.Repeat("x", query.MaxQueryBytes), catalog(),
			"the query string has 8,198 bytes; at most 8 KiB are read"},
	} {
		_, err := query.ParseFacets(tt.raw, tt.fields)
		if herb.CodeOf(err) != herb.CodeInvalid || err.Error() != tt.want {
			t.Errorf("%.60q:\n got %v\nwant %s", tt.raw, err, tt.want)
		}
	}
	for _, name := range []string{"per_page", "sort", "order"} {
		if _, err := query.ParseFacets("field=id&"+name+"=x", catalog()); err == nil ||
			!strings.HasPrefix(err.Error(), `"`+name+`" is given`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseFacets(f *testing.F) {
	for _, raw := range []string{
		"field=id", "field=title&field=price&top=5&buckets=7", "field=field&field[eq]=x&top[in]=1,2",
		"field=date&date[gte]=2024-01-01&search=%22old+rose%22+-x", "field=x+y&page=1",
		"field=&field=été&top=&buckets=0",
		"field=id&field=id", "field=id&title[match]=ros*+-x", "field=tags&tags=&tags[ne]=a&api_key=k",
		"field=a%5Bb%5D&buckets=1&top=101", "%ff=&field=%00",
		"field=id&_offset=7&_values=%C3%A9&_scale=auto&_edges=all&_own_filter=ignore",
		"field=id&_scale=log&_edges=matching&_offset=-1",
	} {
		f.Add(raw)
	}
	fields := append(catalog(),
		herb.Field{Name: "field", Type: herb.TypeText, Filterable: true},
		herb.Field{Name: "top", Type: herb.TypeNumber, Filterable: true},
		herb.Field{Name: "field[eq]", Type: herb.TypeList, Filterable: true},
		herb.Field{Name: "q\"&=%\x00", Type: herb.TypeText, Filterable: true},
	)
	fuzzRequests(f, fields, query.ParseFacets, func(r *query.FacetRequest) bool {
		return len(r.Fields) > 0 && len(r.Fields) <= query.MaxFacetFields && r.Top >= 0 && r.Top <= query.MaxTop &&
			(r.Buckets == 0 || r.Buckets >= query.MinBuckets) && r.Buckets <= query.MaxBuckets
	})
}

func TestParseGrid(t *testing.T) {
	t.Parallel()
	checkSame(t, query.ParseGrid, catalog(), "_x=price&_y=id&_bounds=-180,-90.50,180,90",
		"_x=price&_y=id&_bounds=-180%2C-90.5%2C180%2C90&_columns=256&_rows=128")
	checkSame(t, query.ParseGrid, catalog(),
		"_rows=2&_columns=03&_y=id&_x=id&_bounds=-0,0,1,1&title=a&search=Rose&page=&api_key=k",
		"title%5Beq%5D=a&search=rose&_x=id&_y=id&_bounds=0%2C0%2C1%2C1&_columns=3&_rows=2")
	checkSame(t, query.ParseGrid, catalog(), "_x=id&_y=id&_bounds=-1e-7,-.5,1E%2B21,1e3",
		"_x=id&_y=id&_bounds=-0.0000001,-0.5,1000000000000000000000,1000")
}

// TestParseGrid_parameters checks the value that every parameter sets.
func TestParseGrid_parameters(t *testing.T) {
	t.Parallel()
	got, err := query.ParseGrid("_x=price&_y=id&_bounds=-180,-90.5,181,91&_columns=3&_rows=2", catalog())
	want := &query.GridRequest{
		Request: &query.Request{Page: 1, PerPage: 25}, X: 3, Y: 0, Columns: 3, Rows: 2,
		Bounds: query.Bounds{MinX: -180, MinY: -90.5, MaxX: 181, MaxY: 91},
	}
	if diff := diffRequests(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestGridEdges(t *testing.T) {
	t.Parallel()
	g := query.GridRequest{Columns: 3, Rows: 2, Bounds: query.Bounds{MinX: 0.1, MaxX: 0.4, MinY: -90, MaxY: 90}}
	if diff := cmp.Diff([]string{"-90", "0", "90"}, g.EdgesY()); diff != "" {
		t.Error(diff)
	}
	low, high := 0.1, 0.4
	for i, edge := range g.EdgesX() {
		want := low + (high-low)*float64(i)/3
		if got, err := strconv.ParseFloat(edge, 64); err != nil || got != want && i < 3 || i == 3 && got != high {
			t.Errorf("edge %d is %s, %v", i, edge, err)
		}
	}
}
