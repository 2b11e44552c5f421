package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

func TestIsPortable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"price": true, "a b": true, "a-b": true, "a.b": true, "-x": true, "1st": true, "price[gte]": true, "Größe (m)": true, "日本": true,
		"a/b": true, "*/": true, "-": false, `a"b`: false, "a`b": false, `a\b`: false, "a'b": false, "a,b": false, "a&b": false, "a=b": false,
		"a#b": false, "a%b": false, "a+b": false, "$ref": false, "🌵": false, "a\nb": false, "__proto__": false, "toString": false,
	} {
		if got := isPortable(name); got != want {
			t.Errorf("%q: %t, want %t", name, got, want)
		}
	}
}

func TestUniqueNames_identifier(t *testing.T) {
	t.Parallel()
	u := uniqueNames{}
	var got []string
	for _, r := range []herb.Ref{
		{Namespace: "a", Name: "b-c"}, {Namespace: "a", Name: "b.c"}, {Namespace: "a-b", Name: "c"}, {Namespace: "a", Name: "b-c-2"},
		{Namespace: "a", Name: "b1"}, {Namespace: "a", Name: "b-1"}, {Namespace: "ab", Name: "c"},
	} {
		got = append(got, u.identifier(r))
	}
	want := []string{"a_b_c", "a_b_c_2", "a_b_c_3", "a_b_c_2_2", "a_b1", "a_b_1_2", "ab_c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("identifiers (-want +got):\n%s", diff)
	}
}

func TestUniqueNames_goName(t *testing.T) {
	t.Parallel()
	u := uniqueNames{"Page": true}
	var got []string
	names := []string{"a-b", "a.b", "A_B", "price", "price[gte]", "price_gte", "page", "1st", "日本", "🌵", "-x", "x", "Größe (m)"}
	for _, name := range names {
		got = append(got, u.goName(name))
	}
	want := []string{"", "AB2", "AB3", "", "", "PriceGte2", "Page2", "Field1st", "Field", "Field2", "X", "X2", "GrEM"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
