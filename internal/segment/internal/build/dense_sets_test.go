package build

import (
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/filesystem"
)

// TestDenseSets collects sets of one and of several blocks of records: all, many, few and no records, and those of one
// block only.
func TestDenseSets(t *testing.T) {
	t.Parallel()
	for _, records := range []int{1, 63, 1000, denseBlock, 2*denseBlock + 100} {
		for _, memory := range []int{0, 1 << 20} {
			r := rand.New(rand.NewPCG(3, uint64(records)))
			tmp := newTempDir(filesystem.OS{}, t.TempDir(), memory, 1)
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
				if err := s.endRecord(record); err != nil {
					t.Fatal(err)
				}
			}
			table, err := s.encode(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for set, raw := range items(t, table) {
				members, trailer := decodeSet(t, raw)
				if d := gocmp.Diff(want[set], append([]uint32(nil), members...)); d != "" {
					t.Errorf("%d records, set %d (-want +got):\n%.2000s", records, set, d)
				}
				if d := gocmp.Diff(trailers[set], append([]byte(nil), trailer[:len(trailers[set])]...)); d != "" {
					t.Errorf("%d records, trailer of set %d (-want +got):\n%.2000s", records, set, d)
				}
			}
			if err := tmp.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
