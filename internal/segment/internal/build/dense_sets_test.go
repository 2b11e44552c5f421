package build

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"herbarium/internal/filesystem"
	"herbarium/internal/must"
)

// TestDenseSets collects sets of one and of several blocks of records: all, many, few and no
// records, and those of one block only.
func TestDenseSets(t *testing.T) {
	t.Parallel()
	for _, records := range []int{1, 63, 1000, denseBlock, 2*denseBlock + 100} {
		for _, memory := range []int{0, 1 << 20} {
			r := rand.New(rand.NewPCG(3, uint64(records)))
			tmp := newTempDir(t.Context(), filesystem.OS{}, t.TempDir(), memory, 1)
			one := uint32(r.IntN(records))
			in := []func(record uint32) bool{
				func(uint32) bool { return true },
				func(uint32) bool { return r.IntN(3) == 0 },
				func(uint32) bool { return r.IntN(500) == 0 },
				func(uint32) bool { return false },
				func(record uint32) bool { return record == one },
			}
			s, want, trailers := newDenseSets(tmp, records, len(in)), make([][]uint32, len(in)), make([][]byte, len(in))
			for record := range uint32(records) {
				for set := range in {
					if !in[set](record) {
						continue
					}
					s.add(set, record)
					s.add(set, record)
					want[set] = append(want[set], record)
					if record%3 == 0 {
						s.addTrailer(set, byte(record))
						trailers[set] = append(trailers[set], byte(record))
					}
				}
				s.endRecord(record)
			}
			table, err := s.encode()
			must.NoError(t, err)
			for set, raw := range items(t, table) {
				members, trailer := decodeSet(t, raw)
				if !slices.Equal(members, want[set]) {
					t.Errorf("%d records: set %d has %d members; want %d", records, set, len(members), len(want[set]))
				}
				if !bytes.HasPrefix(trailer, trailers[set]) {
					t.Errorf("%d records: set %d has another trailer", records, set)
				}
			}
			if err := tmp.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
