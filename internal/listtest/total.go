package listtest

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Total returns how many records of a source match a query string.
func Total(t testing.TB, s query.Source, fields []herb.Field, raw string) int {
	t.Helper()
	r, err := query.Parse(raw, fields)
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}
