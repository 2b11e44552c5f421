package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestResolveFilter(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "price"}, {Name: "page"}, {Name: "a[gte]"}, {Name: "b"}, {Name: "b[eq]"}}
	for _, tt := range []struct {
		param string
		field int
		op    query.Op
		ok    bool
	}{
		{"price", 0, query.OpEq, true},
		{"price[gte]", 0, query.OpGte, true},
		{"price[in]", 0, query.OpIn, true},
		{"price[near]", -1, query.OpEq, false},
		{"page", -1, "", false}, // reserved
		{"page[eq]", 1, query.OpEq, true},
		{"a[gte]", 2, query.OpEq, true}, // there is no field "a"
		{"b[eq]", 3, query.OpEq, true},
		{"b[eq][eq]", 4, query.OpEq, true},
		{"c", -1, query.OpEq, false},
		{"", -1, query.OpEq, false},
	} {
		field, op, ok := query.ResolveFilter(tt.param, fields)
		if field != tt.field || op != tt.op || ok != tt.ok {
			t.Errorf("%q resolves to %d %q %t, want %d %q %t", tt.param, field, op, ok, tt.field, tt.op, tt.ok)
		}
	}
}

func TestParams(t *testing.T) {
	t.Parallel()
	ps, err := query.ParseParams("a=1&&b=x+%26&a=2")
	if err != nil || ps.Get("a") != "1" || ps.Get("b") != "x &" || ps.Get("c") != "" {
		t.Fatalf("got %q, %v", ps, err)
	}
	if got := ps.Without("b").With(query.Param{Name: "c", Value: "3"}).Encode(); got != "a=1&a=2&c=3" {
		t.Errorf("got %s", got)
	}
	if got := ps.Encode(); got != "a=1&b=x+%26&a=2" {
		t.Errorf("the parameters were changed: %s", got)
	}
}

// TestParse_version checks that a field can have the name of the parameter, and that the parameter
// is not ignored.
func TestParse_version(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "_version", Type: herb.TypeText, Filterable: true}}
	r, err := query.Parse("_version[eq]=v1", fields)
	if err != nil || len(r.Conditions) != 1 || r.Conditions[0].Values[0].Text != "v1" {
		t.Errorf("conditions of a field: %+v, %v", r, err)
	}
	_, err = query.Parse("_version=v1", fields)
	_, facets := query.ParseFacets("_version=v1&field=_version", fields)
	for _, err := range []error{err, facets} {
		if herb.CodeOf(err) != herb.CodeInvalid ||
			!strings.Contains(herb.MessageOf(err), `"_version" applies to listings`) {
			t.Errorf("a version that was not cut: %v", err)
		}
	}
}

func TestString_Export(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ raw, parameter string }{
		{"", ""},
		{"sort=price&order=desc&search=a&title=page", ""},
		{"page=&per_page=", ""},
		{"page[eq]=3", ""},
		{"page=1", "page"},
		{"sort=price&per_page=25", "per_page"},
		{"p%61ge=2", "page"},
		{"page=nonsense", "page"},
	} {
		_, err := query.Split(tt.raw).Export(catalog(), herb.Order{})
		if tt.parameter == "" && err != nil {
			t.Errorf("%q: %v", tt.raw, err)
		}
		if tt.parameter != "" &&
			(herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), `"`+tt.parameter+`" is given`)) {
			t.Errorf("%q: %v", tt.raw, err)
		}
	}
	_, err := query.Split("colour=red").Export(catalog(), herb.Order{})
	if want := `unknown parameter "colour"; valid parameters: sort, order, search,`; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("an unknown parameter: %v, want %q", err, want)
	}
}
