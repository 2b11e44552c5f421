package text

import (
	"slices"
	"strings"
	"testing"
)

func TestIdentifierWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"":                                    nil,
		"imageURL":                            {"image", "url"},
		"Geo_Lat 2":                           {"geo", "lat", "2"},
		"lat" + strings.Repeat(" x", 62):      append([]string{"lat"}, slices.Repeat([]string{"x"}, 62)...),
		"lat" + strings.Repeat(" x", 63):      nil, // too long
		"lat " + strings.Repeat("name ", 199): nil,
	} {
		if got := IdentifierWords(name); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}
