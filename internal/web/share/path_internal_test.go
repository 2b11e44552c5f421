package share

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePath(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]shape{
		"":                     nil,
		"M1 2L3 4":             {{{1, 2}, {3, 4}}},
		"M1,2 3,4 5 6":         {{{1, 2}, {3, 4}, {5, 6}}},
		"m1 2 1 1-1-1.5h3v-2z": {{{1, 2}, {2, 3}, {1, 1.5}, {4, 1.5}, {4, -0.5}, {1, 2}}},
		"M0 0H4V4zm10 0h1":     {{{0, 0}, {4, 0}, {4, 4}, {0, 0}}, {{10, 0}, {11, 0}}},
		"no path":              nil,
		"M1 2 a 3 4":           {{{1, 2}}},
		"M200 0V50M7 7":        {{{200, 0}, {200, 50}}, {{7, 7}}},
		"M-596 800-3 5Z":       {{{-596, 800}, {-3, 5}, {-596, 800}}},
		"M.5.25-1.5-.5":        {{{.5, .25}, {-1.5, -.5}}},
		"M1":                   {{{1, 0}}},
		"M0 0h.01":             {{{0, 0}, {.01, 0}}},
	} {
		if diff := cmp.Diff(want, parsePath(data, transform{scale: 1, stretch: 1}),
			cmp.AllowUnexported(point{})); diff != "" {
			t.Errorf("%s: %s", data, diff)
		}
	}
	if s := parsePath("M0 0c0 1 0 1 2 2", transform{10, 20, 2, 1}); len(s) != 1 ||
		s[0][len(s[0])-1] != (point{14, 24}) {
		t.Errorf("a curve ends at %v", s)
	}
}

// TestClip checks that shapes far outside of the image are cut at its margin, and cover the same
// pixels.
func TestClip(t *testing.T) {
	t.Parallel()
	c := newCanvas(ground)
	c.fill(shape{{{-1e9, -1e9}, {1e9, -1e9}, {1e9, 1e9}, {-1e9, 1e9}}}, green)
	for _, p := range [][2]int{{0, 0}, {Width / 2, Height / 2}, {Width - 1, Height - 1}} {
		if got := c.image.RGBAAt(p[0], p[1]); got.G != green.G {
			t.Errorf("the pixel %v is %v", p, got)
		}
	}
	if got := clip([]point{{-900, 10}, {-800, 10}, {-800, 20}}); len(got) != 0 {
		t.Errorf("a shape beside the image remains as %v", got)
	}
}
