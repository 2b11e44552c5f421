package query_test

import (
	"strings"
	"testing"

	"herbarium/internal/query"
)

func TestNewValueCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value   string
		length  int
		clipped bool
	}{
		{"", 0, false},
		{strings.Repeat("x", query.MaxFacetValue), query.MaxFacetValue, false},
		{strings.Repeat("x", query.MaxFacetValue+1), query.MaxFacetValue, true},
		{"x" + strings.Repeat("植", query.MaxFacetValue/3+1), query.MaxFacetValue, true},
		{strings.Repeat("植", query.MaxFacetValue/3+1), query.MaxFacetValue / 3 * 3, true},
	} {
		got := query.NewValueCount(tt.value, 7)
		if got.Count != 7 || got.Clipped != tt.clipped || len(got.Value) != tt.length ||
			!strings.HasPrefix(tt.value, got.Value) {
			t.Errorf("a value of %d bytes: %d bytes, clipped %t; want %d, %t", len(tt.value), len(got.Value),
				got.Clipped, tt.length, tt.clipped)
		}
	}
}
