package text

import "testing"

func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"rose", "rose", 0}, {"rose", "", 4}, {"rose", "nose", 1}, {"rose", "roses", 1},
		{"rose", "rse", 1},
		{"rose", "orse", 1}, {"rose", "ores", 2}, {"ab", "bc", 2}, {"kitten", "sitting", 3}, {"abc", "cab", 2},
	} {
		for range 2 { // it is symmetric
			if got := editDistance([]rune(c.a), []rune(c.b)); got != c.want {
				t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
			}
			c.a, c.b = c.b, c.a
		}
	}
}
