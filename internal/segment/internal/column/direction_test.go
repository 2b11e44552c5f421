package column

import (
	"slices"
	"testing"
)

func TestMirrorRange(t *testing.T) {
	t.Parallel()
	const n = 4 // positions with a value
	for _, tt := range []struct {
		name             string
		from, to         int
		desc, missing    bool
		wantFrom, wantTo int
	}{
		{"ascending", 1, 3, false, false, 1, 3},
		{"ascending, missing", 4, 6, false, true, 4, 6},
		{"descending, first", 0, 1, true, false, 3, 4},
		{"descending, some", 1, 3, true, false, 1, 3},
		{"descending, last", 3, 4, true, false, 0, 1},
		{"descending, before the first", 0, 0, true, false, 4, 4},
		{"descending, after the last", 4, 4, true, false, 0, 0},
		{"descending, missing", 4, 6, true, true, 4, 6},
		{"descending, no such missing value", 4, 4, true, true, 4, 4},
	} {
		from, to := mirrorRange(tt.from, tt.to, n, tt.desc, tt.missing)
		if from != tt.wantFrom || to != tt.wantTo {
			t.Errorf("%s: [%d, %d); want [%d, %d)", tt.name, from, to, tt.wantFrom, tt.wantTo)
		}
		from, to = mirrorRange(from, to, n, tt.desc, tt.missing)
		if from != tt.from || to != tt.to {
			t.Errorf("%s: twice: [%d, %d); want [%d, %d)", tt.name, from, to, tt.from, tt.to)
		}
	}
	var places []int
	for i := range 6 {
		places = append(places, mirror(i, n, true))
	}
	if want := []int{3, 2, 1, 0, 4, 5}; !slices.Equal(places, want) {
		t.Errorf("descending: %v; want %v", places, want)
	}
}

// TestSortKey_Compare sorts keys in both directions.
func TestSortKey_Compare(t *testing.T) {
	t.Parallel()
	a, b, marker, empty := SortKey{Key: "a"}, SortKey{Key: "b"}, SortKey{Missing: 1}, SortKey{Missing: 2}
	for desc, want := range map[bool][]SortKey{false: {a, b, marker, empty}, true: {b, a, marker, empty}} {
		got := []SortKey{empty, b, marker, a}
		slices.SortFunc(got, func(x, y SortKey) int { return x.Compare(y, desc) })
		if !slices.Equal(got, want) {
			t.Errorf("descending: %t: %v; want %v", desc, got, want)
		}
	}
}
