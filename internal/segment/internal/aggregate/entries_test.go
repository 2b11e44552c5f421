package aggregate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/segment/internal/guard"
)

// TestSortedEntries checks that both ways to sort give the same groups by code.
func TestSortedEntries(t *testing.T) {
	t.Parallel()
	type value struct {
		Index  int
		Code   uint32
		Groups []uint32
	}
	pairs := []uint64{7<<32 | 1, 2 << 32, 7 << 32, 2 << 32, 9<<32 | 3}
	want := []value{{0, 2, []uint32{0, 0}}, {1, 7, []uint32{0, 1}}, {2, 9, []uint32{3}}}
	for name, n := range map[string]int{"counted": 10, "compared": 1000} {
		s := &sortedGroups{steps: guard.NewSteps(t.Context())}
		s.sort(slices.Clone(pairs), n)
		var got []value
		s.each(func(i int, code uint32, groups []uint32) {
			groups = slices.Clone(groups)
			slices.Sort(groups) // any order is right
			got = append(got, value{i, code, groups})
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]uint32{2, 7, 9}, s.codes()); diff != "" {
			t.Errorf("%s, codes (-want +got):\n%s", name, diff)
		}
	}
}
