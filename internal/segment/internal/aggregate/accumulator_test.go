package aggregate

import (
	"testing"
)

// TestAccumulator_nthValues checks the values at positions of groups with an even and an odd number
// of values, with one, and with none.
func TestAccumulator_nthValues(t *testing.T) {
	t.Parallel()
	values := [][]uint32{{1, 3, 5, 7}, {2, 4, 9}, {6}, {}}
	acc := &accumulator{nearest: map[int][]uint32{0: nil, 50: nil, 90: nil, 100: nil}, needsMedian: true,
		needsMin: true, needsMax: true, needsDistinct: true}
	for _, group := range values {
		acc.filled = append(acc.filled, uint32(len(group)))
	}
	acc.prepare(len(values))
	for code := range uint32(10) { // in ascending order
		var groups []uint32
		for id, group := range values {
			for _, c := range group {
				if c == code {
					groups = append(groups, uint32(id))
				}
			}
		}
		acc.add(int(code), code, groups)
	}
	for name, c := range map[string]struct{ got, want []uint32 }{
		"lower middle":    {acc.middle[0], []uint32{3, 4, 6, none}},
		"upper middle":    {acc.middle[1], []uint32{5, 4, 6, none}},
		"percentile 0":    {acc.nearest[0], []uint32{1, 2, 6, none}},
		"percentile 50":   {acc.nearest[50], []uint32{3, 4, 6, none}},
		"percentile 90":   {acc.nearest[90], []uint32{7, 9, 6, none}},
		"percentile 100":  {acc.nearest[100], []uint32{7, 9, 6, none}},
		"minimum":         {acc.min, []uint32{1, 2, 6, none}},
		"maximum":         {acc.max, []uint32{7, 9, 6, none}},
		"distinct values": {acc.distinct, []uint32{4, 3, 1, 0}},
	} {
		for id, want := range c.want {
			if c.got[id] != want {
				t.Errorf("%s of group %d: got %d; want %d", name, id, c.got[id], want)
			}
		}
	}
}
