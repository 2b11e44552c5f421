package maps

import (
	"testing"

	"herbarium/internal/query"
)

// TestNewScaleBar checks that the bar is a round length of at most an eighth of the part, and that
// the script gets the same lengths.
func TestNewScaleBar(t *testing.T) {
	t.Parallel()
	for label, b := range map[string]query.Bounds{
		"5,000 km": {MinX: -180, MinY: -90, MaxX: 180, MaxY: 90},
		"100 km":   {MinX: 5, MinY: 45, MaxX: 17, MaxY: 55},
		"500 m":    {MinX: 13.4, MinY: 52.5, MaxX: 13.47, MaxY: 52.55},
		"2 m":      {MinX: 13.4, MinY: 52.5, MaxX: 13.4003, MaxY: 52.5002},
	} {
		bar, width := newScaleBar(b), 10*Stretch(b)*(b.MaxX-b.MinX)
		if share := (bar.Right - bar.Left) / width; bar.Label != label || share > .125 || share < .05 {
			t.Errorf("%s: %s is %.3f of the width", label, bar.Label, share)
		}
	}
	const want = `[[1,"1 m"],[2,"2 m"],[5,"5 m"],[10,"10 m"],[20,"20 m"],[50,"50 m"],[100,"100 m"],[200,"200 m"],[500,"500 m"],[1000,"1 km"],`
	if got := new(Map).Lengths(); got[:len(want)] != want {
		t.Errorf("the lengths are %s", got)
	}
}
