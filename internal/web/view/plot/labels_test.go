package plot_test

import (
	"slices"
	"strings"
	"testing"

	"herbarium/internal/web/view/plot"
)

// TestWrap checks that lines end at spaces, that only a word that is too wide is divided, and that
// the last line says that there is more.
func TestWrap(t *testing.T) {
	t.Parallel()
	const size, width = 10, 62 // ten characters of ASCII
	for text, want := range map[string][]string{
		"": nil, "one": {"one"}, "one two four": {"one two", "four"},
		"one abcdeabcdeabcde x":               {"one", "abcdeabcde", "abcde x"},
		"one2 two2 one2 two2 one2 two2 one2":  {"one2 two2", "one2 two2", "one2 two…"},
		"a " + strings.Repeat("x", 3_000_000): {"a", "xxxxxxxxxx", "xxxxxxxx…"},
	} {
		got := plot.Wrap(text, size, width, 3)
		for _, line := range got {
			if plot.TextWidth(line, size) > width {
				t.Errorf("%.20q: %q is too wide", text, line)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
}
