package segmenttest

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Total returns how many records of an engine match a query string.
func Total(t testing.TB, s query.Engine, fields []herb.Field, raw string) int {
	t.Helper()
	page, err := evaluate(t.Context(), raw, fields, query.Parse, s.List)
	if err != nil {
		t.Fatal(err)
	}
	return page.Total
}
