package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// TestHints checks what is suggested for the names that other services use.
func TestHints(t *testing.T) {
	t.Parallel()
	listing := func(raw string) error { _, err := query.Parse(raw, catalog()); return err }
	facets := func(raw string) error { _, err := query.ParseFacets("field=id&"+raw, catalog()[:6]); return err }
	catalogue := func(raw string) error {
		_, err := query.Split(raw).OnlyOf(query.ParamPage, query.ParamPerPage)
		return err
	}
	sized := func(raw string) error {
		_, err := query.Parse(raw, append(catalog(), herb.Field{Name: "Size", Type: herb.TypeNumber, Filterable: true}))
		return err
	}
	for _, c := range []struct {
		raw   string
		parse func(raw string) error
		want  string // after "did you mean"; empty means no suggestion
	}{
		{"limit=5", listing, `"per_page"`},
		{"Limit=5", listing, `"per_page"`},
		{"limit=5", facets, `"top"`},
		{"limit=5", catalogue, `"per_page"`},
		{"offset=5", listing, `"page"`},
		{"offset=5", facets, `"_offset"`},
		{"skip=5", listing, `"page"`},
		{"q=rose", listing, `"search"`},
		{"order_by=id", listing, `"sort"`},
		{"sort_by=id", listing, `"sort"`},
		{"direction=desc", listing, `"order"`},
		{"select=id", listing, `"_fields"`},
		{"fields=id", listing, `"_fields"`},
		{"or=id", listing, `"_any"`},
		{"where=id", listing, `"_filter"`},
		{"token=x", listing, `"api_key"`},
		{"size=5", listing, `"per_page"`},
		{"size=5", sized, `"Size"`}, // a field takes precedence
		{"title[like]=a", listing, `"contains" or "match"`},
		{"price[like]=1", listing, `"match"`}, // a number contains nothing
		{"title[starts_with]=a", listing, `"prefix"`},
		{"price[between]=1", listing, `"gte" or "lte"`},
		{"price[ge]=1", listing, `"gte"`},
		{"price[neq]=1", listing, `"ne"`},
		{"title[iexact]=1", listing, `"ieq"`},
		{"title[isnull]=1", listing, `"empty"`},
		{"title[around]=1", listing, ""},
		{"colour=red", listing, ""},
	} {
		err := c.parse(c.raw)
		_, hint, _ := strings.Cut(herb.MessageOf(err), "did you mean ")
		hint, _, _ = strings.Cut(hint, "?")
		if herb.CodeOf(err) != herb.CodeInvalid || hint != c.want {
			t.Errorf("%s: %v; want the hint %s", c.raw, err, c.want)
		}
	}
}
