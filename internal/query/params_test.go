package query_test

import (
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
