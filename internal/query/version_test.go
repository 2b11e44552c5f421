package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

func TestCutVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ raw, version, rest string }{
		{"", "", ""},
		{"title=a&page=2", "", "title=a&page=2"},
		{"title=%41&page=2", "", "title=%41&page=2"},
		{"_version=v1", "v1", ""},
		{"_version=", "", ""},
		{"title[prefix]=a%20b&_version=v%31&&page=2", "v1", "title[prefix]=a%20b&&page=2"},
		{"%5Fversion=v1&page=2", "v1", "page=2"},
		{"_version[eq]=v1", "", "_version[eq]=v1"},
		{"title=_version", "", "title=_version"},
		{"title=100%&_version=v1", "v1", "title=100%"}, // rejected by Parse
	} {
		version, rest, err := query.CutVersion(c.raw)
		if err != nil || version != c.version || rest != c.rest {
			t.Errorf("%q has version %q, rest %q, %v; want %q, %q", c.raw, version, rest, err, c.version, c.rest)
		}
	}
	const twice = `"_version" is given more than once; give it once`
	if _, _, err := query.CutVersion("_version=a&page=1&_version=a"); herb.MessageOf(err) != twice {
		t.Errorf("given twice: %v", err)
	}
}

// TestParse_version checks that a field can have the name of the parameter, and that the parameter is not ignored.
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
		if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(herb.MessageOf(err), `"_version" applies to listings`) {
			t.Errorf("a version that was not cut: %v", err)
		}
	}
}
