package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestString_Key(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw, secret string
		found       bool
	}{
		{"", "", false},
		{"page=1", "", false},
		{"api_key=a", "a", true},
		{"page=1&api%5Fkey=a%20b", "a b", true},
		{"api_key", "", true},
		{"api_key=&api_key=a&api_key=b", "a", true},
		{"api_key=%zz&api_key=a", "a", true},
		{"title=100%&api_key=a", "a", true}, // the rest is malformed
		{"title=%FF&api_key=a", "a", true},
		{"API_KEY=a", "", false},
	} {
		if secret, found := query.Split(c.raw).Key(); secret != c.secret || found != c.found {
			t.Errorf("%q has key %q, %t; want %q, %t", c.raw, secret, found, c.secret, c.found)
		}
	}
}

func TestString_CutVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, version, rest string }{
		{"", "", ""},
		{"title=a&page=2", "", "title=a&page=2"},
		{"title=%41&page=2", "", "title=A&page=2"},
		{"_version=v1", "v1", ""},
		{"_version=", "", ""},
		{"title=a%20b&_version=v%31&&page=2", "v1", "title=a+b&page=2"},
		{"%5Fversion=v1&page=2", "v1", "page=2"},
		{"_version%5Beq%5D=v1", "", "_version%5Beq%5D=v1"},
		{"title=_version", "", "title=_version"},
		{"title=100%&_version=v1", "v1", "title=100%25"}, // rejected when it is interpreted
	} {
		s := query.Split(c.raw)
		version, rest, err := s.CutVersion()
		if err != nil || version != c.version || rest.Encode() != c.rest {
			t.Errorf("%q has version %q, rest %q, %v; want %q, %q", c.raw, version, rest.Encode(), err,
				c.version, c.rest)
		}
		if version != "" && s.Encode() == rest.Encode() {
			t.Errorf("%q was changed", c.raw)
		}
	}
	const twice = `"_version" is given more than once; give it once`
	if _, _, err := query.Split("_version=a&page=1&_version=a").CutVersion(); herb.MessageOf(err) != twice {
		t.Errorf("given twice: %v", err)
	}
	if _, rest, _ := query.Split("title=100%&_version=v1").CutVersion(); !isInvalid(rest) {
		t.Error("without the version, a malformed query string is valid")
	}
}

func isInvalid(s query.String) bool {
	_, err := s.Listing(catalog(), herb.Order{})
	return herb.CodeOf(err) == herb.CodeInvalid
}

// TestString_limit checks that the version does not count, and that parameters are as long as their
// query string.
func TestString_limit(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("a", query.MaxQueryBytes-len("title="))
	for _, c := range []struct {
		raw   string
		valid bool
	}{
		{"title=" + value, true},
		{"title=" + value + "a", false},
		{"title=" + value + "&_version=v1", true},
		{"_version=v1&title=" + value, true},
	} {
		_, s, err := query.Split(c.raw).CutVersion()
		if err != nil || isInvalid(s) == c.valid {
			t.Errorf("%d bytes: valid %t, want %t", len(c.raw), !c.valid, c.valid)
		}
	}
	for _, c := range []struct {
		value string
		valid bool
	}{{value, true}, {value + "a", false}, {value[2:] + "é", false}, {value[6:] + "é", true}} {
		if isInvalid(query.Of(query.Params{{Name: "title", Value: c.value}})) == c.valid {
			t.Errorf("a parameter of %d bytes: valid %t, want %t", len(c.value), !c.valid, c.valid)
		}
	}
}

func TestString_Encode(t *testing.T) {
	t.Parallel()
	s := query.Split("a=1&&page=2&b=x+%26&api_key=k")
	for _, c := range []struct {
		got, want string
	}{
		{s.Encode(), "a=1&page=2&b=x+%26&api_key=k"},
		{s.Encode("page", "api_key"), "a=1&b=x+%26"},
		{s.Without("a", "page").Encode(), "b=x+%26&api_key=k"},
		{query.Split("page=1").Encode("page"), ""},
		{query.Split("").Encode(), ""},
		{query.Of(query.Params{{Name: "a b", Value: "é"}, {Name: "c"}}).Encode(), "a+b=%C3%A9&c="},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

// TestRequest_Canonical checks which requests are the same.
func TestRequest_Canonical(t *testing.T) {
	t.Parallel()
	listing := func(raw string) (string, error) {
		r, err := query.Parse(raw, catalog())
		if err != nil {
			return "", err
		}
		return r.Canonical(), nil
	}
	facets := func(raw string) (string, error) {
		r, err := query.ParseFacets(raw, catalog())
		if err != nil {
			return "", err
		}
		return r.Request.Canonical(), nil
	}
	aggregate := func(raw string) (string, error) {
		r, err := query.ParseAggregate(raw, catalog())
		if err != nil {
			return "", err
		}
		return r.Request.Canonical(), nil
	}
	for _, c := range []struct {
		canonical func(string) (string, error)
		a, b      string
		same      bool
	}{
		{listing, "tags=fern&sort=title&page=2", "page=2&tags=fern&sort=title", true},
		{listing, "tags=fern&tags=moss", "tags=moss&tags=fern", true},
		{listing, "_filter=id%3D1&_filter=price%3D2", "_filter=price%3D2&_filter=id%3D1", true},
		{listing, "tags=a%20b", "%74ags=a+b", true},
		{listing, "sort=title&api_key=k", "sort=title", true},
		{listing, "page=&search=&sort=title&_fields=&_filter=&order=&title%5Bmatch%5D=+", "sort=title", true},
		{listing, "", "&&page=", true},
		{listing, "tags=fern", "tags=moss", false},
		{listing, "tags=fern", "tags=", false}, // a missing value
		{listing, "tags=", "", false},
		{listing, "tags=fern", "tags%5Bne%5D=fern", false},
		{listing, "tags=fern&tags=moss", "tags=fern", false},
		{listing, "tags=a%26title%3Db", "tags=a&title=b", false},
		{listing, "sort=title,id", "sort=id,title", false},
		{listing, "sort=title", "sort=title&order=desc", false},
		{listing, "page=2", "page=3", false},
		{facets, "field=id&tags=fern&top=3", "top=3&tags=fern&field=id", true},
		{facets, "field=id&top=", "field=id", true},
		{facets, "field=id&field=tags", "field=tags&field=id", false}, // the result has the order of the fields
		{aggregate, "_by=tags&_measure=count&id=1", "id=1&_measure=count&_by=tags", true},
		{aggregate, "_by=tags&_by=id", "_by=id&_by=tags", false},
		{aggregate, "_measure=count&_measure=sum:price", "_measure=sum:price&_measure=count", false},
	} {
		a, errA := c.canonical(c.a)
		b, errB := c.canonical(c.b)
		if errA != nil || errB != nil {
			t.Errorf("%s, %s: %v, %v", c.a, c.b, errA, errB)
			continue
		}
		if (a == b) != c.same {
			t.Errorf("%s is %s, %s is %s; same: %t, want %t", c.a, a, c.b, b, a == b, c.same)
		}
	}
}
